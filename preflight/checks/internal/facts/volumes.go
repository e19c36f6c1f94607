package facts

import (
	"iter"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// EachTrainer are the roles with pods whose container that trains is seen whole: what it does not mount or write, nothing
// adds.
func EachTrainer(j *job.Job) iter.Seq2[*job.Role, *corev1.Container] {
	return func(yield func(*job.Role, *corev1.Container) bool) {
		for r := range j.EachRole() {
			if c, _ := r.Trainer(); c != nil && !r.Pod.Partial && r.Replicas.Max > 0 && !yield(r, c) {
				return
			}
		}
	}
}

// Lasting says what becomes of the files of a volume when its pod goes.
type Lasting int

const (
	unknownLasting Lasting = iota // unknown from here: a path of the node may be a network mount
	Gone                          // they go with the pod
	Kept                          // they are still there
)

// LastingOf judges a volume by its source.
func LastingOf(v *corev1.Volume) Lasting {
	s := v.VolumeSource
	switch {
	case s.EmptyDir != nil, s.Ephemeral != nil, s.ConfigMap != nil, s.Secret != nil, s.DownwardAPI != nil, s.Projected != nil, s.Image != nil:
		return Gone
	case s == (corev1.VolumeSource{}):
		return Gone // the API server makes an emptyDir of it
	case s.HostPath != nil:
		return unknownLasting
	default:
		return Kept
	}
}

// MountOf is the volume that holds a path inside a container: the mount with the longest
// path above it. It is nil where the path lies in the container itself; ok is false where
// the mount's volume is declared nowhere (an operator may add it).
func MountOf(spec *corev1.PodSpec, c *corev1.Container, file string) (v *corev1.Volume, ok bool) {
	best, name := "", ""
	for _, m := range c.VolumeMounts {
		at := path.Clean(m.MountPath)
		if (file == at || strings.HasPrefix(file, strings.TrimSuffix(at, "/")+"/")) && len(at) > len(best) {
			best, name = at, m.Name
		}
	}
	if name == "" {
		return nil, true
	}
	v = VolumeOf(spec, name)
	return v, v != nil
}

// KeepsFiles says whether a container mounts anything that may outlast its pod.
func KeepsFiles(spec *corev1.PodSpec, c *corev1.Container) bool {
	for _, m := range c.VolumeMounts {
		v, ok := MountOf(spec, c, path.Clean(m.MountPath))
		if !ok || v != nil && LastingOf(v) != Gone {
			return true
		}
	}
	return false
}

// MountsBelow says whether something is mounted further down than a path.
func MountsBelow(c *corev1.Container, file string) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		return strings.HasPrefix(m.MountPath, strings.TrimSuffix(file, "/")+"/")
	})
}

// MountsAround says whether something is mounted at a directory, above it or below it.
func MountsAround(c *corev1.Container, dir string) bool {
	dir = path.Clean(dir) + "/"
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		at := strings.TrimSuffix(path.Clean(m.MountPath), "/") + "/"
		return strings.HasPrefix(dir, at) || strings.HasPrefix(at, dir)
	})
}

// VolumeOf is the volume of that name; nil where the pod declares none.
func VolumeOf(spec *corev1.PodSpec, name string) *corev1.Volume {
	for i := range spec.Volumes {
		if spec.Volumes[i].Name == name {
			return &spec.Volumes[i]
		}
	}
	return nil
}
