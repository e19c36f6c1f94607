package cluster

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The parts of Kueue's objects that are read; v1beta1 and v1beta2 differ in the name of
// the cohort only (https://kueue.sigs.k8s.io/docs/reference/kueue.v1beta2/).
type (
	// LocalQueue is the queue of a namespace.
	LocalQueue struct {
		Spec struct {
			ClusterQueue string `json:"clusterQueue"`
			StopPolicy   string `json:"stopPolicy"`
		} `json:"spec"`
		Status QueueStatus `json:"status"`
	}
	// ClusterQueue holds quotas, and may share them with others of its cohort.
	ClusterQueue struct { //nolint:revive // the name of the kind in Kueue
		Spec struct {
			ResourceGroups    []resourceGroup       `json:"resourceGroups"`
			Cohort            string                `json:"cohort"`     // v1beta1
			CohortName        string                `json:"cohortName"` // v1beta2
			NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector"`
			StopPolicy        string                `json:"stopPolicy"`
			QueueingStrategy  string                `json:"queueingStrategy"` // empty: BestEffortFIFO
			// What else has to agree before a job is admitted; of all flavors, or of some.
			AdmissionChecks   []string `json:"admissionChecks"` // v1beta1
			AdmissionStrategy struct {
				AdmissionChecks []struct {
					Name string `json:"name"`
				} `json:"admissionChecks"`
			} `json:"admissionChecksStrategy"`
		} `json:"spec"`
		Status QueueStatus `json:"status"`
	}
	cohort struct {
		Spec struct {
			ParentName     string          `json:"parentName"`
			Parent         string          `json:"parent"` // v1alpha1
			ResourceGroups []resourceGroup `json:"resourceGroups"`
		} `json:"spec"`
	}
	resourceFlavor struct {
		Spec struct {
			NodeLabels  map[string]string   `json:"nodeLabels"`
			NodeTaints  []corev1.Taint      `json:"nodeTaints"`
			Tolerations []corev1.Toleration `json:"tolerations"`
			// TopologyName is the Topology by which places near each other are found; empty: no job can ask for such.
			TopologyName string `json:"topologyName"`
		} `json:"spec"`
	}
	resourceGroup struct {
		CoveredResources []corev1.ResourceName `json:"coveredResources"`
		Flavors          []flavorQuotas        `json:"flavors"`
	}
	flavorQuotas struct {
		Name      string        `json:"name"`
		Resources []flavorQuota `json:"resources"`
	}
	flavorQuota struct {
		Name           corev1.ResourceName `json:"name"`
		NominalQuota   resource.Quantity   `json:"nominalQuota"`
		BorrowingLimit *resource.Quantity  `json:"borrowingLimit"`
		LendingLimit   *resource.Quantity  `json:"lendingLimit"`
	}
	// QueueStatus is what Kueue writes about a queue.
	QueueStatus struct {
		FlavorsReservation []flavorUsage      `json:"flavorsReservation"`
		PendingWorkloads   int32              `json:"pendingWorkloads"`
		Conditions         []metav1.Condition `json:"conditions"`
	}
	flavorUsage struct {
		Name      string `json:"name"`
		Resources []struct {
			Name  corev1.ResourceName `json:"name"`
			Total resource.Quantity   `json:"total"`
		} `json:"resources"`
	}
)

// Cohort is the cohort that the queue is in; empty: none.
func (q *ClusterQueue) Cohort() string { return cmp.Or(q.Spec.CohortName, q.Spec.Cohort) }

// Checks are the admission checks that have to agree, in their order.
func (q *ClusterQueue) Checks() []string {
	out := slices.Clone(q.Spec.AdmissionChecks)
	for _, c := range q.Spec.AdmissionStrategy.AdmissionChecks {
		out = append(out, c.Name)
	}
	return out
}

// Strict says that the queue lets no other pass a job that waits at its head.
func (q *ClusterQueue) Strict() bool { return q.Spec.QueueingStrategy == "StrictFIFO" }

// Inactive is the reason why a queue takes no jobs; empty: it does, or that is not said.
func (s *QueueStatus) Inactive() string {
	for _, c := range s.Conditions {
		if c.Type == "Active" && c.Status == metav1.ConditionFalse {
			return cmp.Or(c.Reason, "inactive")
		}
	}
	return ""
}
