package kinds

import (
	"crypto/sha1" //nolint:gosec // as the webhooks make their keys
	"encoding/hex"
	"strconv"

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

// mostParts is how many parts of a role are told from each other.
const mostParts = 256

// partsOf are the parts of a role whose names begin so; nil: they are too many to be told from each other. Of a job that
// gets its name later the keys are other ones, and as much its own.
func partsOf(j *job.Job, label, by, name string, parts int) *job.Parts {
	if parts < 1 || parts > mostParts {
		return nil
	}
	p := &job.Parts{Label: label, By: by}
	for i := range parts {
		p.Values = append(p.Values, placeKey(j.Ref.Namespace, j.Ref.Name+"-"+name+strconv.Itoa(i)))
	}
	return p
}

// exclusive keeps the pods of one key in one place, and those of other keys out of it, of other namespaces, too, where
// they are selected; of pods that say their priority by a label, of their own alone.
func exclusive(p *job.Pod, topology, label, ranks string, namespaces *metav1.LabelSelector, at job.Path) {
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
		metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpIn, Values: []string{job.Own}})
	others := []metav1.LabelSelectorRequirement{
		{Key: label, Operator: metav1.LabelSelectorOpExists}, {Key: label, Operator: metav1.LabelSelectorOpNotIn, Values: []string{job.Own}},
	}
	if ranks != "" {
		others = append(others, metav1.LabelSelectorRequirement{Key: ranks, Operator: metav1.LabelSelectorOpIn, Values: []string{job.Own}})
	}
	term("affinity.podAntiAffinity", &affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, others...)
	p.Spec.Affinity = affinity
}
