package checks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var roleNameInvalid = &check.Check{
	Name:     "role-name-invalid",
	Title:    "a role has a name that its pods cannot carry",
	Doc:      readme("role-name-invalid"),
	Remedy:   "Use lower-case letters and digits, and dashes where the kind takes them.",
	Severity: finding.Error, Since: "0.1",
	Kinds:           []string{"Framework", "JobSet", "TrainJob"}, // of a TrainJob they become a JobSet's
	OperatorRejects: []string{"Framework", "JobSet"},
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if _, _, templated := job.Placeholder(r.Name); templated || r.Pod.Partial {
				continue
			}
			form, ok := "lower-case letters, digits and dashes, 63 at most", len(validation.IsDNS1123Label(r.Name)) == 0
			if p.Job.Ref.Kind == "Framework" {
				form, ok = "lower-case letters and digits, 63 at most", frameworkName.MatchString(r.Name)
			}
			if !ok {
				p.Report(finding.Finding{Path: r.Path, Message: fmt.Sprintf("role name %q is not valid in a %s; it takes %s", r.Name, p.Job.Ref.Kind, form)})
			}
		}
		return nil
	},
}
