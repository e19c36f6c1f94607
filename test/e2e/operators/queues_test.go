//go:build integration

package operators

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clusterQueue is a queue of so many GPUs and all the CPU and memory there is; more is the rest of its spec.
func clusterQueue(name string, gpus int, more string) string {
	return fmt.Sprintf(`
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %s}
spec:
  namespaceSelector: {}
  %s
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: any
      resources:
      - {name: cpu, nominalQuota: 1000}
      - {name: memory, nominalQuota: 1000Gi}
      - {name: nvidia.com/gpu, nominalQuota: %d}
`, name, more, gpus)
}

// localQueue is the door of a namespace to a ClusterQueue.
func localQueue(of string) string {
	return "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\nmetadata: {name: team}\nspec: {clusterQueue: " + of + "}\n"
}

const flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: any}\nspec: {}\n"

// queued is a Job of one pod with so many GPUs in the queue of its namespace.
func queued(name string, gpus int, priority string) string {
	if priority != "" {
		priority = ", kueue.x-k8s.io/priority-class: " + priority
	}
	return fmt.Sprintf(`
---
apiVersion: batch/v1
kind: Job
metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: team, signalbox.dev/training: "yes"%s}}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]
      containers: [{name: train, image: "registry.example/train:1", command: [python, train.py], volumeMounts: [{name: shm, mountPath: /dev/shm}], resources: {limits: {cpu: 1, memory: 4Gi, nvidia.com/gpu: %d}}}]
`, name, priority, gpus)
}

// suspended says whether Kueue holds a Job.
func suspended(ctx context.Context, namespace, name string) (bool, error) {
	j, err := world.Clientset().BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	return j.Spec.Suspend != nil && *j.Spec.Suspend, nil
}

func admitted(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	Eventually(suspended).WithContext(ctx).WithArguments(namespace, name).Should(BeFalse(), name)
}

// diagnosis is what signalbox diagnose says of a job, as JSON.
func diagnosis(ctx context.Context, namespace, job string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(world.Root, "bin", "signalbox"), "diagnose", job, "-n", namespace, "-o", "json")
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+world.Kubeconfig())
	out, err := cmd.Output()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		err = nil // the exit code says how the job is
	}
	return string(out), err
}

var _ = Describe("Kueue", func() {
	It("holds a job in a full queue and says why it waits", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		Expect(world.Apply(ctx, flavor+clusterQueue("full", 4, "queueingStrategy: BestEffortFIFO")+in(namespace, localQueue("full")))).To(Succeed())
		Expect(world.Apply(ctx, in(namespace, queued("first", 4, "")))).To(Succeed())
		admitted(ctx, namespace, "first")
		Expect(warnings(ctx, in(namespace, queued("second", 2, "")))).NotTo(ContainSubstring("Warning"), "a queue is there to wait in")
		Expect(world.Apply(ctx, in(namespace, queued("second", 2, "")))).To(Succeed())
		Eventually(diagnosis).WithContext(ctx).WithArguments(namespace, "job/second").
			Should(MatchRegexp(`"waiting": "suspended.*insufficient unused quota for nvidia.com/gpu in flavor any, 2 more needed"`))
		Expect(suspended(ctx, namespace, "second")).To(BeTrue())

		By("asking for more than the queue will ever have")
		Expect(warnings(ctx, in(namespace, queued("third", 8, "")))).To(ContainSubstring("[queue-quota-exceeded]"))
	})

	It("lets a job borrow what its cohort does not use", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		Expect(world.Apply(ctx, flavor+clusterQueue("borrows", 2, "cohortName: lab")+clusterQueue("lends", 6, "cohortName: lab")+in(namespace, localQueue("borrows")))).To(Succeed())
		Eventually(warnings).WithContext(ctx).WithArguments(in(namespace, queued("wide", 8, ""))).ShouldNot(ContainSubstring("Warning"))
		Expect(world.Apply(ctx, in(namespace, queued("wide", 8, "")))).To(Succeed())
		admitted(ctx, namespace, "wide")
		Eventually(running).WithContext(ctx).WithArguments(namespace).Should(Equal(1))
		Expect(warnings(ctx, in(namespace, queued("wider", 9, "")))).To(ContainSubstring("Warning: ["))
	})

	It("preempts a job for one that matters more and says so", func(ctx context.Context) {
		namespace := newNamespace(ctx)
		classes := "\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: low}\nvalue: 1\n---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: WorkloadPriorityClass\nmetadata: {name: high}\nvalue: 1000\n"
		Expect(world.Apply(ctx, flavor+classes+clusterQueue("preempts", 4, "preemption: {withinClusterQueue: LowerPriority}")+in(namespace, localQueue("preempts")))).To(Succeed())
		Expect(world.Apply(ctx, in(namespace, queued("humble", 4, "low")))).To(Succeed())
		admitted(ctx, namespace, "humble")
		Eventually(running).WithContext(ctx).WithArguments(namespace).Should(Equal(1))
		Expect(world.Apply(ctx, in(namespace, queued("urgent", 4, "high")))).To(Succeed())
		admitted(ctx, namespace, "urgent")
		Eventually(suspended).WithContext(ctx).WithArguments(namespace, "humble").Should(BeTrue())
		Eventually(diagnosis).WithContext(ctx).WithArguments(namespace, "job/humble").Should(MatchRegexp(`"waiting": "suspended.*Preempted to accommodate a workload`))
	})
})
