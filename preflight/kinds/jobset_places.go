package kinds

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// jobSetMarksOf are the annotations by which a role asks for places, those that count first before the others: of its Jobs,
// of the JobSet, and of its pods, which JobSet's webhook reads as if it had written them itself (sigs.k8s.io/jobset v0.12.0
// pkg/controllers/jobset_controller.go, labelAndAnnotateObject; pkg/webhooks/pod_webhook.go, Default).
func jobSetMarksOf(j *job.Job, r *job.Role) (at []job.Path, marks []map[string]any) {
	template := r.Path.Child("template")
	at = []job.Path{template.Child("metadata", "annotations"), "metadata.annotations", template.Child("spec", "template", "metadata", "annotations")}
	for _, at := range at {
		m, _ := j.Field(at).(map[string]any)
		marks = append(marks, m)
	}
	return at, marks
}

// ExclusiveTopology is the label of nodes by which JobSet gives every Job of a role a place to itself, and where that is
// asked for; empty: it does not, or the nodes were labelled by hand.
func ExclusiveTopology(j *job.Job, r *job.Role) (key string, at job.Path) {
	if j.Ref.Kind != "JobSet" {
		return "", ""
	}
	places, all := jobSetMarksOf(j, r)
	for i, marks := range all {
		if _, byHand := marks[jobSetNodeSelector]; byHand {
			return "", ""
		}
		if text, _ := marks[jobSetExclusive].(string); text != "" && key == "" {
			key, at = text, places[i].Key(jobSetExclusive)
		}
	}
	return key, at
}

// jobSetNodes sends the pods of each Job to the nodes that were labelled with its name, where the JobSet or the role says
// that they were (there, addNamespacedJobNodeSelector and addTaintToleration).
func jobSetNodes(j *job.Job) {
	for r := range j.EachRole() {
		places, all := jobSetMarksOf(j, r)
		for k, marks := range all[:2] {
			_, byHand := marks[jobSetNodeSelector]
			if _, own := all[0][jobSetExclusive]; !byHand || marks[jobSetExclusive] == nil && !own {
				continue
			}
			selectJobNodes(j, r, places[k].Key(jobSetNodeSelector))
			break
		}
	}
}

func selectJobNodes(j *job.Job, r *job.Role, at job.Path) {
	named := corev1.NodeSelectorRequirement{Key: jobSetNodeLabel, Operator: corev1.NodeSelectorOpExists}
	if jobs := r.Jobs; j.Ref.Namespace != "" && j.Source.GetName() != "" && jobs <= mostParts {
		named.Operator = corev1.NodeSelectorOpIn
		for i := range jobs {
			named.Values = append(named.Values, j.Ref.Namespace+"_"+j.Ref.Name+"-"+r.Name+"-"+strconv.Itoa(i))
		}
	}
	requireNodes(&r.Pod, named, at)
	inject(&r.Pod, job.Path("tolerations").Index(len(r.Pod.Spec.Tolerations)), at)
	r.Pod.Spec.Tolerations = append(slices.Clip(r.Pod.Spec.Tolerations), corev1.Toleration{
		Key: jobSetNodeTaint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
	})
	if (r.Jobs > 1 || len(named.Values) == 0) && j.Gang.Together == "" {
		j.Gang.Together = "the pods of each Job of " + r.Name + " lie on the nodes that bear its name"
	}
}

// requireNodes leaves pods the nodes of which this is true, beside what they require themselves: terms are alternatives.
func requireNodes(p *job.Pod, this corev1.NodeSelectorRequirement, at job.Path) {
	p.Spec.Affinity = podspec.AlsoRequired(p.Spec.Affinity, []corev1.NodeSelectorRequirement{this})
	terms := job.Path("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms")
	for i, t := range podspec.NodeAffinity(&p.Spec).NodeSelectorTerms {
		if last := len(t.MatchExpressions) - 1; last >= 0 { // an empty term selects no node, and stays empty
			inject(p, terms.Index(i).Child("matchExpressions").Index(last), at)
		}
	}
}

// jobSetPlaces ties the pods of each Job to the place that it has to itself, where its role asks for one (there,
// setExclusiveAffinities): Jobs of another priority, or of roles that ask for none, may be there too. Followers go where
// their leader is.
func jobSetPlaces(j *job.Job, all []replicatedJob, asks func(i int) (topology string, at job.Path)) {
	topologies, asked := make([]string, len(j.Roles)), false
	for i := range j.Roles {
		role := &j.Roles[i]
		var at job.Path
		if topologies[i], at = asks(i); topologies[i] != "" {
			exclusive(&role.Pod, topologies[i], jobSetJobKey, jobSetPriority, &metav1.LabelSelector{}, at)
			asked = true
			continue
		}
		m := &role.Pod.Marks
		m.Some = slices.DeleteFunc(slices.Clone(m.Some), func(label string) bool { return label == jobSetPriority })
	}
	for i := range j.Roles {
		jobs := 1
		if n := all[i].Replicas; n != nil {
			jobs = int(*n)
		}
		p := partsOf(j, jobSetJobKey, jobSetExclusive, all[i].Name+"-", jobs)
		if !asked || p == nil {
			j.Roles[i].Parts = jobSetParts(j, &j.Roles[i], all[i].Name, jobs)
			continue
		}
		if j.Roles[i].Parts = p; topologies[i] != "" {
			p.PriorityLabel = jobSetPriority
		}
		if m := &j.Roles[i].Pod.Marks; jobs == 1 && j.Ref.Namespace != "" && j.Source.GetName() != "" {
			m.Labels[jobSetJobKey] = p.Values[0]
			m.Varies = slices.DeleteFunc(slices.Clone(m.Varies), func(label string) bool { return label == jobSetJobKey })
		}
	}
}

// jobSetParts are the Jobs of a role whose pods choose their neighbours by a label that those of a Job have in common, in
// matchLabelKeys; nil: they do not, or too many Jobs are to be told from each other.
func jobSetParts(j *job.Job, r *job.Role, name string, jobs int) *job.Parts {
	const index = jobSetPrefix + "job-index"
	if jobs < 1 || jobs > mostParts {
		return nil
	}
	spec := &r.Pod.Spec
	var keys []string
	for _, t := range slices.Concat(podspec.PodAffinity(spec), podspec.AntiAffinity(spec)) {
		keys = slices.Concat(keys, t.MatchLabelKeys, t.MismatchLabelKeys)
	}
	for _, c := range spec.TopologySpreadConstraints {
		keys = append(keys, c.MatchLabelKeys...)
	}
	for _, key := range keys {
		switch key {
		case index:
			p := &job.Parts{Label: index}
			for i := range jobs {
				p.Values = append(p.Values, strconv.Itoa(i))
			}
			return p
		case jobSetJobKey:
			return partsOf(j, jobSetJobKey, "", name+"-", jobs)
		}
	}
	return nil
}
