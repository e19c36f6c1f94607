package quota

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// The admission checks that Kueue brings along
// (https://kueue.sigs.k8s.io/docs/concepts/admission_check/provisioning_request/,
// https://kueue.sigs.k8s.io/docs/concepts/multikueue/).
const (
	provisioningCheck = "kueue.x-k8s.io/provisioning-request"
	multiKueueCheck   = "kueue.x-k8s.io/multikueue"
)

var admissionCheckKind = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "AdmissionCheck"}

// Provisioner is what brings nodes for a gang before its queue lets it in, or takes it to those of another cluster: an
// admission check, unless it is known to be of another sort. Empty: there is none, or the gang has been let in.
func Provisioner(s *cluster.Snapshot, g gang.Gang) string {
	if s == nil || s.Rules() == nil {
		return ""
	}
	g = defaulted(s, g)
	if g.Queue == "" || g.System != gang.Kueue || g.Exists && !g.Paused {
		return ""
	}
	local := s.LocalQueue(g.Namespace, g.Queue)
	if local == nil {
		return ""
	}
	queue := s.Rules().Cluster[local.Spec.ClusterQueue]
	if queue == nil {
		return ""
	}
	for _, name := range queue.Checks() {
		switch controllerOf(s, name) {
		case provisioningCheck:
			return "the admission check " + name
		case "":
			return "the admission check " + name + ", if it provisions,"
		case multiKueueCheck:
			return "another cluster (MultiKueue, admission check " + name + ")"
		}
	}
	return ""
}

// checkActive reports an admission check that is not there or not active: its ClusterQueue is not active then, whatever its
// status still says (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/cache/scheduler/clusterqueue.go,
// inactiveReason).
func (o *check) checkActive(queue, name string) {
	for _, version := range checkVersions {
		switch check, is := o.s.Lookup(admissionCheckKind.WithVersion(version), "", name); {
		case is == job.Present && inactive(check):
			o.closedQueue("ClusterQueue", "", queue, "spec.admissionChecks", "its admission check %s is not active", name)
			return
		case is == job.Present:
			return
		}
	}
	if o.s.Holds(cluster.ResourceOf(admissionCheckKind.WithVersion(""))) {
		o.closedQueue("ClusterQueue", "", queue, "spec.admissionChecks", "its admission check %s does not exist", name)
		return
	}
	o.doubt("the admission check %s of ClusterQueue %s was not read; whether it is active, and whether the pods run in this cluster, is not known", name, queue)
}

// inactive: the condition Active is there and not true. Whether one without it is new or written by hand is not known.
func inactive(check *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(check.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == "Active" && condition["status"] != "True"
	})
}

// checkVersions are the versions of the API that an admission check is held in.
var checkVersions = []string{"v1beta2", "v1beta1"}

// controllerOf is whose an admission check is; empty: that is not in the view.
func controllerOf(s *cluster.Snapshot, check string) string {
	for _, version := range checkVersions {
		if o, _ := s.Lookup(admissionCheckKind.WithVersion(version), "", check); o != nil {
			controller, _, _ := unstructured.NestedString(o.Object, "spec", "controllerName")
			return controller
		}
	}
	return ""
}
