package control

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// upgradeMarks are what those who upgrade or maintain nodes write on a node while they work on it.
var upgradeMarks = []struct {
	who   string
	key   string
	value string // part of the value; empty: any
	taint bool   // else an annotation or a label
}{
	// https://github.com/kubernetes-sigs/cluster-api/blob/v1.10.0/api/v1beta1/common_types.go, NodeOutdatedRevisionTaint
	{"Cluster API replaces it", "node.cluster.x-k8s.io/outdated-revision", "", true},
	// https://github.com/kubernetes/kops/blob/v1.32.0/pkg/instancegroups/instancegroups.go, rollingUpdateTaintKey
	{"kOps replaces it", "kops.k8s.io/scheduled-for-update", "", true},
	// https://github.com/aws/aws-node-termination-handler/blob/v1.25.0/pkg/node/node.go, ScheduledMaintenanceTaint
	{"AWS maintains the machine", "aws-node-termination-handler/scheduled-maintenance", "", true},
	// https://cloud.google.com/kubernetes-engine/docs/concepts/handle-disruption-gpu-tpu
	{"GKE maintains the machine", "cloud.google.com/active-node-maintenance", "ONGOING", false},
	// https://github.com/kubernetes/ingress-gce/blob/v1.33.0/pkg/utils/utils.go, GKEUpgradeOperation
	{"GKE upgrades it", "gke-current-operation", "UPGRADE_NODES", false},
	// https://learn.microsoft.com/azure/aks/upgrade-cluster, undrainable nodes
	{"AKS upgrades it", "kubernetes.azure.com/upgrade-status", "", false},
	// https://kured.dev/docs/configuration/, --annotate-nodes
	{"kured reboots it", "weave.works/kured-reboot-in-progress", "", false},
	// https://github.com/openshift/machine-config-operator/blob/release-4.18/pkg/daemon/constants/constants.go
	{"the machine-config operator updates it", "machineconfiguration.openshift.io/state", "Working", false},
}

// UpgradeMark says who upgrades a node, by which mark; empty: nothing on it says so. The system-upgrade-controller
// and managed node groups of EKS write none while they work: what the node runs before and after tells.
func UpgradeMark(node *corev1.Node) string {
	for _, m := range upgradeMarks {
		if m.taint {
			for _, t := range node.Spec.Taints {
				if t.Key == m.key {
					return m.who + " (taint " + t.Key + ")"
				}
			}
			continue
		}
		for _, all := range []map[string]string{node.Annotations, node.Labels} {
			if v, ok := all[m.key]; ok && strings.Contains(v, m.value) {
				return m.who + " (" + m.key + ": " + strings.TrimSpace(v) + ")"
			}
		}
	}
	return ""
}

var ruleNodeUpgrade = weak(rule("node-upgrade", "the node is being upgraded", "node-lost", signature.General,
	signature.Platform, signature.Helps,
	"A tool that upgrades or maintains nodes works on this node, by its own mark.", "That this ended the pod: marks may stand long before the node is drained.",
	"Start the job again from its last checkpoint; the upgrade goes through the nodes one after the other.\nAsk the administrator when the rest of the nodes follow."))
