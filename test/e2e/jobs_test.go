//go:build integration

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

var (
	pytorchJobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}
	paddleJobs  = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "paddlejobs"}
	tfJobs      = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "tfjobs"}
	jobSets     = schema.GroupVersionResource{Group: "jobset.x-k8s.io", Version: "v1alpha2", Resource: "jobsets"}
	batchJobs   = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	trainJobs   = schema.GroupVersionResource{Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "trainjobs"}
)

// failingPod is a pod template whose pod ends with exit code 1 and the log of a missing module.
const failingPod = `
        metadata:
          annotations: {kwok.signalbox.dev/state: exit-code, kwok.signalbox.dev/exit-code: "1", kwok.signalbox.dev/log: missing-module.log}
        spec:
          restartPolicy: Never
          containers:
          - {name: %s, image: registry.example/train:1, command: [python, train.py], resources: {limits: {cpu: "1", memory: 1Gi}}}`

var _ = Describe("a job that fails for a missing module", func() {
	DescribeTable("is diagnosed whatever its kind",
		func(ctx context.Context, resource schema.GroupVersionResource, name, manifest string) {
			namespace := newNamespace(ctx)
			// Again where an operator's webhook has not seen the runtime yet that comes with its job.
			Eventually(world.Apply).WithContext(ctx).WithArguments(inNamespace(manifest, namespace)).Should(Succeed())
			Eventually(annotationsOf).WithContext(ctx).WithArguments(resource, namespace, name).Should(SatisfyAll(
				HaveKeyWithValue("signalbox.dev/healthy", "No"),
				HaveKeyWithValue("signalbox.dev/error", ContainSubstring("flash_attn")),
				HaveKeyWithValue("signalbox.dev/diagnosis", ContainSubstring(`"category":"missing-module"`)),
			))
		},
		Entry("PyTorchJob", pytorchJobs, "broken", kubeflowJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "pytorch")),
		Entry("PaddleJob", paddleJobs, "broken", kubeflowJob("PaddleJob", "paddleReplicaSpecs", "Worker", "paddle")),
		Entry("TFJob", tfJobs, "broken", kubeflowJob("TFJob", "tfReplicaSpecs", "Worker", "tensorflow")),
		Entry("batch Job", batchJobs, "broken", `
apiVersion: batch/v1
kind: Job
metadata: {name: broken, labels: {signalbox.dev/training: "yes"}}
spec:
      backoffLimit: 0
      template:`+fmt.Sprintf(failingPod, "train")),
		Entry("JobSet", jobSets, "broken", `
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: broken}
spec:
  replicatedJobs:
  - name: node
    replicas: 1
    template:
     spec:
      parallelism: 1
      completions: 1
      backoffLimit: 0
      template:`+fmt.Sprintf(failingPod, "train")),
		Entry("TrainJob", trainJobs, "broken", `
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: torch, labels: {trainer.kubeflow.org/framework: torch}}
spec:
  mlPolicy: {numNodes: 1, torch: {numProcPerNode: auto}}
  template:
   spec:
    replicatedJobs:
    - name: node
      template:
       metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
       spec:
        backoffLimit: 0
        template:`+indent(fmt.Sprintf(failingPod, "node"), 2)+`
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: broken}
spec:
  runtimeRef: {kind: TrainingRuntime, name: torch}
  trainer: {numNodes: 1}`),
	)
})

var _ = Describe("a pod that somebody deletes while it runs", func() {
	It("is what the job failed of", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		Expect(world.Apply(ctx, inNamespace(`
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: robbed}
spec:
  pytorchReplicaSpecs:`+running("Master", 1)+running("Worker", 2), namespace))).To(Succeed())
		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "robbed").Should(HaveKeyWithValue("signalbox.dev/healthy", "Yes"))
		Expect(world.Clientset().CoreV1().Pods(namespace).Delete(ctx, "robbed-worker-0", metav1.DeleteOptions{})).To(Succeed())
		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "robbed").WithTimeout(10 * time.Second).Should(SatisfyAll(
			HaveKeyWithValue("signalbox.dev/healthy", "No"),
			HaveKeyWithValue("signalbox.dev/error", SatisfyAll(ContainSubstring("robbed-worker-0"), ContainSubstring("deleted while it ran"))),
		))
	})
})

var _ = Describe("a node that is not ready under pods that are", func() {
	It("stands on the job until it is ready again", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		node := cluster.CPUNode("fragile")
		node.Labels = map[string]string{"fragile": "yes"}
		Expect(world.CreateNodes(ctx, node)).To(Succeed())
		role := strings.Replace(running("Master", 1), "        spec:\n", "        spec:\n          nodeSelector: {fragile: \"yes\"}\n", 1)
		Expect(world.Apply(ctx, inNamespace(`
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: stranded}
spec:
  pytorchReplicaSpecs:`+role, namespace))).To(Succeed())
		annotations := func(ctx context.Context) (map[string]string, error) {
			return annotationsOf(ctx, pytorchJobs, namespace, "stranded")
		}
		Eventually(annotations).WithContext(ctx).Should(HaveKeyWithValue("signalbox.dev/healthy", "Yes"))
		Expect(world.LoseNode(ctx, node.Name)).To(Succeed())
		Eventually(annotations).WithContext(ctx).WithTimeout(12 * time.Second).Should(SatisfyAll(
			HaveKeyWithValue("signalbox.dev/healthy", "No"), HaveKeyWithValue("signalbox.dev/error", ContainSubstring("node fragile")),
		))
		Expect(world.FindNode(ctx, node.Name)).To(Succeed())
		Eventually(annotations).WithContext(ctx).Should(HaveKeyWithValue("signalbox.dev/healthy", "Yes"))

		By("saying it of a node that is deleted, long before its pods are")
		Expect(world.Clientset().CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(annotations).WithContext(ctx).WithTimeout(12 * time.Second).Should(SatisfyAll(
			HaveKeyWithValue("signalbox.dev/healthy", "No"), HaveKeyWithValue("signalbox.dev/error", ContainSubstring("the node does not exist any more (node fragile)")),
		))
	})
})

