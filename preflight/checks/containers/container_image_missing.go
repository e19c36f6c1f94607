package containers

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var containerImageMissing = &check.Check{
	Name:     "container-image-missing",
	Title:    "a container has no image",
	Remedy:   "Write the image of the container.",
	Severity: finding.Error, Refuses: true, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			at := r.Pod.At(c.Rel)
			if written := p.Job.Field(at.Child("image")); strings.TrimSpace(c.Image) == "" && !r.Pod.Partial && (written == nil || written == c.Image) { // of what is no text the reader speaks
				p.Reportf(at, "container %q of %s has no image; the API server rejects its pods", c.Name, r.Name)
			}
		}
	},
}
