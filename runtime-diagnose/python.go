package diagnose

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// python is what a container's command says that starts a Python program.
var python = regexp.MustCompile(`\bpython[\d.]*\b|\.py\b|\b(?:torchrun|accelerate|deepspeed|colossalai|ipython|pytest)\b`)

// isPython says that there is evidence of Python where an exit code is all that is known: its command, or a
// traceback in its log or in that of another pod of the same image, which runs the same program. A shell
// script's exit code is no exception.
func (d *diagnosis) isPython(s evidence.Source) bool {
	if d.pythons == nil {
		d.pythons = d.findPython()
	}
	return d.pythons[s.Pod+"/"+s.Container] || d.pythons[s.Pod+"/*"]
}

// findPython are the containers that run Python, as pod/container, where one does pod/, where all do pod/*.
func (d *diagnosis) findPython() map[string]bool {
	out, images := map[string]bool{}, map[string]bool{}
	raised := map[string]bool{}
	for i := range d.sightings {
		if o := &d.sightings[i]; o.Raised {
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
	for i := range d.Pods {
		if p := &d.Pods[i]; raised[p.Name] {
			images[only(p)] = true
		}
	}
	delete(images, "")
	for i := range d.Pods {
		p := &d.Pods[i]
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
