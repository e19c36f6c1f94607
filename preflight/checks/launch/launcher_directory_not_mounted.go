package launch

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var launcherDirectoryNotMounted = &check.Check{
	Name:     "launcher-directory-not-mounted",
	Title:    "the workers have nothing mounted where the launcher works",
	Remedy:   "Mount the volume with the code at the launcher's workingDir in the workers.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		const at = job.Path("spec.launcher.workingDir")
		dir, _ := facts.Text(p.Job, at)
		r := p.Operator.Role(p.Job, kinds.Worker)
		words, _ := p.Job.Field("spec.worker.command").([]any)
		if r == nil || !strings.HasPrefix(dir, "/") || len(words) == 0 {
			return
		}
		c, _ := r.Trainer()
		script, _ := words[0].(string)
		if c == nil || script == "" || strings.HasPrefix(script, "/") || facts.MountsAround(c, dir) {
			return
		}
		if image, _, _ := strings.Cut(c.Image, ":"); publishedImages[strings.TrimPrefix(image, "docker.io/")] {
			p.Reportf(at, "the launcher starts %s in %s, where the workers mount nothing, and their image %s is the published one without any script of yours", facts.Quoted(script), dir, c.Image)
			return
		}
		for _, m := range c.VolumeMounts {
			if v := facts.VolumeOf(&r.Pod.Spec, m.Name); v != nil && facts.LastingOf(v) == facts.Kept && !strings.Contains(m.MountPath, "/.") { // a hidden folder holds caches and settings, and no code
				p.Reportf(at, "the launcher starts %s in %s, where the workers mount nothing; they mount volume %s at %s", facts.Quoted(script), dir, m.Name, m.MountPath)
				return
			}
		}
	},
}

// publishedImages are images that a framework publishes: without a mount there is no code of the
// user's in them. The one here is what the examples of TensorStack's manual for ColossalAIJob run.
var publishedImages = map[string]bool{"hpcaitech/colossalai": true}
