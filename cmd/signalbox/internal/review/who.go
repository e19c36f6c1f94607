package review

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
)

// WhoAnswer is whose end lets a job start, as far as the asker may see them.
type WhoAnswer struct {
	Smallest   bool            `json:"smallest"` // no set of fewer will do
	Holders    []whatif.Holder `json:"holders"`
	Unreadable *Unnamed        `json:"unreadable,omitempty"` // those of the set that may not be named
	Plan       []fit.Placement `json:"plan"`                 // where the job goes then
	Reason     string          `json:"reason,omitempty"`     // why no set is named
	Remains    []string        `json:"remains,omitempty"`    // what keeps the pods from the nodes all the same
	Asked      time.Time       `json:"-"`
}

// Unnamed is how many of a set are in namespaces that the asker may not read.
type Unnamed struct {
	Jobs    int   `json:"jobs"`
	Pods    int   `json:"pods"`
	Devices int64 `json:"devices"`
}

// Text is the answer in lines.
func (a *WhoAnswer) Text() (out []string) {
	line := func(label, format string, args ...any) {
		out = append(out, fmt.Sprintf("  %-8s %s", label, fmt.Sprintf(format, args...)))
	}
	if a.Reason != "" {
		line("who", "%s", a.Reason)
		return out
	}
	n := len(a.Holders)
	if a.Unreadable != nil {
		n += a.Unreadable.Jobs
	}
	these, fewer := fmt.Sprintf("it starts if these %d end", n), "; whether fewer would do was not found out"
	if n == 1 {
		these, fewer = "it starts if this one ends", ""
	}
	if a.Smallest && n > 1 {
		fewer = "; fewer would not do"
	}
	line("who", "%s%s", these, fewer)
	for _, h := range a.Holders {
		text := fmt.Sprintf("%s %s/%s: %s on %s", h.Kind, h.Namespace, h.Name, held(h.Pods, h.Devices), nodesText(h.Nodes))
		if h.Since != nil {
			text += ", for " + duration.HumanDuration(a.Asked.Sub(*h.Since))
		}
		if len(h.Marks) > 0 {
			text += " (" + strings.Join(h.Marks, "; ") + ")"
		}
		line("", "%s", text)
	}
	if u := a.Unreadable; u != nil {
		line("", "%s in namespaces you may not read: %s", terminal.Count(u.Jobs, "job"), held(u.Pods, u.Devices))
	}
	line("then", "%s", fit.Result{Plan: a.Plan}.PlanText())
	for _, text := range a.Remains {
		line("but", "%s", text)
	}
	return out
}

func held(pods int, devices int64) string {
	if devices == 0 {
		return terminal.Count(pods, "pod")
	}
	return fmt.Sprintf("%s with %s", terminal.Count(pods, "pod"), terminal.Count(int(devices), "device"))
}

// nodesText names a few nodes.
func nodesText(nodes []string) string {
	if len(nodes) > terminal.MostNames {
		return fmt.Sprintf("%s and %d more nodes", strings.Join(nodes[:terminal.MostNames], ", "), len(nodes)-terminal.MostNames)
	}
	return strings.Join(nodes, ", ")
}
