package operators

import (
	"regexp"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rayVersionsDiffer = &check.Check{
	Name:     "ray-versions-differ",
	Title:    "images of a cluster of Ray, or what KubeRay is told, differ in version",
	Remedy:   "Use one image for the head and the workers, and write its version in rayVersion.",
	Severity: finding.Error, Since: "0.2",
	Kinds: []string{"RayJob.ray.io", "RayCluster.ray.io"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		var first build
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			c, k := r.Trainer()
			if c == nil || r.Replicas.Max == 0 && i > 0 {
				continue
			}
			b := builtFor(c.Image)
			at := r.Pod.At(job.Path("containers").Index(k).Child("image"))
			switch {
			case b.ray == "":
			case first.ray == "":
				first = b
				first.of = r.Name
				rayVersionTold(p, b, at)
			case b.ray != first.ray:
				p.Reportf(at, "image %s of %s is of Ray %s, and that of %s of %s: a worker of another version does not join", facts.Quoted(c.Image), r.Name, b.ray, first.of, first.ray)
			case b.python != first.python && b.python != "" && first.python != "":
				p.Reportf(at, "image %s of %s is of Python %s, and that of %s of %s: a worker of another version does not join", facts.Quoted(c.Image), r.Name, b.python, first.of, first.python)
			}
		}
	},
}

// rayVersionTold notes a rayVersion that is not that of the image: KubeRay goes by what is written.
func rayVersionTold(p *check.Pass, b build, image job.Path) {
	for _, at := range []job.Path{"spec.rayClusterSpec.rayVersion", "spec.rayVersion"} {
		if told, _ := facts.Text(p.Job, at); told != "" && rayVersion.MatchString(told) && told != b.ray {
			p.ReportAs(finding.Finding{Path: at, Severity: finding.Note, Remedy: "Write the version of the image in rayVersion."},
				"rayVersion is %s, and %s %s is of Ray %s: KubeRay goes by what is written", facts.Quoted(told), facts.LastStep(image), facts.Quoted(b.image), b.ray)
		}
	}
}

// build is what the tag of an image says of it, as the project tags its own: ray:2.44.1-py39-cu128.
type build struct{ image, ray, python, of string }

func builtFor(image string) build {
	m := rayImage.FindStringSubmatch(image)
	if m == nil {
		return build{}
	}
	b := build{image: image, ray: m[1], python: m[2]}
	if len(b.python) > 1 { // 310 is 3.10
		b.python = b.python[:1] + "." + b.python[1:]
	}
	return b
}

var (
	rayImage   = regexp.MustCompile(`(?:^|/)ray(?:-ml|-llm)?:([0-9]+\.[0-9]+\.[0-9]+)(?:\.[0-9a-f]+)?(?:-py([0-9]+))?(?:$|[-@])`)
	rayVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)
)
