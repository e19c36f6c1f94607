package storage

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var claimNotReady = &check.Check{
	Name:     "claim-not-ready",
	Title:    "a volume claim that the pods mount has no volume",
	Remedy:   "Look at the claim's events: kubectl describe pvc.",
	Severity: finding.Warning, Since: "0.1",
	Stops: true,
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		for _, u := range facts.ClaimsOf(p) {
			if why := notReady(p, u.Claim); why != "" {
				p.Reportf(u.At, "claim %q %s; %s cannot start before it is bound", u.Claim.Name, why, facts.PodsOf(u.Role))
			}
		}
	},
}

// notReady is why a claim cannot be mounted; empty: it can, will be when a pod comes, or
// unknown.
func notReady(p *check.Pass, claim *corev1.PersistentVolumeClaim) string {
	switch {
	case claim.DeletionTimestamp != nil:
		return "is being deleted"
	case claim.Status.Phase == corev1.ClaimLost:
		return fmt.Sprintf("has lost its volume %s", claim.Spec.VolumeName)
	case claim.Status.Phase != corev1.ClaimPending || claim.Spec.StorageClassName == nil || *claim.Spec.StorageClassName == "":
		return ""
	}
	name := *claim.Spec.StorageClassName
	class, there := p.Cluster.Lookup(storagev1.SchemeGroupVersion.WithKind("StorageClass"), "", name)
	switch there {
	case job.Absent:
		if claim.Spec.VolumeName != "" {
			return "" // a volume made by hand needs no class
		}
		return fmt.Sprintf("is Pending, and its storage class %q does not exist", name)
	case job.Present:
		if mode, _, _ := unstructured.NestedString(class.Object, "volumeBindingMode"); mode != string(storagev1.VolumeBindingWaitForFirstConsumer) {
			return fmt.Sprintf("is Pending, although its storage class %q makes volumes at once", name)
		}
	case job.Unknown:
	}
	return ""
}
