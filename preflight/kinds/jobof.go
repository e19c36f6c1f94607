package kinds

import "k8s.io/apimachinery/pkg/labels"

// jobLabels hold the name of the job that a pod belongs to, the widest first
// (https://jobset.sigs.k8s.io/docs/concepts/, the API packages of Kubeflow's training operator, LeaderWorkerSet, Volcano and KubeRay,
// https://kubernetes.io/docs/reference/labels-annotations-taints/#batch-kubernetes-io-job-name).
var jobLabels = [...]struct {
	label, kind string // no kind: several kinds are named by the label
	part        bool   // what is named may be made for a job: the cluster of a RayJob, a Job of a JobSet
}{
	{jobSetName, "JobSet", false},
	{jobNameLabel, "", false},
	{lwsName, "LeaderWorkerSet", false},
	{volcanoJobName, "", false},
	{frameworkName, "Framework", false},
	{rayOriginName, "", false},
	{rayClusterLabel, "RayCluster", true},
	{batchJobName, "", true},
	{legacyJobName, "", true},
}

// JobOf is the job that the labels of a pod name: its kind, where the label says it, and whether nothing wider may be meant.
// No name: they name none.
func JobOf(pod labels.Labels) (kind, name string, whole bool) {
	for _, l := range jobLabels {
		if name = pod.Get(l.label); name == "" {
			continue
		}
		if kind = l.kind; l.label == rayOriginName {
			kind = pod.Get(rayOriginKind)
		}
		return kind, name, !l.part
	}
	return "", "", false
}
