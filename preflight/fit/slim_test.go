package fit_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/test/build"
)

// wholePod is a pod with everything that pods have, some of it by chance.
func wholePod(c *town) *corev1.Pod {
	p := c.pod("n01")
	always := corev1.ContainerRestartPolicyAlways
	p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PASSWORD", Value: "hunter2"}}
	p.Spec.Containers[0].Args = []string{"hunter2"}
	p.Annotations = map[string]string{"note": "hunter2", "batch.kubernetes.io/job-completion-index": "3"}
	p.Status.Message = "hunter2"
	if c.r.IntN(2) == 0 {
		p.Spec.InitContainers = []corev1.Container{
			{Name: "side", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1500m")}}, Ports: []corev1.ContainerPort{{HostPort: 81, Protocol: corev1.ProtocolUDP, HostIP: "10.0.0.1"}}},
			{Name: "first", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"memory": resource.MustParse("3G"), "cpu": resource.MustParse("100")}}},
		}
		p.Spec.Overhead = corev1.ResourceList{"memory": resource.MustParse("120Mi")}
	}
	if c.r.IntN(3) == 0 { // resized in place: it holds more than it asks for
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("64")}}}}
	}
	if c.r.IntN(4) == 0 {
		p.Spec.HostNetwork = true
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: 29500})
	}
	if c.r.IntN(4) == 0 {
		metav1.SetMetaDataAnnotation(&p.ObjectMeta, corev1.MirrorPodAnnotationKey, "x")
	}
	if c.r.IntN(3) == 0 {
		p.Spec.Volumes = []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "token", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "hunter2"}}},
			{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
			{Name: "disk", VolumeSource: corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}}},
		}
	}
	switch c.r.IntN(3) {
	case 0:
		p.Spec.PriorityClassName = "high"
	case 1:
		most := int32(1000)
		p.Spec.PriorityClassName, p.Spec.Priority = "high", &most
	}
	if c.r.IntN(3) == 0 {
		build.OwnedBy("PyTorchJob", "train")(p)
	}
	if c.r.IntN(4) == 0 {
		now := metav1.NewTime(build.Taken)
		p.DeletionTimestamp = &now
	}
	return p
}

func TestALeanPodCountsAsTheWholeOne(t *testing.T) {
	c := &town{r: rand.New(rand.NewPCG(4, 4))}
	lighter := 0
	for i := range 2000 {
		p := wholePod(c)
		lean := cluster.LeanPod(p)
		text, err := json.Marshal(lean)
		if err != nil {
			t.Fatal(err)
		}
		read := &corev1.Pod{}
		if err := json.Unmarshal(text, read); err != nil {
			t.Fatal(err)
		}
		p.Annotations = lean.Annotations // all others are left out on purpose
		if !cluster.PodOf(read).Equal(cluster.PodOf(p)) {
			t.Fatalf("pod %d: the lean one counts otherwise than\n%+v\nit is\n%s", i, p, text)
		}
		if strings.Contains(string(text), "hunter2") {
			t.Fatalf("pod %d tells a secret: %s", i, text)
		}
		if whole, _ := json.Marshal(p); len(text) < len(whole) {
			lighter++
		}
	}
	if lighter < 1900 {
		t.Errorf("%d of 2000 lean pods are lighter than they were", lighter)
	}
}

func TestPodsThatCountOtherwiseAreNotEqual(t *testing.T) {
	changes := map[string]func(*corev1.Pod){
		"name":       func(p *corev1.Pod) { p.Name = "q" },
		"namespace":  func(p *corev1.Pod) { p.Namespace = "q" },
		"node":       func(p *corev1.Pod) { p.Spec.NodeName = "q" },
		"label":      func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} },
		"annotation": func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "b"} },
		"request":    build.Asks("3"),
		"host port":  build.HostPort(99),
		"owner":      build.OwnedBy("DaemonSet", "d"),
		"deletion":   func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: build.Taken} },
		"end":        build.Phase(corev1.PodSucceeded),
		"anti-affinity": func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone"}}}}
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			a, b := build.Pod("p", build.On("n")), build.Pod("p", build.On("n"))
			if !cluster.PodOf(a).Equal(cluster.PodOf(b)) {
				t.Fatal("equal pods are not equal")
			}
			change(b)
			if cluster.PodOf(a).Equal(cluster.PodOf(b)) {
				t.Errorf("another %s, and the pods are equal", name)
			}
		})
	}
}
