package checks

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var jobNameInvalid = &check.Check{
	Name:     "job-name-invalid",
	Title:    "the job's name is not one that the API takes",
	Doc:      readme("job-name-invalid"),
	Remedy:   "Use lower-case letters, digits and dashes, and begin with a letter.",
	Severity: finding.Error, Since: "0.1",
	OperatorRejects: append([]string{"JobSet", "TrainJob"}, trainingKinds...),
	Run: func(p *check.Pass) error {
		if p.Job.Source == nil || p.Job.Source.GetName() == "" {
			return nil
		}
		name := p.Job.Source.GetName()
		if _, _, templated := job.Placeholder(name); templated {
			return nil // unreadable-field says so
		}
		form, ok := "lower-case letters, digits, dashes and dots", len(validation.IsDNS1123Subdomain(name)) == 0
		switch kind := p.Job.Ref.Kind; {
		case kind == "Framework":
			form, ok = "lower-case letters and digits only", frameworkName.MatchString(name)
		case kind == "TrainJob", kind == "JobSet", slices.Contains(trainingKinds, kind):
			form, ok = "lower-case letters, digits and dashes, with a letter first, 63 at most", len(validation.IsDNS1035Label(name)) == 0
		}
		if !ok {
			f := finding.Finding{Path: "metadata.name", Message: fmt.Sprintf("name %q is not valid for a %s; it takes %s", name, p.Job.Ref.Kind, form)}
			if p.Job.Ref.Kind == "Framework" {
				f.Remedy = "Use lower-case letters and digits alone."
			}
			p.Report(f)
		}
		return nil
	},
}

// frameworkName is the pattern in the CRD (microsoft/frameworkcontroller d6e70787
// pkg/apis/frameworkcontroller/v1/crd.go).
var frameworkName = regexp.MustCompile(`^[a-z0-9]{1,63}$`)
