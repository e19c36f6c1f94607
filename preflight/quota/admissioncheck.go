package quota

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
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

// controllerOf is whose an admission check is; empty: that is not in the view.
func controllerOf(s *cluster.Snapshot, check string) string {
	for _, version := range []string{"v1beta2", "v1beta1"} {
		if o, _ := s.Lookup(admissionCheckKind.WithVersion(version), "", check); o != nil {
			controller, _, _ := unstructured.NestedString(o.Object, "spec", "controllerName")
			return controller
		}
	}
	return ""
}
