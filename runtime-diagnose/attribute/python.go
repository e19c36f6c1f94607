package attribute

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// python is what a container's command says that starts a Python program.
var python = regexp.MustCompile(`\bpython[\d.]*\b|\.py\b|\b(?:torchrun|accelerate|deepspeed|colossalai|ipython|pytest)\b`)

// Pythons are the containers of which there is evidence that they run Python: their command, or a traceback in
// their log or in that of another pod of the same image, which runs the same program. A shell script's exit
// code is no exception. As pod/container; pod/, where one of the pod's does; pod/*, where all do.
type Pythons map[string]bool

// Has says that there is such evidence of a source.
func (p Pythons) Has(s evidence.Source) bool { return p[s.Pod+"/"+s.Container] || p[s.Pod+"/*"] }

// FindPythons looks for them.
func FindPythons(pods []corev1.Pod, seen []evidence.Observation) Pythons {
	out, images := Pythons{}, map[string]bool{}
	raised := map[string]bool{}
	for i := range seen {
		if o := &seen[i]; o.Raised {
			raised[o.Item.Source.Pod] = true
		}
	}
	for pod := range raised {
		out[pod+"/*"] = true
	}
	only := func(p *corev1.Pod) string { // the image of a pod of one container
		if len(p.Spec.Containers) != 1 {
			return ""
		}
		return p.Spec.Containers[0].Image
	}
	for i := range pods {
		if p := &pods[i]; raised[p.Name] {
			images[only(p)] = true
		}
	}
	delete(images, "")
	for i := range pods {
		p := &pods[i]
		if images[only(p)] {
			out[p.Name+"/*"] = true
		}
		for k := range p.Spec.Containers {
			c := &p.Spec.Containers[k]
			if slices.ContainsFunc(c.Command, python.MatchString) || slices.ContainsFunc(c.Args, python.MatchString) {
				out[p.Name+"/"+c.Name], out[p.Name+"/"] = true, true
			}
		}
	}
	return out
}
