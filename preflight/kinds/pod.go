package kinds

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// pod is the pod of a template that is written at the path. What adds to it calls
// settle afterwards.
func (r *reader) pod(t *corev1.PodTemplateSpec, at job.Path) job.Pod {
	p := job.Pod{
		Spec: t.Spec, Labels: t.Labels, Annotations: t.Annotations,
		Path: at.Child("spec"),
	}
	if !r.has(p.Path) {
		p.Path = r.anchor(p.Path)
		p.Origins.Add(job.Origin{Path: p.Path, Whole: true})
		r.lacks(p.Path, "missing", "a pod template with at least one container")
		return p
	}
	containers := p.Path.Child("containers")
	if v, _ := containers.Resolve(r.source); len(t.Spec.Containers) == 0 {
		if _, isList := v.([]any); isList || v == nil {
			r.lacks(containers, absence(v), "at least one container")
		}
	}
	return p
}

func absence(v any) string {
	if v == nil {
		return "missing"
	}
	return describe(v)
}

// inject records that a part of the pod is not written by the user but comes from the
// place at the path.
func inject(p *job.Pod, rel, at job.Path) {
	p.Origins.Add(job.Origin{Rel: rel, Path: at, Whole: true})
}

// injectInit adds an init container of the operator.
func injectInit(p *job.Pod, c corev1.Container, at job.Path) {
	inject(p, job.Path("initContainers").Index(len(p.Spec.InitContainers)), at)
	p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	p.Injected = append(p.Injected, c.Name)
}

func settleAll(j *job.Job) {
	for i := range j.Roles {
		settle(&j.Roles[i])
	}
}

// settle computes what only the whole pod tells: what it takes on a node and how the
// role starts its processes.
func settle(role *job.Role) {
	role.Pod.Requests = podspec.Effective(&role.Pod.Spec)
	c, i := role.Trainer()
	if c == nil && len(role.Pod.Spec.Containers) > 0 {
		c, i = &role.Pod.Spec.Containers[0], 0
	}
	if c != nil {
		rel := job.Path("containers").Index(i)
		role.Launch = launchOf(c, func(field job.Path) job.Path { return role.Pod.At(rel.Join(field)) })
	}
}