// running is a role of pods that run until they are ended.
func running(role string, replicas int) string {
	return fmt.Sprintf(`
    %s:
      replicas: %d
      restartPolicy: Never
      template:
        metadata: {annotations: {kwok.signalbox.dev/state: running}}
        spec:
          containers:
          - {name: pytorch, image: registry.example/train:1, command: [python, train.py], resources: {limits: {cpu: "1", memory: 1Gi}}}`, role, replicas)
}

var _ = Describe("a failed job that does not change", func() {
	It("is written once", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		Expect(world.Apply(ctx, inNamespace(kubeflowJob("PyTorchJob", "pytorchReplicaSpecs", "Master", "pytorch"), namespace))).To(Succeed())
		Eventually(annotationsOf).WithContext(ctx).WithArguments(pytorchJobs, namespace, "broken").
			Should(HaveKeyWithValue("signalbox.dev/error", ContainSubstring("flash_attn")))

		By("touching the job and its pod, so that it is looked at again")
		before, err := version(ctx, namespace)
		Expect(err).NotTo(HaveOccurred())
		poke := []byte(`{"metadata":{"labels":{"touched":"yes"}}}`)
		_, err = objects.Resource(pytorchJobs).Namespace(namespace).Patch(ctx, "broken", types.MergePatchType, poke, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = world.Clientset().CoreV1().Pods(namespace).Patch(ctx, "broken-master-0", types.MergePatchType, poke, metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Consistently(version).WithContext(ctx).WithArguments(namespace).WithTimeout(patienceToChange).Should(Equal(before))
	})
})

var _ = Describe("the samples", func() {
	It("are applied without a warning about themselves", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		files, err := filepath.Glob(filepath.Join(world.Root, "config", "samples", "*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(len(files)).To(BeNumerically(">=", 20))
		Expect(world.InstallCRDs(ctx, cluster.LeaderWorkerSet|cluster.KubeRay)).To(Succeed()) // their operators run in test/e2e/operators
		runtime := filepath.Join(world.Root, "bin", "controlplane", "runtimes", "torch_distributed.yaml")
		_, err = world.Kubectl(ctx, "apply", "-f", runtime)
		Expect(err).NotTo(HaveOccurred())
		for _, file := range files {
			if strings.HasSuffix(file, "mpijob.yaml") || strings.HasSuffix(file, "kustomization.yaml") {
				continue // v2beta1 belongs to another operator with a CRD of the same name
			}
			out, err := world.Kubectl(ctx, "apply", "--dry-run=server", "--warnings-as-errors", "-n", namespace, "-f", file)
			Expect(err).NotTo(HaveOccurred(), file)
			Expect(out).To(ContainSubstring("created"), file)
		}
	})
})

// patienceToChange is longer than the configured refresh, so that a second look has happened.
const patienceToChange = 12 * time.Second

func kubeflowJob(kind, specs, role, container string) string {
	return fmt.Sprintf(`
apiVersion: kubeflow.org/v1
kind: %s
metadata: {name: broken}
spec:
  %s:
    %s:
      replicas: 1
      restartPolicy: Never
      template:`, kind, specs, role) + strings.ReplaceAll(fmt.Sprintf(failingPod, container), "\n          restartPolicy: Never", "")
}

func indent(text string, by int) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", by))
}

func inNamespace(manifest, namespace string) string {
	return strings.ReplaceAll(manifest, "metadata: {name: ", "metadata: {namespace: "+namespace+", name: ")
}

func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	name := fmt.Sprintf("e2e-%d-%d", GinkgoParallelProcess(), CurrentSpecReport().LeafNodeLocation.LineNumber)
	name += "-" + strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(CurrentSpecReport().LeafNodeText, " ", "-"), "'", ""))
	name = strings.Trim(name[:min(len(name), 50)], "-")
	Expect(world.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n")).To(Succeed())
	return name
}

func annotationsOf(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (map[string]string, error) {
	u, err := objects.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return u.GetAnnotations(), nil
}

// version is what the field manager signalbox wrote, and when.
func version(ctx context.Context, namespace string) (string, error) {
	u, err := objects.Resource(pytorchJobs).Namespace(namespace).Get(ctx, "broken", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return writes(u), nil
}

func writes(u *unstructured.Unstructured) string {
	var out []string
	for _, f := range u.GetManagedFields() {
		if f.Manager == "signalbox" {
			out = append(out, f.Time.String())
		}
	}
	return strings.Join(append(out, u.GetAnnotations()["signalbox.dev/diagnosis"]), "\n")
}
