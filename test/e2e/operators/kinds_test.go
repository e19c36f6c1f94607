//go:build integration

package operators

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	sets     = schema.GroupVersionResource{Group: "leaderworkerset.x-k8s.io", Version: "v1", Resource: "leaderworkersets"}
	clusters = schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayclusters"}
	rayJobs  = schema.GroupVersionResource{Group: "ray.io", Version: "v1", Resource: "rayjobs"}
	mpiJobs  = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v2beta1", Resource: "mpijobs"}
)

// template is a pod template on one line: state is what kwok makes of the pod, gpus what it asks for.
func template(state, container string, gpus int) string {
	limits := "cpu: 1, memory: 1Gi"
	if gpus > 0 {
		limits += fmt.Sprintf(", nvidia.com/gpu: %d", gpus)
	}
	annotations := ""
	if state != "" {
		annotations = `metadata: {annotations: {kwok.signalbox.dev/state: ` + state + `, kwok.signalbox.dev/exit-code: "1", kwok.signalbox.dev/log: missing-module.log, kwok.signalbox.dev/previous-log: missing-module.log}}, `
	}
	return fmt.Sprintf(`{%sspec: {containers: [{name: %s, image: "registry.example/train:1", command: [python, train.py], resources: {limits: {%s}}}]}}`, annotations, container, limits)
}

func leaderWorkerSet(replicas, size, gpus int, state string) string {
	return fmt.Sprintf(`
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: serve}
spec:
  replicas: %d
  startupPolicy: LeaderCreated
  leaderWorkerTemplate:
    size: %d
    restartPolicy: None
    leaderTemplate: %s
    workerTemplate: %s
`, replicas, size, template("", "main", gpus), template(state, "main", gpus))
}

func rayClusterSpec(workers, gpus int, state string) string {
	return fmt.Sprintf(`{rayVersion: "2.52.0", headGroupSpec: {rayStartParams: {}, template: %s}, workerGroupSpecs: [{groupName: gpu, replicas: %[2]d, minReplicas: %[2]d, maxReplicas: %[2]d, rayStartParams: {}, template: %[3]s}]}`,
		template("", "head", 0), workers, template(state, "worker", gpus))
}

func rayCluster(workers, gpus int, state string) string {
	return "\napiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: pool}\nspec: " + rayClusterSpec(workers, gpus, state) + "\n"
}

func rayJob(workers, gpus int, submitter string) string {
	own := strings.Replace(template(submitter, "ray-job-submitter", 0), "spec: {", "spec: {restartPolicy: Never, ", 1)
	return "\napiVersion: ray.io/v1\nkind: RayJob\nmetadata: {name: tune}\nspec: {entrypoint: python train.py, submitterConfig: {backoffLimit: 0}, submitterPodTemplate: " + own +
		", rayClusterSpec: " + rayClusterSpec(workers, gpus, "") + "}\n"
}

func mpiJob(workers, gpus int, launcher string) string {
	return fmt.Sprintf(`
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: allreduce}
spec:
  slotsPerWorker: %d
  runPolicy: {cleanPodPolicy: None, backoffLimit: 0}
  mpiReplicaSpecs:
    Launcher: {replicas: 1, restartPolicy: Never, template: %s}
    Worker: {replicas: %d, template: %s}
`, max(gpus, 1), template(launcher, "launcher", 0), workers, template("", "worker", gpus))
}

