package operators

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var patchesCollide = &check.Check{
	Name:     "patches-collide",
	Title:    "two changes to the runtime contradict each other",
	Remedy:   "Keep one of the two, or give the volume another name.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Run: func(p *check.Pass) {
		managersTwice(p)
		seen := map[string]patched{}
		for _, c := range changesOf(p.Job) {
			for _, w := range c.parts(p.Job) {
				key := c.target + "\x00" + w.what
				if old, twice := seen[key]; twice && old.at.Parent().Parent() != w.at.Parent().Parent() && !reflect.DeepEqual(old.value, w.value) {
					here, there := "written here", "otherwise"
					if a, ok := w.value.(string); ok {
						b, _ := old.value.(string)
						here, there = facts.Quoted(a)+" here", facts.Quoted(b)
					}
					p.Reportf(w.at, "%s for Job %q is %s and %s in %s: the last one counts", w.what, c.target, here, there, element(old.at))
				}
				seen[key] = w
			}
		}
	},
}

// managersTwice: the manager is the key of the list, and the API server refuses a key that is there twice
// (github.com/kubeflow/trainer v2.2.1 pkg/apis/trainer/v1alpha1/trainjob_types.go, listMapKey).
func managersTwice(p *check.Pass) {
	for _, t := range facts.Twins(p.Job, "spec.runtimePatches", "manager") {
		p.ReportAs(finding.Finding{Path: t.At, Severity: finding.Error, Remedy: "Put what one manager changes into one patch."},
			"manager %q is that of runtimePatches[%d], too: the API server refuses the job", t.Name, t.First)
	}
}

// change is what a TrainJob says about one replicated Job of its runtime.
type change struct {
	target string
	spec   job.Path // the pod spec
}

// patched is a part of a change that can be there once.
type patched struct {
	what  string
	value any
	at    job.Path
}

// changesOf are the changes in the order in which Trainer applies them.
func changesOf(j *job.Job) (out []change) {
	for at := range j.Elements("spec.podTemplateOverrides") {
		for target := range j.Elements(at.Child("targetJobs")) {
			if name, ok := facts.Text(j, target.Child("name")); ok {
				out = append(out, change{target: name, spec: at.Child("spec")})
			}
		}
	}
	for patch := range j.Elements("spec.runtimePatches") {
		for at := range j.Elements(patch.Child("trainingRuntimeSpec", "template", "spec", "replicatedJobs")) {
			if name, ok := facts.Text(j, at.Child("name")); ok {
				out = append(out, change{target: name, spec: at.Child("template", "spec", "template", "spec")})
			}
		}
	}
	return out
}

// parts are what a change sets: volumes by name, node labels by key, and variables and mounts
// of its containers by name and place.
func (c change) parts(j *job.Job) (out []patched) {
	add := func(list job.Path, key, what string) {
		for at, e := range j.Elements(list) {
			m, _ := e.(map[string]any)
			if name, _ := m[key].(string); name != "" {
				out = append(out, patched{what: what + " " + name, value: m, at: at})
			}
		}
	}
	add(c.spec.Child("volumes"), "name", "volume")
	selector, _ := j.Field(c.spec.Child("nodeSelector")).(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		out = append(out, patched{what: "the node label " + key, value: selector[key], at: c.spec.Child("nodeSelector").Key(key)})
	}
	if account, ok := facts.Text(j, c.spec.Child("serviceAccountName")); ok {
		out = append(out, patched{what: "serviceAccountName", value: account, at: c.spec.Child("serviceAccountName")})
	}
	for _, kind := range []string{"containers", "initContainers"} {
		for at := range j.Elements(c.spec.Child(kind)) {
			name, _ := facts.Text(j, at.Child("name"))
			add(at.Child("env"), "name", "variable of container "+name+":")
			add(at.Child("volumeMounts"), "mountPath", "what container "+name+" mounts at")
		}
	}
	return out
}

// element is the element of the outermost list that a path leads through.
func element(at job.Path) job.Path {
	before, _, _ := strings.Cut(string(at), "]")
	return job.Path(before + "]")
}
