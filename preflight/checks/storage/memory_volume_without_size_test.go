package storage

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// TestManyMountsTakeTimeAsTheirNumber: the square of this number is minutes.
func TestManyMountsTakeTimeAsTheirNumber(t *testing.T) {
	const many = 150_000
	j := &job.Job{Ref: job.Ref{Kind: "Job", APIVersion: "batch/v1", Name: "j"}, Roles: []job.Role{{Name: "pod", Replicas: job.Exactly(1)}}}
	spec := &j.Roles[0].Pod.Spec
	c := corev1.Container{Name: "main"}
	for i := range many {
		name := "v" + strconv.Itoa(i)
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
	}
	spec.Volumes[many-1].EmptyDir = &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
	spec.Containers = []corev1.Container{c}
	set, err := check.NewSet(memoryVolumeWithoutSize)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []check.Outcome, 1)
	go func() { done <- set.Run(t.Context(), check.Input{Job: j}) }()
	select {
	case out := <-done:
		if got := len(out[0].Findings); got != 1 {
			t.Errorf("%d findings; want 1, of the last volume", got)
		}
	case <-time.After(20 * time.Second):
		t.Error("took longer than 20s")
	}
}
