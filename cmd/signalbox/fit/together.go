package fit

import (
	"context"
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// fitTogether says of several jobs that fit, each placed as if it came alone, whether the nodes take all of them: a sweep is
// submitted whole. Empty: fewer than two of them fit.
func fitTogether(ctx context.Context, w *review.World, jobs []review.Reviewed) string {
	var all []gang.Gang
	n := 0
	for _, j := range jobs {
		if j.Fit == nil || j.Fit.Verdict != fit.Fits || len(j.Fit.Plan) == 0 {
			continue
		}
		if n++; j.Gang != nil {
			all = append(all, *j.Gang)
		}
	}
	if n < 2 {
		return ""
	}
	text := fmt.Sprintf("each of the %d jobs that fit is placed as if it came alone; ", n)
	g, ok := asOne(all)
	if !ok || len(all) != n || w.Nodeless {
		return text + "whether they fit together is not said"
	}
	switch r := fit.Fit(ctx, w.Cluster, g, fit.NewBudget(fit.Steps)); r.Verdict {
	case fit.Fits:
		return text + "the nodes take all of them together, too"
	case fit.Full, fit.Fragmented, fit.TooBig:
		return text + fmt.Sprintf("together they do not fit: the nodes take %d of their %s", r.Placed, terminal.Count(r.Wanted, "pod"))
	default:
		return text + "whether they fit together is not known"
	}
}

// asOne is a gang of the pods of several, for a question about nodes alone: each has been asked by itself about what lies
// before them. Not ok: one of them asks for something that is of a gang and not of its pods, or need not run whole.
func asOne(all []gang.Gang) (out gang.Gang, ok bool) {
	out.NodesOnly = true
	for i, g := range all {
		if out.Namespace == "" {
			out.Namespace = g.Namespace
		}
		if g.Namespace != out.Namespace || g.Queue != "" || g.Exists || g.Untied != "" || g.Unread != "" || g.Held() != "" ||
			g.MinMembers != 0 && g.MinMembers != g.Pods() {
			return gang.Gang{}, false
		}
		own := func(name string) string { return fmt.Sprintf("%d/%s", i, name) }
		for _, group := range g.Groups {
			if group.Min != group.Count {
				return gang.Gang{}, false
			}
			group.After = slices.Clone(group.After)
			for k := range group.After {
				group.After[k] = own(group.After[k])
			}
			if group.Along != "" {
				group.Along = own(group.Along)
			}
			group.Name = own(group.Name)
			out.Groups = append(out.Groups, group)
		}
	}
	return out, true
}
