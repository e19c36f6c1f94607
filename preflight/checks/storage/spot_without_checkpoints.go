package storage

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var spotWithoutCheckpoints = &check.Check{
	Name:     "spot-without-checkpoints",
	Title:    "pods on spot nodes keep nothing that survives them",
	Remedy:   "Write checkpoints to a persistent volume or a bucket, or select nodes that stay.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range facts.EachTrainer(p.Job) {
			at, what := facts.SpotSelection(&r.Pod.Spec)
			if what == "" || facts.KeepsFiles(&r.Pod.Spec, c) || speaksOfKeeping(p.Job, r, c) {
				continue
			}
			p.Reportf(r.Pod.At(at), "%s runs on spot nodes (%s), but no volume keeps files and nothing in its command names a checkpoint", r.Name, what)
		}
	},
}

// speaksOfKeeping says whether a command or variable hints at checkpoints, or at storage
// that is not a volume.
func speaksOfKeeping(j *job.Job, r *job.Role, c *corev1.Container) bool {
	hints := func(s string) bool {
		s = strings.ToLower(s)
		return slices.ContainsFunc([]string{"checkpoint", "ckpt", "resume", "snapshot", "s3://", "gs://", "oss://", "hdfs://", "wasb", "abfs"}, func(word string) bool {
			return strings.Contains(s, word)
		})
	}
	return slices.ContainsFunc(c.Command, hints) || slices.ContainsFunc(c.Args, hints) ||
		slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return hints(e.Name) || hints(e.Value) }) ||
		slices.ContainsFunc(facts.CommandsOf(j, r), func(cmd kinds.Command) bool { return slices.ContainsFunc(cmd.Words, hints) })
}
