package launch

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

var imageWithoutSSHD = &check.Check{
	Name:     "image-without-sshd",
	Title:    "the workers have to run sshd, and their image has none",
	Remedy:   "Use an image with openssh-server in it for the workers.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.SSHD.Role != "" },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		c, rel, r := sshdContainer(p.Job, p.Operator.SSHD)
		if c == nil || r.Replicas.Max == 0 || r.Pod.Partial {
			return
		}
		base, bare := bareImage(c.Image)
		if !bare {
			return
		}
		at := r.Pod.At(rel.Child("image"))
		p.Reportf(at, "image %s is %s as it is published, without openssh-server, but %s run sshd in it", facts.Quoted(c.Image), base, facts.Count(r.Replicas.Max, "worker"))
	},
}

// sshdContainer is the container in which the operator starts sshd, unless the job starts
// something of its own there; nil: there is none.
func sshdContainer(j *job.Job, sshd kinds.SSHD) (*corev1.Container, job.Path, *job.Role) {
	r := j.Role(sshd.Role)
	if r == nil {
		return nil, "", nil
	}
	if sshd.Replaces {
		c, k := r.Trainer()
		return c, job.Path("containers").Index(max(k, 0)), r
	}
	if len(r.Pod.Spec.Containers) > 0 {
		if c := &r.Pod.Spec.Containers[0]; len(c.Command) == 0 && len(c.Args) == 0 || startsOnlySSHD(c) {
			return c, "containers[0]", r
		}
	}
	return nil, "", nil
}

// startsOnlySSHD says whether the container calls sshd and nothing that could install it.
func startsOnlySSHD(c *corev1.Container) bool {
	return len(c.Command) > 0 && strings.HasSuffix(c.Command[0], "/sshd")
}

// bareImages are images of Docker Hub and NGC that have no openssh-server: their Dockerfiles install none
// (github.com/docker-library/official-images; gitlab.com/nvidia/container-images/cuda;
// github.com/pytorch/pytorch Dockerfile; github.com/tensorflow/tensorflow tools/dockerfiles);
// NGC's PyTorch has no sshd by the report of those whose MPIJobs ended so with 25.06-py3
// (https://github.com/NVIDIA/cloudai/issues/720), and mpi-operator's maintainers install it on top of
// 23.05-py3 (https://github.com/kubeflow/mpi-operator/issues/580).
var bareImages = []string{
	"alpine", "busybox", "debian", "python", "ubuntu", "rockylinux", "almalinux", "fedora", "continuumio/miniconda3", "condaforge/miniforge3",
	"nvidia/cuda", "pytorch/pytorch", "tensorflow/tensorflow", "nvcr.io/nvidia/pytorch",
}

// bareImage names the published image that has no sshd; a copy in another registry may be
// something else.
func bareImage(image string) (name string, bare bool) {
	name, _, _ = strings.Cut(image, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	for _, registry := range []string{"docker.io/", "index.docker.io/", "registry-1.docker.io/", "library/"} {
		name = strings.TrimPrefix(name, registry)
	}
	return name, slices.Contains(bareImages, name)
}
