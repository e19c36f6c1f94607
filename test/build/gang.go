package build

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Group is a number of pods of a role.
func Group(name string, count int, options ...PodOption) gang.Group {
	p := Pod("template", options...)
	return gang.Group{Name: name, Count: count, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}}
}

// Gang is the pods of job train in namespace default.
func Gang(groups ...gang.Group) gang.Gang {
	return gang.Gang{Name: "train", Namespace: "default", Groups: groups}
}

// Workers is a gang of equal workers with so many GPUs each.
func Workers(count int, each string) gang.Gang {
	return Gang(Group("Worker", count, Asks(each)))
}

// Within puts a gang into a namespace, with the paths that a kind would give it.
func Within(namespace string, g gang.Gang) gang.Gang {
	g.Namespace = namespace
	for i := range g.Groups {
		g.Groups[i].Path = job.Path("spec.roles").Key(g.Groups[i].Name).Child("replicas")
		g.Groups[i].Pod.Path = job.Path("spec.roles").Key(g.Groups[i].Name).Child("template", "spec")
	}
	return g
}

// Queued puts a gang into namespace ml and there into a queue.
func Queued(system gang.QueueSystem, queue string, g gang.Gang) gang.Gang {
	g = Within("ml", g)
	g.Queue, g.System, g.At = queue, system, "metadata.labels.queue"
	return g
}

// Selects makes a pod choose nodes by a label.
func Selects(key, value string) PodOption {
	return Spec(func(s *corev1.PodSpec) {
		if s.NodeSelector == nil {
			s.NodeSelector = map[string]string{}
		}
		s.NodeSelector[key] = value
	})
}

// Tolerates makes a pod tolerate all taints of a key.
func Tolerates(key string) PodOption {
	return Spec(func(s *corev1.PodSpec) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	})
}

// PriorityClass names the priority class of a pod.
func PriorityClass(name string) PodOption {
	return Spec(func(s *corev1.PodSpec) { s.PriorityClassName = name })
}

// Mounts makes a pod use claims.
func Mounts(claims ...string) PodOption {
	return Spec(func(s *corev1.PodSpec) {
		for _, claim := range claims {
			s.Volumes = append(s.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}})
		}
	})
}
