package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var retriesWithoutEnd = &check.Check{
	Name:     "retries-without-end",
	Title:    "the job is retried without end and holds GPUs",
	Remedy:   "Write a maxRetryCount of 0 or more; fancyRetryPolicy retries what the platform broke.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		gpus := p.Job.GPUs()
		if gpus == 0 {
			return
		}
		judge := func(at job.Path) {
			fancy, _ := p.Job.Field(at.Child("fancyRetryPolicy")).(bool)
			switch n, _ := facts.Number(p.Job, at.Child("maxRetryCount")); {
			case n == -2:
				p.Reportf(at.Child("maxRetryCount"), "maxRetryCount is %d: the job starts anew whenever it ends, also after success, on %s", n, facts.Count(gpus, "GPU"))
			case n == -1 && !fancy:
				p.Reportf(at.Child("maxRetryCount"), "maxRetryCount is %d: any failure is retried without limit, on %s", n, facts.Count(gpus, "GPU"))
			}
		}
		judge("spec.retryPolicy")
		for r := range p.Job.EachRole() {
			judge(r.Path.Child("task", "retryPolicy"))
		}
	},
}
