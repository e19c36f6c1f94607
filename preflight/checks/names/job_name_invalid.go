package names

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var jobNameInvalid = &check.Check{
	Name:     "job-name-invalid",
	Title:    "the job's name is not one that the API takes",
	Remedy:   "Use lower-case letters, digits and dashes, and begin with a letter.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: func(p *check.Pass) {
		if p.Job.Source == nil || p.Job.Source.GetName() == "" {
			return
		}
		name := p.Job.Source.GetName()
		if _, _, templated := job.Placeholder(name); templated {
			return // unreadable-field says so
		}
		form, ok := "lower-case letters, digits, dashes and dots", len(validation.IsDNS1123Subdomain(name)) == 0
		remedy := ""
		if names := p.Operator.Names; names != nil {
			form, ok, remedy = names.Says, names.Takes(name), names.Remedy
		}
		if !ok {
			p.Report(finding.Finding{Path: "metadata.name", Remedy: remedy, Message: fmt.Sprintf("name %q is not valid for a %s; it takes %s", name, p.Job.Ref.Kind, form)})
		}
	},
}
