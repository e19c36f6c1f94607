package names

import (
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var annotationNotRead = &check.Check{
	Name:     "annotation-not-read",
	Title:    "an annotation is almost one that is read",
	Remedy:   "Write the key that is read.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		known := slices.Clone(p.Operator.Annotations)
		if p.Operator.Kueue {
			known = append(known, gang.TopologyAnnotations()...)
		}
		report := func(annotations map[string]string, at job.Path) {
			for _, key := range slices.Sorted(maps.Keys(annotations)) {
				if meant := meantAnnotation(key, known); meant != "" && p.Job.Field(at.Key(key)) != nil {
					p.Reportf(at.Key(key), "nobody reads this annotation, which says %s; %s is read", facts.Quoted(annotations[key]), meant)
				}
			}
		}
		if p.Job.Source != nil {
			report(p.Job.Source.GetAnnotations(), job.Path("metadata.annotations"))
		}
		misplaced(p)
		for r := range p.Job.EachRole() {
			pod := r.Pod
			report(pod.Annotations, pod.Path.Parent().Child("metadata", "annotations"))
		}
	},
}

// misplaced: which place pods are to have, Kueue reads on their templates
// (https://kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling/#user-facing-apis).
func misplaced(p *check.Pass) {
	if !p.Operator.Kueue || p.Job.Source == nil {
		return
	}
	written := p.Job.Source.GetAnnotations()
	for _, key := range gang.TopologyAnnotations() {
		if written[key] == "" || !slices.ContainsFunc(p.Job.Roles, func(r job.Role) bool { return p.Job.Field(r.Pod.Path) != nil && r.Pod.Annotations[key] == "" }) ||
			slices.ContainsFunc(p.Job.Roles, func(r job.Role) bool { return r.Pod.Annotations[key] != "" }) {
			continue
		}
		p.Reportf(job.Path("metadata.annotations").Key(key), "Kueue reads this annotation, which says %s, on the pod template, and nobody on the job", facts.Quoted(written[key]))
	}
}

// meantAnnotation is the annotation that one is a slip of the pen away from, or that has its name in another domain of the
// same project; empty: it is read as it is, or somebody else's.
func meantAnnotation(key string, known []string) string {
	domain, name, ok := strings.Cut(key, "/")
	if !ok || slices.Contains(known, key) {
		return ""
	}
	for _, k := range known {
		if of, meant, _ := strings.Cut(k, "/"); meant == name && sameProject(domain, of) {
			return k
		}
	}
	if k := check.Nearest(key, known, 2); strings.HasPrefix(k, domain+"/") {
		return k
	}
	return ""
}

// sameProject says that two domains are of one project of Kubernetes: alpha.jobset.sigs.k8s.io and jobset.x-k8s.io.
func sameProject(a, b string) bool {
	project := func(domain string) string {
		of := strings.TrimSuffix(strings.TrimSuffix(domain, ".sigs.k8s.io"), ".x-k8s.io")
		return of[strings.LastIndexByte(of, '.')+1:]
	}
	return project(a) == project(b)
}
