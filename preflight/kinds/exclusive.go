package kinds

import (
	"crypto/sha1" //nolint:gosec // as the webhooks make their keys
	"encoding/hex"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// placeKey is the key of pods that have a place to themselves: of LeaderWorkerSet by their leader (v0.7.0
// pkg/utils/utils.go, Sha1Hash), of JobSet by their Job (v0.10.1 pkg/controllers/jobset_controller.go, jobHashKey).
func placeKey(namespace, name string) string {
	sum := sha1.Sum([]byte(namespace + "/" + name)) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}

// exclusive keeps the pods of one key in one place, and those of other keys out of it, of other namespaces, too, where
// they are selected. An empty key stands for one that cannot be told of a role as a whole.
func exclusive(p *job.Pod, topology, label, key string, namespaces *metav1.LabelSelector, at job.Path) {
	affinity := p.Spec.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.PodAffinity == nil {
		affinity.PodAffinity = &corev1.PodAffinity{}
	}
	if affinity.PodAntiAffinity == nil {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	term := func(rel job.Path, to *[]corev1.PodAffinityTerm, all ...metav1.LabelSelectorRequirement) {
		inject(p, rel.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(len(*to)), at)
		*to = append(*to, corev1.PodAffinityTerm{TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchExpressions: all}, NamespaceSelector: namespaces})
	}
	term("affinity.podAffinity", &affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpIn, Values: []string{key}})
	term("affinity.podAntiAffinity", &affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpExists},
		metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpNotIn, Values: []string{key}})
	p.Spec.Affinity = affinity
}
