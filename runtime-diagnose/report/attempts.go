package report

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// attempts are the lives of the container that the cause is found in, compared with each other.
type attempts struct {
	alike int                   // that ended with the same; 1 is the one of the cause alone
	other *evidence.Observation // what the last one of those that ended otherwise ended with; nil: none did
	more  int                   // that ended otherwise before that one
}

// compareAttempts holds the attempts of one member against each other: what comes back unchanged is not
// cured by another one, and what was different each time has no cause in one line of the program.
func (d *draft) compareAttempts() {
	root := d.root
	if root == nil {
		return
	}
	alike, otherwise := map[int]bool{root.Item.Source.Attempt: true}, map[int]*evidence.Observation{}
	for i := range d.Observations {
		s := &d.Observations[i]
		at := s.Item.Source.Attempt
		switch {
		case s.Item.Kind != root.Item.Kind || !oneContainer(s.Item.Source, root.Item.Source):
		case s.Signature.ID == root.Signature.ID:
			alike[at] = true
		case s.Signature.Role == signature.Root && !s.Signature.Weak && !s.Mild && !s.Explained:
			if before := otherwise[at]; before == nil || s.Signature.DepthOf() > before.Signature.DepthOf() {
				otherwise[at] = s
			}
		}
	}
	d.attempts = attempts{alike: len(alike)}
	last := 0
	for at, s := range otherwise {
		if alike[at] || at <= root.Item.Source.Attempt {
			continue
		}
		if d.attempts.other != nil {
			d.attempts.more++
		}
		if last == 0 || at < last {
			last, d.attempts.other = at, s
		}
	}
}

// oneContainer says that two sources are lives of one container: of a pod, or of the pods that took
// each other's place in the job.
func oneContainer(a, b evidence.Source) bool {
	return a.Container == b.Container && a.File == b.File &&
		(a.Pod == b.Pod || a.Role != "" && a.Role == b.Role && a.Rank >= 0 && a.Rank == b.Rank)
}

func (a attempts) sentence() string {
	var parts []string
	if a.alike > 1 {
		parts = append(parts, fmt.Sprintf("It came back: %d attempts of the container ended with it.", a.alike))
	}
	if a.other != nil {
		text := fmt.Sprintf("An earlier attempt ended otherwise: %s [%s]", a.other.Signature.Title, a.other.Item.ID)
		if a.more > 0 {
			text += fmt.Sprintf(", and so did %d before it", a.more)
		}
		parts = append(parts, text+".")
	}
	return strings.Join(parts, " ")
}
