package report

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// The coordination service of JAX and TensorFlow names the tasks that did not come on lines of their own, 20 at most; versions
// before 2025 say Barrier_id, and the reached ones are not counted
// (https://github.com/openxla/xla/blob/main/xla/tsl/distributed_runtime/coordination/coordination_service.cc,
// CheckBarrierTimeout; kPendingStragglerLogLimit).
var (
	lateTasks    = regexp.MustCompile(`imed out task names:(?:\s|\\n)*`)
	oneTask      = regexp.MustCompile(`^/job:[^/\s]+/replica:\d+/task:(\d+)(?:\s|\\n|$)`)
	reachedCount = regexp.MustCompile(`# of tasks that reached the barrier: (\d+/\d+)`)
)

// mostLateTasks is how many the service names; of a text that names more, it is said that there are others.
const mostLateTasks = 20

// barrierFacts are the tasks that a barrier waited for in vain, by what follows the line about it; nil: none is named.
func (d *draft) barrierFacts(root *evidence.Observation) map[string]string {
	if root.Facts["barrier"] == "" && !strings.Contains(root.Line, "Barrier timed out.") {
		return nil
	}
	text := []string{root.Line}
	for _, e := range d.Read.Excerpts {
		if !e.Of(root.Item.Source) {
			continue
		}
		for _, l := range e.Lines {
			if l.Number > root.Item.Source.Line && l.Number <= root.Item.Source.Line+mostLateTasks+4 {
				text = append(text, strings.TrimSpace(e.Shown(l.Text)))
			}
		}
		break
	}
	message := strings.Join(text, "\n")
	at := lateTasks.FindStringIndex(message)
	if at == nil {
		return nil
	}
	var late []int
	others := false
	for rest := message[at[1]:]; ; {
		m := oneTask.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		if others = len(late) == mostLateTasks; others {
			break
		}
		if n, err := strconv.Atoi(m[1]); err == nil {
			late = append(late, n)
		}
		rest = rest[len(m[0]):]
	}
	if len(late) == 0 {
		return nil
	}
	slices.Sort(late)
	late = slices.Compact(late)
	names := make([]string, len(late))
	for i, n := range late {
		names[i] = strconv.Itoa(n)
	}
	facts := maps.Clone(root.Facts)
	if facts == nil {
		facts = map[string]string{}
	}
	facts["absent"], facts["first"] = "task "+names[0], names[0]
	switch {
	case others:
		facts["absent"] = "tasks " + strings.Join(names, ", ") + " and others"
	case len(names) > 1:
		facts["absent"] = "tasks " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
	}
	if m := reachedCount.FindStringSubmatch(message); m != nil {
		facts["absent"] += " (" + m[1] + " came)"
	}
	return facts
}
