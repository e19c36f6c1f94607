package queueing

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var queueLabelNotRead = &check.Check{
	Name:     "queue-label-not-read",
	Title:    "the name of the queue is where Kueue does not look",
	Remedy:   "Write the label under metadata.labels of the job.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		const label = "kueue.x-k8s.io/queue-name"
		if p.Job.Source == nil {
			return
		}
		queue := p.Job.Source.GetLabels()[label]
		covered := p.Operator.Kueue
		if queue != "" && !covered {
			p.ReportAs(finding.Finding{Path: job.Path("metadata.labels").Key(label), Remedy: "Remove the label, or put the job into a queue of its own scheduler."},
				"the job names queue %s, but Kueue does not queue a %s: its %s may start at once", facts.Quoted(queue), p.Job.Ref.Kind, facts.Count(p.Job.MaxPods(), "pod"))
		}
		if queue != "" || !covered {
			return
		}
		if named := p.Job.Source.GetAnnotations()[label]; named != "" { // https://github.com/kubernetes-sigs/kueue/pull/7271
			p.Reportf(job.Path("metadata.annotations").Key(label), "queue %s is named in an annotation, which Kueue reads up to v0.14 alone: later ones let the pods start without the queue", facts.Quoted(named))
			return
		}
		for _, key := range slices.Sorted(maps.Keys(p.Job.Source.GetLabels())) {
			domain, name, _ := strings.Cut(key, "/")
			if check.Nearest(key, []string{label}, 2) == label || strings.HasPrefix(domain, "kueue.") && strings.Contains(name, "queue") {
				p.ReportAs(finding.Finding{Path: job.Path("metadata.labels").Key(key), Remedy: "Write the label as kueue.x-k8s.io/queue-name."},
					"nobody reads label %s, which names queue %s; kueue.x-k8s.io/queue-name is read: the job starts without the queue", facts.Quoted(key), facts.Quoted(p.Job.Source.GetLabels()[key]))
				return
			}
		}
		for r := range p.Job.EachRole() {
			name := r.Pod.Labels[label]
			if at := r.Pod.Path.Parent().Child("metadata", "labels").Key(label); name != "" && p.Job.Field(at) != nil {
				p.Reportf(at, "queue %s is named on the pods of %s, but Kueue reads it on the %s: the pods start without the queue", facts.Quoted(name), r.Name, p.Job.Ref.Kind)
				return
			}
		}
	},
}
