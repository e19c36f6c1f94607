package operators

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var managedByUnknown = &check.Check{
	Name:     "managed-by-unknown",
	Title:    "the job is given to a controller that its operator does not know",
	Remedy:   "Leave managedBy out, or write kueue.x-k8s.io/multikueue.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.ManagedBy.At != "" },
	Run: func(p *check.Pass) {
		at, known := p.Operator.ManagedBy.At, p.Operator.ManagedBy.Known
		name, ok := facts.Text(p.Job, at)
		if !ok || job.Templated(name) {
			return
		}
		if known != nil && !slices.Contains(known, name) {
			p.Reportf(at, "managedBy is %q; no controller runs the job unless it is one of %s", name, `"`+strings.Join(known, `", "`)+`"`)
		} else if known == nil && len(validation.IsDomainPrefixedPath(nil, name)) > 0 {
			p.Reportf(at, "managedBy is %q; it takes a domain, a slash and a name, such as kueue.x-k8s.io/multikueue", name)
		}
	},
}
