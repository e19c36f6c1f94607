package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// preparing says which init containers the pods that have not started are in, and since when: one that waits for something is a
// reason that no state and no event names. Empty: none runs for longer than a start takes.
func (d *draft) preparing(starting []control.Pod) string {
	since, pods := map[string]time.Time{}, map[string]int{}
	for i := range d.Pods {
		p := &d.Pods[i]
		if !slices.ContainsFunc(starting, func(s control.Pod) bool { return s.Name == p.Name && s.UID == p.UID }) {
			continue
		}
		for k := range p.Status.InitContainerStatuses {
			c := &p.Status.InitContainerStatuses[k]
			if c.State.Running == nil || c.Started != nil && *c.Started && c.Ready { // one that stays beside the program
				continue
			}
			if at := c.State.Running.StartedAt.Time; since[c.Name].IsZero() || at.Before(since[c.Name]) {
				since[c.Name] = at
			}
			pods[c.Name]++
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(since)) {
		if ran := d.Now.Sub(since[name]); ran >= control.StartsWithin {
			parts = append(parts, fmt.Sprintf("; init container %s of %d pod%s has run for %s", name, pods[name], words.S(pods[name]), words.Short(ran)))
		}
	}
	return strings.Join(parts, "")
}

// pulling says how many pods that have not started pull an image, and for how long at most, by the kubelet's last word about
// each; empty: none does.
func (d *draft) pulling(starting []control.Pod) string {
	last := map[string]int{} // by the pod's UID: the newest event
	for i := range d.Events {
		uid := string(d.Events[i].InvolvedObject.UID)
		if k, ok := last[uid]; !ok || !control.When(&d.Events[i]).Before(control.When(&d.Events[k])) {
			last[uid] = i
		}
	}
	n := 0
	var since time.Time
	for i := range starting {
		k, ok := last[string(starting[i].UID)]
		if !ok || starting[i].UID == "" || d.Events[k].Reason != "Pulling" {
			continue
		}
		n++
		if at := control.When(&d.Events[k]); since.IsZero() || at.Before(since) {
			since = at
		}
	}
	if n == 0 || since.IsZero() || d.Now.Before(since) {
		return ""
	}
	return fmt.Sprintf("; %d pull%s an image, since %s", n, words.Verb(n), words.Short(d.Now.Sub(since)))
}
