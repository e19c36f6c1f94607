package operators

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var jobSetFieldRefused = &check.Check{
	Name:     "jobset-field-refused",
	Title:    "a field of the JobSet has a value that its CRD or its webhook refuses",
	Remedy:   "Write a value that JobSet takes.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Kinds: []string{"JobSet.jobset.x-k8s.io"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		if name, ok := facts.Text(p.Job, "spec.network.subdomain"); ok && name != "" && len(validation.IsDNS1035Label(name)) > 0 {
			p.Reportf("spec.network.subdomain", "subdomain is %q; it takes at most 63 lower-case letters, digits and dashes, with a letter first", name)
		}
		if seconds, ok := facts.Number(p.Job, p.Operator.TTL); ok && seconds < 0 {
			p.Reportf(p.Operator.TTL, "ttlSecondsAfterFinished is %d; it takes 0 or more", seconds)
		}
		for r := range p.Job.EachRole() {
			at := r.Path.Child("groupName")
			if name, ok := facts.Text(p.Job, at); ok && len(validation.IsDNS1035Label(name)) > 0 {
				p.Reportf(at, "groupName is %q; it takes at most 63 lower-case letters, digits and dashes, with a letter first", name)
			}
			after, _ := p.Job.Field(r.Path.Child("dependsOn")).([]any)
			if len(after) > 5 { // maxItems (v0.12.0 api/jobset/v1alpha2/jobset_types.go)
				p.Reportf(r.Path.Child("dependsOn"), "dependsOn of %s has %d entries; it takes 5 at most", r.Name, len(after))
			}
			if order, _ := facts.Text(p.Job, "spec.startupPolicy.startupPolicyOrder"); order == "InOrder" && len(after) > 0 {
				p.Reportf("spec.startupPolicy.startupPolicyOrder", "startupPolicyOrder is InOrder and %s has dependsOn: a JobSet takes one of the two", r.Name)
			}
		}
		refusedRules(p)
		refusedCoordinator(p)
	},
}

// ruleName and reasons: jobset v0.10.1 pkg/webhooks/jobset_webhook.go; the reasons are those of
// k8s.io/api batch/v1.
var (
	ruleName = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)
	reasons  = []string{"BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy"}
)

func refusedRules(p *check.Pass) {
	const list = job.Path("spec.failurePolicy.rules")
	rules, _ := p.Job.Field(list).([]any)
	seen := map[string]int{}
	for i := range rules {
		at := list.Index(i).Child("name")
		if name, written := facts.Text(p.Job, at); written {
			if first, twice := seen[name]; twice {
				p.Reportf(at, "rules %d and %d are both called %q", first, i, name)
			} else if len(name) > 128 || !ruleName.MatchString(name) {
				p.Reportf(at, "rule %d is called %q; a name is at most 128 letters, digits, _ , and :, with a letter first", i, name)
			}
			seen[name] = i
		}
		for at, reason := range p.Job.Elements(list.Index(i).Child("onJobFailureReasons")) {
			if reason, _ := reason.(string); !slices.Contains(reasons, reason) {
				p.Reportf(at, "reason %q is not one for which a Job fails%s", reason, check.DidYouMean(reason, reasons))
			}
		}
	}
}

// refusedCoordinator: the coordinator is a pod that there is, of an Indexed Job that says how
// many complete.
func refusedCoordinator(p *check.Pass) {
	const at = job.Path("spec.coordinator")
	name, ok := facts.Text(p.Job, at.Child("replicatedJob"))
	if !ok && p.Job.Field(at) != nil {
		p.Reportf(at, "the coordinator has no replicatedJob: it takes the name of the role that it is a pod of")
	}
	r := p.Job.Role(name)
	if !ok || r == nil {
		return // role-reference-missing
	}
	within := func(field string, most int64) {
		if n, written := facts.Number(p.Job, at.Child(field)); written && (n < 0 || n >= most) {
			p.Reportf(at.Child(field), "%s is %d; %s has %s, counted from 0", field, n, name, facts.Count(most, strings.TrimSuffix(field, "Index")))
		}
	}
	jobs, written := facts.Number(p.Job, r.Path.Child("replicas"))
	if !written {
		jobs = 1
	}
	within("jobIndex", jobs)
	completions, written := facts.Number(p.Job, r.Path.Child("template", "spec", "completions"))
	if !written {
		p.Reportf(at.Child("replicatedJob"), "the coordinator is a pod of %s, whose Job does not say how many completions it has", name)
		return
	}
	within("podIndex", completions)
}