var _ = Describe("the real operators", func() {
	DescribeTable("make the pods that were read",
		func(ctx context.Context, manifest string, pods int) {
			namespace := newNamespace(ctx)
			Expect(world.Apply(ctx, in(namespace, manifest))).To(Succeed())
			Eventually(running).WithContext(ctx).WithArguments(namespace).Should(Equal(pods))
			Consistently(running).WithContext(ctx).WithArguments(namespace).WithTimeout(2e9).Should(Equal(pods))
		},
		Entry("LeaderWorkerSet of 2 groups", leaderWorkerSet(2, 2, 0, ""), 4),
		Entry("RayCluster with a head", rayCluster(2, 0, ""), 3),
		Entry("RayJob with its submitter", rayJob(1, 0, ""), 3),
		Entry("MPIJob of v2beta1", mpiJob(2, 0, ""), 3),
	)

	DescribeTable("have a user who is warned of what is wrong, and of what no node holds",
		func(ctx context.Context, manifest, was, wrong, says string) {
			namespace := newNamespace(ctx)
			Expect(warnings(ctx, in(namespace, manifest))).NotTo(ContainSubstring(says), "before it is wrong")
			Expect(warnings(ctx, in(namespace, strings.ReplaceAll(manifest, was, wrong)))).To(ContainSubstring(says))
		},
		Entry("LeaderWorkerSet with an image of two tags", leaderWorkerSet(1, 2, 1, ""), "train:1", "train:1:2", "[image-name-invalid]"),
		Entry("RayCluster with an image of two tags", rayCluster(1, 1, ""), "train:1", "train:1:2", "[image-name-invalid]"),
		Entry("RayJob with an image of two tags", rayJob(1, 1, ""), "train:1", "train:1:2", "[image-name-invalid]"),
		Entry("MPIJob with an image of two tags", mpiJob(2, 1, ""), "train:1", "train:1:2", "[image-name-invalid]"),
		Entry("RayCluster of a group too small", rayCluster(2, 1, ""), "minReplicas: 2", "minReplicas: 3", "expected at most maxReplicas, which is 2"),
		Entry("LeaderWorkerSet too big", leaderWorkerSet(1, 2, 1, ""), "gpu: 1}", "gpu: 16}", "the largest of the 9 nodes it may use has 8"),
		Entry("RayCluster too big", rayCluster(1, 1, ""), "gpu: 1}", "gpu: 16}", "the largest of the 9 nodes it may use has 8"),
		Entry("RayJob too big", rayJob(1, 1, ""), "gpu: 1}", "gpu: 16}", "the largest of the 9 nodes it may use has 8"),
		Entry("MPIJob too big", mpiJob(2, 1, ""), "gpu: 1}", "gpu: 16}", "the largest of the 9 nodes it may use has 8"),
		Entry("LeaderWorkerSet of too many groups", leaderWorkerSet(2, 2, 8, ""), "  replicas: 2", "  replicas: 5", "[gang-does-not-fit]"),
		Entry("RayCluster of too many workers", strings.ReplaceAll(rayCluster(2, 8, ""), " replicas: 2", " replicas: 9"), "Replicas: 2", "Replicas: 9", "[gang-does-not-fit]"),
	)

	DescribeTable("leave a job that fails for a missing module, and it is diagnosed",
		func(ctx context.Context, resource schema.GroupVersionResource, name, manifest string) {
			namespace := newNamespace(ctx)
			Expect(world.Apply(ctx, in(namespace, manifest))).To(Succeed())
			Eventually(annotationsOf).WithContext(ctx).WithArguments(resource, namespace, name).Should(SatisfyAll(
				HaveKeyWithValue("signalbox.dev/healthy", "No"),
				HaveKeyWithValue("signalbox.dev/error", ContainSubstring("flash_attn")),
				HaveKeyWithValue("signalbox.dev/diagnosis", ContainSubstring(`"category":"missing-module"`)),
			))
		},
		Entry("LeaderWorkerSet with a broken worker", sets, "serve", leaderWorkerSet(1, 2, 0, "crash-loop")),
		Entry("RayCluster with a broken worker", clusters, "pool", rayCluster(1, 0, "crash-loop")),
		Entry("RayJob with a broken script", rayJobs, "tune", rayJob(1, 0, "exit-code")),
		Entry("MPIJob with a broken launcher", mpiJobs, "allreduce", mpiJob(1, 0, "exit-code")),
	)

	It("take the samples without a warning", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		for _, sample := range []string{"leaderworkerset.yaml", "raycluster.yaml", "rayjob.yaml", "mpijob.yaml"} {
			out, err := world.Kubectl(ctx, "apply", "--dry-run=server", "--warnings-as-errors", "-n", namespace, "-f", filepath.Join(world.Root, "config", "samples", sample))
			Expect(err).NotTo(HaveOccurred(), sample)
			Expect(out).To(ContainSubstring("created"), sample)
		}
	})
})
