package placement

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var gangDoesNotFit = &check.Check{
	Name:     "gang-does-not-fit",
	Title:    "not all pods of the job find a place",
	Remedy:   "Wait for running work to end, or submit through a queue; signalbox fit shows the plan.",
	Severity: finding.Warning, Since: "0.1",
	Needs:    check.Cluster,
	Eclipses: []string{"no-deadline-on-whole-cluster"},
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			if why, _ := facts.ShapeOf(p.Cluster, &p.Job.Roles[i]); why != facts.Fitting {
				return nil // a check of its own says which pod and why, or an autoscaler may help
			}
		}
		if len(facts.OutOfReach(p)) > 0 {
			return nil // claim-out-of-reach
		}
		answer := p.Fit()
		if answer.Unresolvable || spreadNeverHolds(p) {
			return nil // a check of its own says what is missing, or which rule cannot hold
		}
		// Whoever waits in a queue or may get new nodes is told only of a pod that no node
		// could ever hold; whoever is suspended is not told that there is no room now.
		if !answer.Warns() || p.Job.Suspended && answer.Verdict != fit.TooBig {
			return nil
		}
		f := finding.Finding{Path: rolePath(p.Job, answer.Group), Message: misfitMessage(answer), Facts: []finding.Fact{
			{Name: "verdict", Value: answer.Verdict.String()}, {Name: "placed", Value: int64(answer.Placed)}, {Name: "wanted", Value: int64(answer.Wanted)},
		}}
		switch {
		case answer.Verdict != fit.TooBig:
		case answer.Rejected.NotReady+answer.Rejected.Cordoned == 0:
			f.Severity, f.Remedy = finding.Error, "Ask for fewer or smaller pods: even idle, the cluster cannot hold them."
			if answer.Reason != "" {
				f.Remedy = "Relax that rule, or ask for fewer pods: it does not hold for all of them on the idle cluster either."
			}
		case answer.Queue != "" || answer.Autoscaler != "" || p.Job.Suspended:
			return nil // the nodes that are away may come back in time
		default:
			f.Remedy = "Wait for nodes to come back, or ask for fewer or smaller pods."
		}
		if answer.Paused != "" {
			f.Message = answer.Paused + "; " + f.Message
		}
		if answer.Change != "" {
			f.Message += "; " + answer.Change
		}
		p.Report(f)
		return nil
	},
}

// spreadNeverHolds says that a role has a spread constraint that spread-cannot-hold is about.
func spreadNeverHolds(p *check.Pass) bool {
	for i := range p.Job.Roles {
		r := &p.Job.Roles[i]
		for k := range r.Pod.Spec.TopologySpreadConstraints {
			if c := &r.Pod.Spec.TopologySpreadConstraints[k]; c.WhenUnsatisfiable != corev1.ScheduleAnyway && brokenSpread(p, r, c) != "" {
				return true
			}
		}
	}
	return false
}

// rolePath is where the number of pods to change is written: the role without a place,
// unless there is but one pod of it.
func rolePath(j *job.Job, role string) job.Path {
	at, most := job.Path("spec"), 0
	for i := range j.Roles {
		r := &j.Roles[i]
		if r.Name == role && r.Replicas.Max > 1 {
			return r.ReplicasPath
		}
		if r.Replicas.Max > most {
			at, most = r.ReplicasPath, r.Replicas.Max
		}
	}
	return at
}

// misfitMessage says how far the pods got, and what the rest lacks in numbers.
func misfitMessage(answer fit.Result) string {
	message := fmt.Sprintf("%d of %s fit: ", answer.Placed, facts.Count(answer.Wanted, "pod"))
	if answer.Wanted == 1 {
		message = "the pod does not fit: "
	}
	r := answer.Rejected
	if r.Total > 0 && r.NotReady+r.Cordoned+r.Selector+r.Taint == r.Total {
		return message + "no node takes its pods (of " + facts.Count(r.Total, "node") + " " + refused(r) + ")"
	}
	if answer.Reason != "" {
		return message + answer.Reason
	}
	s, ok := scarcest(answer.Shortfall)
	if !ok {
		return message + "the rest finds no place"
	}
	amount := func(n int64) string { return job.Format(s.Resource, n) }
	free, total := " free", amount(s.Free)+" in total"
	if answer.Verdict == fit.TooBig {
		free = ""
		if away := (fit.Rejections{NotReady: r.NotReady, Cordoned: r.Cordoned}); away.NotReady+away.Cordoned > 0 {
			total += ", without " + refused(away)
		}
	}
	switch {
	case s.Free >= s.Asked && s.LargestFree >= s.LargestAsked && s.LargestFit > 0:
		return message + fmt.Sprintf("each needs %s %s on one node, and only %s of that size finds room (%s)", amount(s.LargestAsked), s.Resource, facts.Count(s.LargestFit, "pod"), total)
	case s.Free >= s.Asked:
		return message + fmt.Sprintf("each needs %s %s on one node, but no node has more than %s%s (%s)", amount(s.LargestAsked), s.Resource, amount(s.LargestFree), free, total)
	case answer.Verdict == fit.TooBig:
		return message + fmt.Sprintf("they ask for %s %s, but the nodes they may use have %s", amount(s.Asked), s.Resource, total)
	}
	return message + fmt.Sprintf("they ask for %s %s, but only %s are free", amount(s.Asked), s.Resource, amount(s.Free))
}

// refused counts the nodes by why they take none of the pods.
func refused(r fit.Rejections) string {
	var parts []string
	for _, why := range []struct {
		n    int
		what string
	}{{r.NotReady, "not ready"}, {r.Cordoned, "cordoned"}, {r.Selector, "not selected"}, {r.Taint, "tainted"}} {
		if why.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", why.n, why.what))
		}
	}
	return strings.Join(parts, ", ")
}

// scarcest is the accelerator that falls short, else the first resource that does.
func scarcest(all []fit.Shortfall) (fit.Shortfall, bool) {
	for _, s := range all {
		if job.AcceleratorUnit(s.Resource) != job.NotAccelerator {
			return s, true
		}
	}
	if len(all) == 0 {
		return fit.Shortfall{}, false
	}
	return all[0], true
}
