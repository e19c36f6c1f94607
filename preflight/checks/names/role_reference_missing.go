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
			before, _ := p.Job.Field(r.Path.Child("dependsOn")).([]any)
			for k := range before {
				at := r.Path.Child("dependsOn").Index(k).Child("name")
				if name, ok := facts.Text(p.Job, at); ok && !slices.Contains(names, name) {
					p.Reportf(at, "%s depends on %q, which is not a replicated Job above it%s", r.Name, name, check.DidYouMean(name, names))
				}
			}
			names = append(names, r.Name)
		}
		targets := func(list job.Path) {
			all, _ := p.Job.Field(list).([]any)
			for k := range all {
				if name, ok := facts.Text(p.Job, list.Index(k)); ok && !slices.Contains(names, name) {
					p.Reportf(list.Index(k), "replicated Job %q does not exist in this JobSet%s", name, check.DidYouMean(name, names))
				}
			}
		}
		targets("spec.successPolicy.targetReplicatedJobs")
		rules, _ := p.Job.Field("spec.failurePolicy.rules").([]any)
		for k := range rules {
			targets(job.Path("spec.failurePolicy.rules").Index(k).Child("targetReplicatedJobs"))
		}
		if name, ok := facts.Text(p.Job, "spec.coordinator.replicatedJob"); ok && !slices.Contains(names, name) {
			p.Reportf("spec.coordinator.replicatedJob", "replicated Job %q does not exist in this JobSet%s", name, check.DidYouMean(name, names))
		}
	},
}

// missingTypes: what a job says about some of its roles in a list, it says by their type.
func missingTypes(p *check.Pass) {
	for _, list := range p.Operator.TypeLists {
		all, _ := p.Job.Field(list).([]any)
		for k := range all {
			at := list.Index(k).Child("type")
			if name, ok := facts.Text(p.Job, at); ok && p.Job.Role(name) == nil {
				p.Reportf(at, "type %q does not exist in this job%s", name, check.DidYouMean(name, roleNames(p.Job)))
			}
		}
	}
}

// missingFlags: a role that an argument of the operator names gets nothing of what the argument is for.
func missingFlags(p *check.Pass) {
	for _, list := range slices.Sorted(maps.Keys(p.Operator.RoleFlags)) {
		all, _ := p.Job.Field(list).([]any)
		for k := range all {
			text, _ := facts.Text(p.Job, list.Index(k))
			flag, name, given := strings.Cut(strings.TrimLeft(text, "-"), "=")
			if given && slices.Contains(p.Operator.RoleFlags[list], flag) && p.Job.Role(name) == nil {
				p.Reportf(list.Index(k), "%s names the task %q, which does not exist in this job%s", text, name, check.DidYouMean(name, roleNames(p.Job)))
			}
		}
	}
}

func roleNames(j *job.Job) (names []string) {
	for i := range j.Roles {
		names = append(names, j.Roles[i].Name)
	}
	return names
}
