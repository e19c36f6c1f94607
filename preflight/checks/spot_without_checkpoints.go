package checks

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var spotWithoutCheckpoints = &check.Check{
	Name:     "spot-without-checkpoints",
	Title:    "pods on spot nodes keep nothing that survives them",
	Doc:      readme("spot-without-checkpoints"),
	Remedy:   "Write checkpoints to a persistent volume or a bucket, or select nodes that stay.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) error {
		eachTrainer(p.Job, func(r *job.Role, c *corev1.Container) {
			at, what := spotSelection(&r.Pod.Spec)
			if what == "" || keepsFiles(&r.Pod.Spec, c) || speaksOfKeeping(p.Job, r, c) {
				return
			}
			p.Reportf(r.Pod.At(at), "%s runs on spot nodes (%s), but no volume keeps files and nothing in its command names a checkpoint", r.Name, what)
		})
		return nil
	},
}

// spotLabels are the labels of nodes that the cloud may take back, with the value that
// says so. Sources: karpenter.sh, docs.aws.amazon.com/eks (managed node groups),
// cloud.google.com/kubernetes-engine (spot-vms), learn.microsoft.com/azure/aks (spot-node-pool).
var spotLabels = map[string]string{
	"karpenter.sh/capacity-type":            "spot",
	"eks.amazonaws.com/capacityType":        "SPOT",
	"cloud.google.com/gke-spot":             "true",
	"cloud.google.com/gke-preemptible":      "true",
	"kubernetes.azure.com/scalesetpriority": "spot",
}

// spotSelection is where a pod selects spot nodes and nothing else, and by which label.
func spotSelection(spec *corev1.PodSpec) (job.Path, string) {
	for _, key := range slices.Sorted(maps.Keys(spotLabels)) {
		if v, ok := spec.NodeSelector[key]; ok && v == spotLabels[key] {
			return job.Path("nodeSelector").Key(key), key + "=" + v
		}
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return "", ""
	}
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 {
		return "", ""
	}
	for i, e := range terms[0].MatchExpressions {
		if v, ok := spotLabels[e.Key]; ok && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 && e.Values[0] == v {
			at := job.Path("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions").Index(i)
			return at, e.Key + "=" + v
		}
	}
	return "", ""
}

// speaksOfKeeping says whether a command or variable hints at checkpoints, or at storage
// that is not a volume.
func speaksOfKeeping(j *job.Job, r *job.Role, c *corev1.Container) bool {
	hints := func(s string) bool {
		s = strings.ToLower(s)
		return slices.ContainsFunc([]string{"checkpoint", "ckpt", "resume", "snapshot", "s3://", "gs://", "oss://", "hdfs://", "wasb", "abfs"}, func(word string) bool {
			return strings.Contains(s, word)
		})
	}
	for _, words := range [][]string{c.Command, c.Args} {
		if slices.ContainsFunc(words, hints) {
			return true
		}
	}
	for _, e := range c.Env {
		if hints(e.Name) || hints(e.Value) {
			return true
		}
	}
	for _, cmd := range commandsOf(j, r) {
		if slices.ContainsFunc(cmd.Words, hints) {
			return true
		}
	}
	return false
}
