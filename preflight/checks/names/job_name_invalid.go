package names

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var jobNameInvalid = &check.Check{
	Name:     "job-name-invalid",
	Title:    "the job lacks a name, or it, the namespace or a label is not valid",
	Remedy:   "Use lower-case letters, digits and dashes, and begin with a letter.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: func(p *check.Pass) {
		if p.Job.Source == nil {
			return
		}
		for at, text := range facts.RefusedMetadata("metadata", p.Job.Source.GetLabels(), p.Job.Source.GetAnnotations()) {
			p.Report(finding.Finding{Path: at, Message: text + "; the API server rejects the job", Remedy: "Write a label or an annotation that the API takes."})
			break // of thousands one is told
		}
		if in := p.Job.Source.GetNamespace(); in != "" && !job.Templated(in) && len(validation.IsDNS1123Label(in)) > 0 {
			p.Report(finding.Finding{
				Path: "metadata.namespace", Remedy: "Name a namespace that there is.",
				Message: fmt.Sprintf("namespace %s is not valid, and no cluster has one of that name; it takes lower-case letters, digits and dashes", facts.Quoted(in)),
			})
		}
		name := p.Job.Source.GetName()
		if name == "" && p.Job.Source.GetGenerateName() == "" {
			p.ReportAs(finding.Finding{Path: "metadata.name", Remedy: "Write metadata.name."},
				"the job has no name: the API takes metadata.name, or metadata.generateName to make one from")
		}
		field, written := "name", name
		if prefix := p.Job.Source.GetGenerateName(); name == "" && prefix != "" {
			field, written, name = "generateName", prefix, kinds.GeneratedName(prefix)
		}
		if job.Templated(written) || name == "" {
			return // unreadable-field says so
		}
		form, ok := "lower-case letters, digits, dashes and dots", len(validation.IsDNS1123Subdomain(name)) == 0
		remedy := ""
		if names := p.Operator.Names; names != nil {
			form, ok, remedy = names.Says, names.Takes(name), names.Remedy
		}
		if !ok {
			p.Report(finding.Finding{
				Path: job.Path("metadata").Child(field), Remedy: remedy, Message: fmt.Sprintf("%s %q is not valid for the kind %s; it takes %s", field, written, p.Job.Ref.Kind, form),
			})
		}
	},
}
