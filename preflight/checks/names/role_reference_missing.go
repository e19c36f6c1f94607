package names

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var roleReferenceMissing = &check.Check{
	Name:     "role-reference-missing",
	Title:    "the job speaks of a role that it does not have",
	Remedy:   "Name a role that the job has.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.DependsOn || o.TypeLists != nil || o.RoleFlags != nil },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		missingTypes(p)
		missingFlags(p)
		if !p.Operator.DependsOn {
			return
		}
		var names []string
		for r := range p.Job.EachRole() {
			for before := range p.Job.Elements(r.Path.Child("dependsOn")) {
				at := before.Child("name")
				if name, ok := facts.Text(p.Job, at); ok && !slices.Contains(names, name) {
					p.Reportf(at, "%s depends on %q, which is not a replicated Job above it%s", r.Name, name, check.DidYouMean(name, names))
				}
			}
			names = append(names, r.Name)
		}
		targets := func(list job.Path) {
			for at := range p.Job.Elements(list) {
				if name, ok := facts.Text(p.Job, at); ok && !slices.Contains(names, name) {
					p.Reportf(at, "replicated Job %q does not exist in this JobSet%s", name, check.DidYouMean(name, names))
				}
			}
		}
		targets("spec.successPolicy.targetReplicatedJobs")
		for rule := range p.Job.Elements("spec.failurePolicy.rules") {
			targets(rule.Child("targetReplicatedJobs"))
		}
		if name, ok := facts.Text(p.Job, "spec.coordinator.replicatedJob"); ok && !slices.Contains(names, name) {
			p.Reportf("spec.coordinator.replicatedJob", "replicated Job %q does not exist in this JobSet%s", name, check.DidYouMean(name, names))
		}
	},
}

// missingTypes: what a job says about some of its roles in a list, it says by their type.
func missingTypes(p *check.Pass) {
	for _, list := range p.Operator.TypeLists {
		for element := range p.Job.Elements(list) {
			at := element.Child("type")
			if name, ok := facts.Text(p.Job, at); ok && p.Job.Role(name) == nil {
				p.Reportf(at, "type %q does not exist in this job%s", name, check.DidYouMean(name, facts.RoleNames(p.Job)))
			}
		}
	}
}

// missingFlags: a role that an argument of the operator names gets nothing of what the argument is for.
func missingFlags(p *check.Pass) {
	for _, list := range slices.Sorted(maps.Keys(p.Operator.RoleFlags)) {
		for at, argument := range p.Job.Elements(list) {
			text, _ := argument.(string)
			flag, name, given := strings.Cut(strings.TrimLeft(text, "-"), "=")
			if given && slices.Contains(p.Operator.RoleFlags[list], flag) && p.Job.Role(name) == nil {
				p.Reportf(at, "%s names the task %q, which does not exist in this job%s", text, name, check.DidYouMean(name, facts.RoleNames(p.Job)))
			}
		}
	}
}
