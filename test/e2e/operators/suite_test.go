//go:build integration

// Package operators plays the stories of test/e2e with the operators that a cluster rarely has beside the
// others: LeaderWorkerSet's, KubeRay's, the MPI operator, whose CRD has the name of the training operator's,
// and Kueue's queues. Each runs unchanged; nothing is stood in for but the nodes.
package operators

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

var (
	world   *line.Line
	objects dynamic.Interface
)

func TestOperators(t *testing.T) {
	RegisterFailHandler(Fail)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyTimeout(45 * time.Second)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "Operators")
}

var _ = BeforeSuite(func() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	DeferCleanup(stop)
	var err error
	world, err = line.Start(ctx, line.Options{
		Parts:    cluster.Machinery | cluster.LeaderWorkerSet | cluster.MPIOperator | cluster.KubeRay | cluster.Kueue,
		Nodes:    line.Pools(),
		Progress: GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return world.Stop() })
	objects, err = dynamic.NewForConfig(world.Config())
	Expect(err).NotTo(HaveOccurred())
})

var _ = ReportAfterEach(func(r SpecReport) {
	if r.Failed() && world != nil {
		world.Keep()
	}
})

var _ = AfterSuite(func() {
	if world == nil {
		return // it did not start, and that is said
	}
	log, err := world.SignalboxLog()
	Expect(err).NotTo(HaveOccurred())
	Expect(log).NotTo(ContainSubstring("forbidden"), "the ServiceAccount has every right that Signalbox needs")
	Expect(log).NotTo(ContainSubstring("panic"))
})

// newNamespace is a namespace of the spec's own.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()
	name := fmt.Sprintf("op-%d", GinkgoRandomSeed()) + "-" + strings.ToLower(strings.ReplaceAll(CurrentSpecReport().LeafNodeText, " ", "-"))
	name = strings.Trim(name[:min(len(name), 50)], "-")
	Expect(world.Apply(ctx, "apiVersion: v1\nkind: Namespace\nmetadata: {name: "+name+"}\n")).To(Succeed())
	return name
}

// in puts the objects of a manifest into a namespace.
func in(namespace, manifest string) string {
	return strings.ReplaceAll(manifest, "metadata: {name: ", "metadata: {namespace: "+namespace+", name: ")
}

// warnings are what kubectl prints beside its answer when it hands a manifest to the API server, without
// storing anything.
func warnings(ctx context.Context, manifest string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "job.yaml")
	Expect(os.WriteFile(file, []byte(manifest), 0o600)).To(Succeed())
	cmd := exec.CommandContext(ctx, world.Program("kubectl"), "apply", "--dry-run=server", "-f", file)
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+world.Kubeconfig())
	out, err := cmd.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}

func annotationsOf(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) (map[string]string, error) {
	u, err := objects.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return u.GetAnnotations(), nil
}

// podsOf are the phases of the pods in a namespace, by name.
func podsOf(ctx context.Context, namespace string) (map[string]string, error) {
	list, err := world.Clientset().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	out := map[string]string{}
	for i := range list.Items {
		out[list.Items[i].Name] = string(list.Items[i].Status.Phase)
	}
	return out, err
}

// running says how many pods of a namespace run.
func running(ctx context.Context, namespace string) (n int, err error) {
	pods, err := podsOf(ctx, namespace)
	for _, phase := range pods {
		if phase == "Running" {
			n++
		}
	}
	return n, err
}
