package placement

import (
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
	Stops:    true,
	Needs:    check.Cluster,
	Eclipses: []string{"no-deadline-on-whole-cluster"},
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			if why, _ := facts.ShapeOf(p.Cluster, r); why != facts.Fitting || p.Over() {
				return // a check of its own says which pod and why, or an autoscaler may help
			}
			if _, why := tooFewPlaces(p, r); why != "" {
				return // exclusive-topology-too-small
			}
		}
		if len(facts.OutOfReach(p)) > 0 {
			return // claim-out-of-reach
		}
		answer := p.Fit()
		if answer.Unresolvable || spreadNeverHolds(p) {
			return // a check of its own says what is missing, or which rule cannot hold
		}
		// A job that waits in a queue or may get new nodes is told only of a pod that no node
		// could ever hold; a suspended job is not told that there is no room now.
		if !answer.Warns() || p.Job.Suspended && answer.Verdict != fit.TooBig {
			return
		}
		f := finding.Finding{Path: rolePath(p.Job, answer), Message: answer.OnNodes(), Facts: []finding.Fact{
			{Name: "verdict", Value: answer.Verdict.String()}, {Name: "placed", Value: int64(answer.Placed)}, {Name: "wanted", Value: int64(answer.Wanted)},
		}}
		switch {
		case answer.Verdict != fit.TooBig:
		case answer.NotWithNodesBack || !answer.Rejected.MayComeBack():
			f.Severity, f.Remedy = finding.Error, "Ask for fewer or smaller pods: even idle, the cluster cannot hold them."
			if answer.Reason != "" {
				f.Remedy = "Relax that rule, or ask for fewer pods: it does not hold for all of them on the idle cluster either."
			}
		case answer.Queue != "" || answer.Autoscaler != "" || p.Job.Suspended:
			return // the nodes that are away may come back in time
		default:
			f.Remedy = "Wait for nodes to come back, or ask for fewer or smaller pods."
		}
		switch {
		case answer.Preempts != nil && answer.Preempts.InPart:
			f.Message += "; " + answer.Preempts.Summary()
			f.Remedy = strings.TrimSpace(f.Remedy + " Until it fits, suspend the job, or take a priority class with preemptionPolicy: Never.")
		case answer.Preempts != nil: // the gang gets in as it is
			f.Message += "; " + answer.Preempts.Summary()
			f.Remedy = "Do nothing where that is wanted; else take a lower priority class, or preemptionPolicy: Never."
		case answer.Change != "" && !answer.WithNodesBack: // what it takes is said
			f.Message += "; " + answer.Change
		case answer.Idle != "":
			f.Message += "; " + answer.Idle
		}
		p.Report(f)
	},
}

// spreadNeverHolds says that a role has a spread constraint that spread-cannot-hold is about.
func spreadNeverHolds(p *check.Pass) bool {
	for r := range p.Job.EachRole() {
		for k := range r.Pod.Spec.TopologySpreadConstraints {
			if c := &r.Pod.Spec.TopologySpreadConstraints[k]; c.WhenUnsatisfiable != corev1.ScheduleAnyway && !p.Over() && brokenSpread(p, r, c) != "" {
				return true
			}
		}
	}
	return false
}

// rolePath is where the number of pods to change is written: the role without a place,
// unless there is but one pod of it, and others stand in its way.
func rolePath(j *job.Job, answer fit.Result) job.Path {
	at, most := job.Path("spec"), 0
	alone := len(answer.Asks) == 1
	for r := range j.EachRole() {
		if r.Name == answer.Group && (alone || r.Replicas.Max > 1) {
			return r.ReplicasPath
		}
		if r.Replicas.Max > most {
			at, most = r.ReplicasPath, r.Replicas.Max
		}
	}
	return at
}
