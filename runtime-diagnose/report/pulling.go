package report

import (
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

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
