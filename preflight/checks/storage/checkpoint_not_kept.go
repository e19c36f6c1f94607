package storage

import (
	"path"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var checkpointNotKept = &check.Check{
	Name:     "checkpoint-not-kept",
	Title:    "checkpoints or results go to a path that ends with the pod",
	Remedy:   "Mount a persistent volume at the path, or write to one that is mounted.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range facts.EachTrainer(p.Job) {
			for _, o := range facts.OptionsOf(p.Job, r) {
				if !keptOption.MatchString(o.Name) && !(modelOption.MatchString(o.Name) && strings.HasPrefix(o.Value, "/tmp/")) {
					continue
				}
				if where := lostAt(&r.Pod.Spec, c, o.Value); where != "" {
					p.Reportf(o.At, "%s of %s is in %s, which is deleted with the pod", o, facts.Whose(c.Name, r.Name), where)
					break
				}
			}
		}
	},
}

// keptOption are options that name what somebody wants to keep. Names that may as well be
// inputs (model_dir, data_dir, log_dir, load) are left out.
var keptOption = regexp.MustCompile(`^(output|save|ckpt|checkpoints?|snapshot|train|results?)-?(dir|dirs|path|folder|to|directory|root)$|^(save|save-checkpoint|checkpoint-output-dir|model-output-dir|model-save-path|save-model-path|save-folder)$`)

// modelOption names a model that may be read or written; below /tmp of a fresh container
// there is nothing to read.
var modelOption = regexp.MustCompile(`^(saved-)?model-(path|dir)$`)

// lostAt is where a path lies that goes with the pod; empty: elsewhere, or not known.
func lostAt(spec *corev1.PodSpec, c *corev1.Container, file string) string {
	if file == "" || strings.Contains(file, "://") || strings.HasPrefix(file, "~") || !strings.Contains(file, "/") {
		return ""
	}
	if file = known(file); file == "" || facts.MountsBelow(c, file) {
		return ""
	}
	if !strings.HasPrefix(file, "/") {
		switch {
		case strings.HasPrefix(c.WorkingDir, "/"):
			file = path.Join(c.WorkingDir, file)
		case facts.KeepsFiles(spec, c):
			return "" // the image's own working directory may lie below a mount
		default:
			return "the container itself"
		}
	}
	v, ok := facts.MountOf(spec, c, path.Clean(file))
	switch {
	case !ok:
		return ""
	case v == nil:
		return "the container itself"
	case facts.LastingOf(v) == facts.Gone:
		return "volume " + v.Name + " (" + sourceOf(v) + ")"
	}
	return ""
}

// known is the part of a path before the first placeholder, up to a slash; empty where that
// says nothing.
func known(file string) string {
	open, _, found := job.Placeholder(file)
	if !found {
		return file
	}
	before, _, _ := strings.Cut(file, open)
	return strings.TrimRight(before[:strings.LastIndexByte(before, '/')+1], "/")
}

// sourceOf names what a volume that goes with its pod is made of.
func sourceOf(v *corev1.Volume) string {
	switch {
	case v.Ephemeral != nil:
		return "an ephemeral claim"
	case v.EmptyDir == nil && v.VolumeSource != (corev1.VolumeSource{}):
		return "read-only"
	case v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory:
		return "an emptyDir in memory"
	}
	return "an emptyDir"
}
