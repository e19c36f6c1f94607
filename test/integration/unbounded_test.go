//go:build integration

package integration

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// The API server takes texts of a megabyte where people expect names. What the program does with them costs it no more than they
// are worth.
var _ = Describe("An author who writes what the API server does not bound", Ordered, ContinueOnFailure, func() {
	const namespace = "unbounded"
	var p *process
	var jobs dynamic.ResourceInterface
	// diagnosed is a job that fails and is told why.
	diagnosed := func(ctx context.Context, name string) {
		GinkgoHelper()
		u := withGPUs(name, 1)
		u.SetNamespace(namespace)
		u, err := jobs.Create(ctx, u, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(unstructured.SetNestedSlice(u.Object, []any{map[string]any{
			"type": "Failed", "status": "True", "reason": "PyTorchJobFailed", "message": "", "lastTransitionTime": u.GetCreationTimestamp().UTC().Format(time.RFC3339),
		}}, "status", "conditions")).To(Succeed())
		_, err = jobs.UpdateStatus(ctx, u, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(annotationsIn(ctx, jobs, name)).WithTimeout(time.Minute).Should(HaveKey(controller.Healthy))
	}
	series := func(name string) float64 {
		GinkgoHelper()
		value, err := strconv.ParseFloat(p.counted(name), 64)
		Expect(err).NotTo(HaveOccurred())
		return value
	}
	long := strings.Repeat("-", 900<<10)

	BeforeAll(func(ctx SpecContext) {
		program, err := gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		p = start(ctx, program, address)
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		jobs = objects.Resource(pytorchJobs).Namespace(namespace)
		diagnosed(ctx, "before")
	})

	It("holds up no diagnosis by an Event about a megabyte of hyphens", func(ctx SpecContext) {
		_, err := plane.Clientset().CoreV1().Events(namespace).Create(ctx, &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Name: "hyphens", Namespace: namespace},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: long}, Reason: "Killing",
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		diagnosed(ctx, "after")
	})

	It("takes no room by the texts of Events, and of owners of pods and jobs that are gone", func(ctx SpecContext) {
		kube := plane.Clientset()
		template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "a.example/b:1"}}}}
		for i := range 150 {
			_, err := kube.CoreV1().Events(namespace).Create(ctx, &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprint("long-", i), Namespace: namespace},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: "x"}, Message: long,
			}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			owned := metav1.ObjectMeta{Name: fmt.Sprint("owned-", i), Namespace: namespace, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "a.example/v1", Kind: "A", Name: fmt.Sprint(i, long), UID: types.UID(fmt.Sprint(i)), Controller: new(true),
			}}}
			_, err = kube.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: owned, Spec: template.Spec}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			j, err := kube.BatchV1().Jobs(namespace).Create(ctx, &batchv1.Job{ObjectMeta: owned, Spec: batchv1.JobSpec{Completions: new(int32(0)), Template: template}}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			now := metav1.Now()
			j.Status.StartTime, j.Status.CompletionTime = &now, &now
			for _, c := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
				j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: now})
			}
			_, err = kube.BatchV1().Jobs(namespace).UpdateStatus(ctx, j, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(kube.CoreV1().Pods(namespace).Delete(ctx, owned.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})).To(Succeed())
			Expect(kube.BatchV1().Jobs(namespace).Delete(ctx, owned.Name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})).To(Succeed())
		}
		// A process that does little collects every two minutes (runtime, forcegcperiod).
		Eventually(func() float64 { return series("go_memstats_heap_alloc_bytes") }).WithTimeout(5 * time.Minute).WithPolling(time.Second).Should(BeNumerically("<", 100<<20))
	})
})
