package cluster

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
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
	// workload is what Kueue makes of a job; with an admission, it holds quota.
	workload struct {
		Metadata struct {
			OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
		} `json:"metadata"`
		Spec struct {
			PodSets []podCount `json:"podSets"`
		} `json:"spec"`
		Status struct {
			Admission struct {
				ClusterQueue      string             `json:"clusterQueue"`
				PodSetAssignments []podSetAssignment `json:"podSetAssignments"`
			} `json:"admission"`
			ReclaimablePods []podCount         `json:"reclaimablePods"`
			Conditions      []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	podCount struct {
		Name  string `json:"name"`
		Count int32  `json:"count"`
	}
	podSetAssignment struct {
		Name          string                         `json:"name"`
		Flavors       map[corev1.ResourceName]string `json:"flavors"`
		ResourceUsage corev1.ResourceList            `json:"resourceUsage"`
		Count         *int32                         `json:"count"`
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

// Silent says that Kueue's status of the queue does not tell what is used of it: it was left out, or is yet to be written.
func (q *ClusterQueue) Silent() bool { return q.Status.FlavorsReservation == nil }

// holds says whether quota is reserved for the workload.
func (w *workload) holds() bool {
	is := func(condition string) bool { return meta.IsStatusConditionTrue(w.Status.Conditions, condition) }
	return is("QuotaReserved") && !is("Finished")
}

// QuotaReserved says that a job has a Workload of its own for which quota is reserved.
func (s *Snapshot) QuotaReserved(namespace, uid string) bool {
	for _, w := range In[workload](s.objects, WorkloadKind, namespace) {
		if uid != "" && w.holds() && slices.ContainsFunc(w.Metadata.OwnerReferences, func(owner metav1.OwnerReference) bool { return string(owner.UID) == uid }) {
			return true
		}
	}
	return false
}

// usage adds up what the workload holds of quota, without the pods that it has given back
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/workload/workload.go, totalRequestsFromAdmission and
// podSetsCountsAfterReclaim; a finished one is in no queue's cache).
func (w *workload) usage(into map[FlavorResource]int64) {
	if !w.holds() {
		return
	}
	for _, a := range w.Status.Admission.PodSetAssignments {
		pods := countOfSet(w.Spec.PodSets, a.Name)
		count := int64(ptr.Deref(a.Count, pods))
		for name, amount := range a.ResourceUsage {
			n := max(0, job.InBaseUnits(name, amount))
			if left := max(0, int64(pods)-int64(countOfSet(w.Status.ReclaimablePods, a.Name))); left < count {
				n = n / count * left
			}
			fr := FlavorResource{a.Flavors[name], name}
			into[fr] = saturate.Add(into[fr], n)
		}
	}
}

// countOfSet is how many pods of a set there are.
func countOfSet(sets []podCount, name string) (count int32) {
	for _, set := range sets {
		if set.Name == name {
			count = set.Count
		}
	}
	return count
}

// Inactive is the reason why a queue takes no jobs; empty: it does, or that is not said.
func (s *QueueStatus) Inactive() string {
	for _, c := range s.Conditions {
		if c.Type == "Active" && c.Status == metav1.ConditionFalse {
			return cmp.Or(c.Reason, "inactive")
		}
	}
	return ""
}
