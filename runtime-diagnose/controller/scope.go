package controller

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// A cluster's plain Jobs are mostly no training: backups, hooks of Helm, runs of CronJobs. Unless the
// configuration names the kind, a Job is looked at where it asks for a device, or says that it trains or
// queues; and wherever somebody asks by annotation.

// trainingLabels are labels of queues and training operators, by their beginning.
var trainingLabels = []string{"kueue.x-k8s.io/", "training.kubeflow.org/", "trainer.kubeflow.org/", "volcano.sh/", "scheduling.x-k8s.io/", "jobset.sigs.k8s.io/", "run.ai/", "signalbox.dev/"}

// passesOver says that a job is a plain Job, which is not looked at.
func (o Options) passesOver(k *kinds.Kind, u *unstructured.Unstructured) bool {
	return k.Name == "Job" && !o.AllJobs && u.GetAnnotations()[Ask] == "" && !trains(u)
}

// trains says that a batch/v1 Job is one to look at.
func trains(u *unstructured.Unstructured) bool {
	template, _, _ := unstructured.NestedMap(u.Object, "spec", "template")
	pod, _, _ := unstructured.NestedMap(template, "spec")
	labels, _, _ := unstructured.NestedStringMap(template, "metadata", "labels")
	annotations, _, _ := unstructured.NestedStringMap(template, "metadata", "annotations")
	for _, m := range []map[string]string{u.GetLabels(), u.GetAnnotations(), labels, annotations} {
		for name := range m {
			if slices.ContainsFunc(trainingLabels, func(l string) bool { return strings.HasPrefix(name, l) }) {
				return true
			}
		}
	}
	if claims, _, _ := unstructured.NestedSlice(pod, "resourceClaims"); len(claims) > 0 {
		return true
	}
	if scheduler, _, _ := unstructured.NestedString(pod, "schedulerName"); scheduler != "" && scheduler != corev1.DefaultSchedulerName {
		return true
	}
	for _, list := range []string{"containers", "initContainers"} {
		containers, _, _ := unstructured.NestedSlice(pod, list)
		for _, c := range containers {
			container, _ := c.(map[string]any)
			for _, of := range []string{"limits", "requests"} {
				amounts, _, _ := unstructured.NestedMap(container, "resources", of)
				for name := range amounts {
					// Devices have a vendor's domain; what the platform counts itself has none, or its own.
					if domain, _, ok := strings.Cut(name, "/"); ok && domain != "kubernetes.io" || strings.HasPrefix(name, "requests.") {
						return true
					}
				}
			}
		}
	}
	return false
}
