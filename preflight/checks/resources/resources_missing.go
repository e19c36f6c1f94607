package resources

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var resourcesMissing = &check.Check{
	Name:     "resources-missing",
	Title:    "the container that trains asks for nothing",
	Remedy:   "Write requests for cpu and memory, and limits for what the training needs.",
	Severity: finding.Note, Since: "0.1",
	Run: func(p *check.Pass) {
		more := 0
		var first finding.Finding
		for r := range p.Job.EachRole() {
			c, k := r.Trainer()
			if c == nil || !p.Operator.Trains(r) || r.Pod.Partial || r.Replicas.Max == 0 || r.Pod.Spec.Resources != nil || len(r.Pod.Spec.ResourceClaims) > 0 {
				continue
			}
			at := r.Pod.At(job.Path("containers").Index(k))
			if len(c.Resources.Requests)+len(c.Resources.Limits)+len(c.Resources.Claims) > 0 || written(p.Job, at.Child("resources")) || defaulted(p, corev1.ResourceCPU) || defaulted(p, corev1.ResourceMemory) {
				continue
			}
			if first.Message != "" {
				more++
				continue
			}
			first = finding.Finding{Path: at, Message: fmt.Sprintf("%s has no requests and no limits (BestEffort): it is evicted first", facts.Whose(c.Name, r.Name))}
		}
		if more > 0 {
			first.Message += fmt.Sprintf("; %d more like it", more)
		}
		if first.Message != "" {
			p.Report(first)
		}
	},
}

// written says whether anything is requested or limited, be it an amount that could not be read.
func written(j *job.Job, at job.Path) bool {
	return slices.ContainsFunc([]string{"requests", "limits"}, func(list string) bool {
		amounts, _ := j.Field(at.Child(list)).(map[string]any)
		return len(amounts) > 0
	})
}
