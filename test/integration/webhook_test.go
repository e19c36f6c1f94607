//go:build integration

package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	operators "github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/webhook"
)

// Namespaces of the specs, by what they are for.
const (
	warning   = "webhook-warning"
	enforcing = "webhook-enforcing"
	off       = "webhook-off"
)

// fixed is a view that does not change: four nodes of eight GPUs. The live view has
// specs of its own.
type fixed struct{ incomplete string }

func (f fixed) Snapshot() *cluster.Snapshot {
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	for i := range 4 {
		b.Node(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i)}, Status: eightGPUs()})
	}
	b.Incomplete(f.incomplete)
	return b.Snapshot(time.Now())
}

// eightGPUs is the status of a large node that is ready.
func eightGPUs() corev1.NodeStatus {
	amounts := corev1.ResourceList{
		"cpu": resource.MustParse("96"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("110"),
		"nvidia.com/gpu": resource.MustParse("8"), "ephemeral-storage": resource.MustParse("1Ti"),
	}
	return corev1.NodeStatus{
		Allocatable: amounts, Capacity: amounts,
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}
}

func (f fixed) Namespace(name string) map[string]string {
	labels := map[string]map[string]string{
		warning: {"team": "vision"}, enforcing: {"signalbox.dev/mode": "enforce"}, off: {"signalbox.dev/mode": "off"},
	}[name]
	if labels == nil {
		return map[string]string{} // it is known, and has no label
	}
	return labels
}

// notes always speaks, so that a spec sees whether it ran.
func notes(name string) *check.Check {
	return &check.Check{
		Name: name, Title: "a check of this test ran", Doc: "It reports every job.", Remedy: "Do nothing.", Since: "0.1",
		Severity: finding.Warning,
		Run: func(p *check.Pass) {
			p.Reportf("metadata.name", "%d pods at most", p.Job.MaxPods())
		},
	}
}

// does runs a function of the spec's own.
func does(name string, run func(*check.Pass)) *check.Check {
	c := notes(name)
	c.Run = run
	return c
}

// served is a webhook under the ServiceAccount of the manifests, and how to stop it.
type served struct {
	stop    func()
	ready   func() error
	metrics *prometheus.Registry
}

// serve starts a webhook at the port that the installed configuration names and returns
// when the API server calls it.
//
// what is a list of checks, functions that change the options of the certificates, and a
// counter of the calls to the API that the webhook makes.
func serve(address string, view webhook.View, what ...any) served {
	GinkgoHelper()
	var checks []*check.Check
	calls := &atomic.Int64{}
	var tune []func(*certs.Options)
	deadline := 2 * time.Second // ten times the default: how busy this machine is, is not what most specs ask
	for _, w := range what {
		switch w := w.(type) {
		case time.Duration:
			deadline = w
		case *check.Check:
			checks = append(checks, w)
		case func(*certs.Options):
			tune = append(tune, w)
		case *atomic.Int64:
			calls = w
		default:
			Fail(fmt.Sprintf("serve does not know what to do with a %T", w))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	config := installed(ctx, calls)
	client, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	set, err := check.NewSet(checks...)
	Expect(err).NotTo(HaveOccurred())
	opa, err := policies.Load(policies.Library())
	Expect(err).NotTo(HaveOccurred())
	registry := prometheus.NewRegistry()
	metrics, err := webhook.NewMetrics(registry)
	Expect(err).NotTo(HaveOccurred())
	log := GinkgoLogr
	authority := certs.Options{
		Client: client, Namespace: "signalbox-system", Secret: "signalbox-webhook-cert",
		Configurations: []string{webhook.ConfigurationName}, Hosts: []string{"127.0.0.1"}, Log: log,
	}
	for _, t := range tune {
		t(&authority)
	}
	w, err := webhook.New(ctx, webhook.Options{
		Reviewer:     webhook.Stages(&preflight.Reviewer{Checks: set, Policies: opa}),
		View:         view,
		Certificates: certs.NewAuthority(authority),
		Policies:     webhook.NewPolicyMaps(client, "signalbox-system", opa, metrics, log, policies.Library()),
		Deadline:     deadline,
		PolicyTime:   deadline,
		Address:      address,
		Metrics:      metrics,
		Log:          log,
	})
	Expect(err).NotTo(HaveOccurred())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	probe := sample("pytorchjob.yaml", "default", "probe")
	Eventually(func() map[string]string { return write(ctx, probe.DeepCopy(), metav1.DryRunAll).audit }).Should(HaveKey("decision"))
	return served{
		stop: func() {
			cancel()
			Eventually(ended).Should(Receive(BeNil()))
		},
		ready: w.Ready, metrics: registry,
	}
}

var _ = Describe("The webhook", Ordered, ContinueOnFailure, func() {
	var address string
	whole := fixed{}

	BeforeAll(func(ctx SpecContext) {
		address = freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		for name, labels := range map[string]map[string]string{
			warning: {"team": "vision"}, enforcing: {"signalbox.dev/mode": "enforce"}, off: {"signalbox.dev/mode": "off"},
		} {
			Expect(plane.CreateNamespace(ctx, name, labels)).To(Succeed())
		}
	})

	It("warns and stores the job", func(ctx SpecContext) {
		s := serve(address, whole, notes("speaks"))
		defer s.stop()
		got := write(ctx, sample("pytorchjob.yaml", warning, "warned"))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.warnings).To(ConsistOf("[speaks] metadata.name: 2 pods at most. Do nothing."))
		Expect(got.audit).To(And(HaveKeyWithValue("decision", "warned"), HaveKeyWithValue("findings", "speaks")))
		Eventually(s.ready).Should(Succeed())
	})

	It("says whether a job fits to who may create it and list no nodes", func(ctx SpecContext) {
		program, err := gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		Expect(plane.Apply(ctx, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: tenant, namespace: `+warning+`}
rules: [{apiGroups: [kubeflow.org], resources: [pytorchjobs], verbs: [create, get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: `+warning+`}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: tenant}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
`)).To(Succeed())
		file := filepath.Join(GinkgoT().TempDir(), "job.yaml")
		asks := func(want, replicas int, args ...string) string {
			GinkgoHelper()
			text := fmt.Sprintf("{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: asked, namespace: %s}, spec: {pytorchReplicaSpecs: {Worker: {replicas: %d, template: {spec: {containers: [{name: pytorch, image: \"registry.example.com/train:1\", resources: {limits: {nvidia.com/gpu: 8}}}]}}}}}}", warning, replicas)
			Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
			cmd := exec.CommandContext(ctx, program, append([]string{"fit", file, "--as", "alice"}, args...)...)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig())
			out, _ := cmd.CombinedOutput() // the exit code is looked at
			Expect(cmd.ProcessState.ExitCode()).To(Equal(want), string(out))
			return string(out)
		}
		By("saying that nobody answers where no webhook does")
		Expect(asks(4, 2)).To(ContainSubstring("you may not list nodes, and no webhook of Signalbox answered"))
		s := serve(address, whole)
		defer s.stop()
		By("passing on its answer")
		Expect(asks(0, 4)).To(And(ContainSubstring(": fits"), ContainSubstring("what Signalbox in the cluster answers, without the names of nodes")))
		Expect(asks(1, 6)).To(And(ContainSubstring("4 of 6 pods fit"), ContainSubstring("too-big"), Not(ContainSubstring("n0"))))
		By("listing nothing where it is to be asked")
		Expect(asks(0, 4, "--ask")).To(ContainSubstring("what Signalbox in the cluster answers"))
		Expect(asks(1, 6, "--ask", "-o", "json")).To(ContainSubstring(`"verdict": "too-big"`))
		By("showing nothing of it at an apply")
		Expect(write(ctx, sample("pytorchjob.yaml", warning, "plain"), metav1.DryRunAll).warnings).NotTo(ContainElement(HavePrefix("[review] ")))
	})

	It("admits a job when a check panics, and says which", func(ctx SpecContext) {
		var none map[string]*check.Pass // what a careless check forgets to make
		s := serve(address, whole, notes("speaks"), does("panics", func(p *check.Pass) {
			none[p.Job.Ref.Name] = p
		}))
		defer s.stop()
		got := write(ctx, sample("pytorchjob.yaml", warning, "panicked"))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(starting(got.warnings, "speaks")).To(HaveLen(1))
		Expect(starting(got.warnings, "signalbox")).To(ConsistOf(HavePrefix("[signalbox] not checked: panics: run check panics: panic: assignment to entry in nil map")))
		Expect(got.warnings).To(HaveLen(2))
		Expect(got.audit).To(And(HaveKeyWithValue("decision", "warned"), HaveKeyWithValue("not-checked", ContainSubstring("panics"))))
		Expect(got.open).To(BeFalse(), "the API server had to ignore a failed call")
	})

	It("admits a job within its own deadline when a check hangs", func(ctx SpecContext) {
		release := make(chan struct{})
		s := serve(address, whole, 200*time.Millisecond, does("hangs", func(p *check.Pass) {
			if p.Job.Ref.Name == "hung" {
				<-release
			}
		}))
		defer s.stop()
		defer close(release)
		got := write(ctx, sample("pytorchjob.yaml", warning, "hung"))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.warnings).To(ConsistOf("[signalbox] not checked: the review took longer than 200ms"))
		Expect(got.audit).To(And(HaveKeyWithValue("decision", "allowed"), HaveKeyWithValue("not-checked", "the review took longer than 200ms")))
		Expect(got.open).To(BeFalse(), "the API server had to ignore a failed call")
	})

	It("admits a job whose fields have the wrong types, and names them", func(ctx SpecContext) {
		Expect(plane.InstallCRDs(ctx, 0, filepath.Join("..", "cluster", "crds", "colossalaijobs.batch.tensorstack.dev.yaml"))).To(Succeed())
		s := serve(address, whole, notes("speaks"))
		defer s.stop()
		job := sample("colossalaijob.yaml", warning, "unreadable")
		Expect(unstructured.SetNestedField(job.Object, "eight of them", "spec", "launcher")).To(Succeed())
		Expect(unstructured.SetNestedField(job.Object, map[string]any{"spec": "none"}, "spec", "worker", "template")).To(Succeed())
		got := write(ctx, job)
		Expect(got.err).NotTo(HaveOccurred())
		Expect(starting(got.warnings, "unreadable-field")).NotTo(BeEmpty())
		Expect(strings.Join(got.warnings, "\n")).To(ContainSubstring("spec.launcher"))
		Expect(starting(got.warnings, "signalbox")).To(ConsistOf(And(
			HavePrefix("[signalbox] not checked: what rests on 2 fields that could not be read: "),
			ContainSubstring("spec.launcher"), ContainSubstring("spec.worker.template"))))
		Expect(got.audit).To(HaveKeyWithValue("not-checked", ContainSubstring("could not be read: spec.launcher")))
		Expect(got.open).To(BeFalse(), "the API server had to ignore a failed call")
	})

	It("admits jobs while the view is not whole, and says so once", func(ctx SpecContext) {
		s := serve(address, fixed{incomplete: "nodes are still being listed"}, notes("speaks"), &check.Check{
			Name: "fits", Title: "the job does not fit", Doc: "It asks the cluster.", Remedy: "Do nothing.", Since: "0.1",
			Severity: finding.Warning, Needs: check.Cluster, Run: func(p *check.Pass) { p.Fit() },
		})
		defer s.stop()
		Expect(s.ready()).To(MatchError(ContainSubstring("nodes are still being listed")))
		got := write(ctx, sample("pytorchjob.yaml", warning, "early"))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(starting(got.warnings, "speaks")).To(HaveLen(1))
		Expect(starting(got.warnings, "signalbox")).To(ConsistOf("[signalbox] not checked: the view of the cluster is not whole: nodes are still being listed"))
		Expect(got.audit).To(HaveKeyWithValue("not-checked", ContainSubstring("nodes are still being listed")))
	})

	It("waits for the live view, then answers from memory alone", func(ctx SpecContext) {
		calls := &atomic.Int64{}
		clients, err := live.Connect(installed(ctx, calls))
		Expect(err).NotTo(HaveOccurred())
		view := live.New(clients, live.Options{Poll: time.Hour})
		what := []any{calls}
		for _, c := range checks.All() {
			what = append(what, c)
		}
		s := serve(address, view, what...)
		defer s.stop()
		Expect(s.ready()).To(MatchError(ContainSubstring("has not been read yet")))
		got := write(ctx, sample("pytorchjob.yaml", warning, "unsynced"))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.warnings).To(ConsistOf(HavePrefix("[signalbox] not checked: the view of the cluster is not whole: the cluster has not been read yet")))
		Expect(got.audit).To(HaveKeyWithValue("not-checked", ContainSubstring("has not been read yet")))

		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "live"}}
		node, err = plane.Clientset().CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		defer func() {
			Expect(plane.Clientset().CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{})).To(Succeed())
		}()
		node.Spec.Taints = nil
		node, err = plane.Clientset().CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		node.Status = eightGPUs()
		node, err = plane.Clientset().CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())

		following, stop := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- view.Start(following) }()
		defer func() { stop(); Eventually(ended).Should(Receive(BeNil())) }()
		Eventually(s.ready).Should(Succeed())
		Eventually(func() int { return len(view.Snapshot().Nodes()) }).Should(Equal(1))
		before := calls.Load()
		for range 20 {
			got = write(ctx, sample("pytorchjob.yaml", warning, "synced"), metav1.DryRunAll)
			Expect(got.warnings).To(ConsistOf(HavePrefix("[gang-does-not-fit] ")))
			Expect(got.warnings[0]).To(ContainSubstring("1 of 2 pods fit"))
			Expect(got.audit).NotTo(HaveKey("not-checked"))
		}
		Expect(calls.Load()-before).To(BeZero(), "calls to the API during 20 reviews")
	})

	It("denies by policy where a namespace enforces, and only warns elsewhere", func(ctx SpecContext) {
		s := serve(address, whole)
		defer s.stop()
		policy := policyMap("limits", map[string]string{"limit.yaml": "signalbox:\n  gpu_limit:\n    default: 8\n"})
		create(ctx, policy)
		defer remove(ctx, policy)
		const rule, says = "[max-gpus-per-job] ", "the job asks for 16 GPUs"
		Eventually(func() []string {
			return write(ctx, sample("pytorchjob.yaml", warning, "large"), metav1.DryRunAll).warnings
		}).Should(ConsistOf(And(HavePrefix(rule), ContainSubstring(says), ContainSubstring(warning+" may ask for 8"))))
		denied := write(ctx, sample("pytorchjob.yaml", enforcing, "large"))
		Expect(apierrors.IsForbidden(denied.err)).To(BeTrue(), "got %v", denied.err)
		Expect(denied.err).To(MatchError(And(ContainSubstring(rule+"spec: "+says), ContainSubstring(enforcing+" may ask for 8"))))
		Expect(denied.audit).To(And(HaveKeyWithValue("decision", "denied"), HaveKey("policy-revision")))
		Expect(write(ctx, sample("pytorchjob.yaml", off, "large")).warnings).To(BeEmpty())
	})

	It("lets no job past a policy in another dress", func(ctx SpecContext) {
		Expect(plane.InstallCRDs(ctx, operators.KubeRay, filepath.Join("..", "cluster", "crds", "frameworks.frameworkcontroller.microsoft.com.yaml"))).To(Succeed())
		s := serve(address, whole)
		defer s.stop()
		policy := policyMap("limits", map[string]string{"limit.yaml": "config:\n  gpu_limit:\n    default: 8\n", "cost.rego": `# METADATA
# title: somebody pays
# description: It is about an annotation.
# custom: {remedy: Say who pays.}
package signalbox.cost

deny contains "nobody pays" if input.job.annotations["example.com/cost-center"] == "none"
`})
		create(ctx, policy)
		defer remove(ctx, policy)
		denied := MatchError(ContainSubstring("[max-gpus-per-job] spec: the job asks for "))
		Eventually(func() error { return write(ctx, sample("pytorchjob.yaml", enforcing, "dressed"), metav1.DryRunAll).err }).Should(denied)

		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		jobs := objects.Resource(pytorchJobs).Namespace(enforcing)
		large := func(name string) *unstructured.Unstructured { return sample("pytorchjob.yaml", enforcing, name) }
		sized := func(pods int64) *unstructured.Unstructured {
			u := large("grows")
			Expect(unstructured.SetNestedField(u.Object, pods, "spec", "pytorchReplicaSpecs", "Worker", "replicas")).To(Succeed())
			return u
		}

		By("a name that the server makes, an owner that is a claim, and another way to create")
		unnamed := large("")
		unnamed.SetName("")
		unnamed.SetGenerateName("dressed-")
		_, err = jobs.Create(ctx, unnamed, metav1.CreateOptions{})
		Expect(err).To(denied)
		owned := large("owned")
		owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "x", UID: "0", Controller: new(true)}})
		_, err = jobs.Create(ctx, owned, metav1.CreateOptions{})
		Expect(err).To(denied)
		_, err = jobs.Apply(ctx, "applied", large("applied"), metav1.ApplyOptions{FieldManager: "somebody"})
		Expect(err).To(denied)

		By("a small one that grows: by each kind of patch, and of field manager")
		small := sized(0)
		_, err = jobs.Create(ctx, small, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for of, patch := range map[types.PatchType]string{
			types.MergePatchType: `{"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":1}}}}`,
			types.JSONPatchType:  `[{"op":"replace","path":"/spec/pytorchReplicaSpecs/Worker/replicas","value":1}]`,
		} {
			_, err = jobs.Patch(ctx, "grows", of, []byte(patch), metav1.PatchOptions{})
			Expect(err).To(denied, string(of))
			_, err = jobs.Patch(ctx, "grows", of, []byte(patch), metav1.PatchOptions{}, "status")
			Expect(err).NotTo(HaveOccurred(), "the status of a job has no spec")
		}
		_, err = jobs.Apply(ctx, "grows", sized(1), metav1.ApplyOptions{FieldManager: "somebody", Force: true})
		Expect(err).To(denied)

		By("an annotation that a policy reads; others are nobody's matter")
		unpaid := MatchError(ContainSubstring("[cost] nobody pays"))
		for of, patch := range map[types.PatchType]string{
			types.MergePatchType: `{"metadata":{"annotations":{"example.com/cost-center":"none"}}}`,
			types.JSONPatchType:  `[{"op":"add","path":"/metadata/annotations","value":{"example.com/cost-center":"none"}}]`,
		} {
			_, err = jobs.Patch(ctx, "grows", of, []byte(patch), metav1.PatchOptions{})
			Expect(err).To(unpaid, string(of))
		}
		annotated := sized(0)
		annotated.SetAnnotations(map[string]string{"example.com/cost-center": "none"})
		_, err = jobs.Apply(ctx, "grows", annotated, metav1.ApplyOptions{FieldManager: "somebody", Force: true})
		Expect(err).To(unpaid)
		_, err = jobs.Patch(ctx, "grows", types.MergePatchType, []byte(`{"metadata":{"annotations":{"example.com/note":"none"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())

		By("an old version of its API")
		ray := sample("raycluster.yaml", enforcing, "old")
		ray.SetAPIVersion("ray.io/v1alpha1")
		_, err = objects.Resource(ray.GroupVersionKind().GroupVersion().WithResource("rayclusters")).Namespace(enforcing).Create(ctx, ray, metav1.CreateOptions{})
		Expect(err).To(denied)

		By("a status that its author writes, and takes back")
		frames := objects.Resource(schema.GroupVersionResource{Group: "frameworkcontroller.microsoft.com", Version: "v1", Resource: "frameworks"}).Namespace(enforcing)
		frame := sample("framework.yaml", enforcing, "framed")
		roles, _, _ := unstructured.NestedSlice(frame.Object, "spec", "taskRoles")
		role := roles[0].(map[string]any)
		role["taskNumber"] = int64(0)
		Expect(unstructured.SetNestedSlice(frame.Object, roles[:1], "spec", "taskRoles")).To(Succeed())
		_, err = frames.Create(ctx, frame, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		const over = `[{"op":"add","path":"/status","value":{"state":"Completed","attemptStatus":{"completionStatus":{"code":0,"type":{"name":"Succeeded","attributes":[]}}}}}`
		const grown = `{"op":"replace","path":"/spec/taskRoles/0/taskNumber","value":64}]`
		_, err = frames.Patch(ctx, "framed", types.JSONPatchType, []byte(over+","+grown), metav1.PatchOptions{})
		Expect(err).To(denied)
		_, err = frames.Patch(ctx, "framed", types.JSONPatchType, []byte(over+"]"), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred(), "what asks for no more is its author's matter")
		_, err = frames.Patch(ctx, "framed", types.JSONPatchType, []byte("["+grown), metav1.PatchOptions{})
		Expect(err).To(denied, "a status hides no change of what the job asks for")
		_, err = frames.Patch(ctx, "framed", types.JSONPatchType, []byte(`[{"op":"remove","path":"/status"}]`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
	})

	It("keeps the last good policies when a new one is broken, and says so on it, not to everybody who applies a job", func(ctx SpecContext) {
		s := serve(address, whole)
		defer s.stop()
		good := policyMap("limits", map[string]string{"limit.yaml": "signalbox:\n  gpu_limit:\n    default: 8\n"})
		broken := policyMap("broken", map[string]string{"bad.rego": "package signalbox.bad\n\ndeny contains {"})
		create(ctx, good)
		defer remove(ctx, good)
		Eventually(func() []string {
			return write(ctx, sample("pytorchjob.yaml", warning, "kept"), metav1.DryRunAll).warnings
		}).Should(HaveLen(1))
		create(ctx, broken)
		maps := plane.Clientset().CoreV1().ConfigMaps("signalbox-system")
		annotation := func(name string) func() string {
			return func() string {
				m, err := maps.Get(ctx, name, metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				return m.Annotations[webhook.PolicyErrorAnnotation]
			}
		}
		Eventually(annotation("broken")).Should(ContainSubstring("broken/bad.rego"))
		Expect(annotation("limits")()).To(BeEmpty(), "the other ConfigMap is not to blame")
		Eventually(func() []corev1.Event {
			list, err := plane.Clientset().CoreV1().Events("signalbox-system").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=broken,reason=PolicyBroken"})
			Expect(err).NotTo(HaveOccurred())
			return list.Items
		}).Should(HaveLen(1))
		got := write(ctx, sample("pytorchjob.yaml", warning, "kept"), metav1.DryRunAll)
		Expect(starting(got.warnings, "signalbox")).To(BeEmpty(), "who applies a job can do nothing about it")
		Expect(starting(got.warnings, "max-gpus-per-job")).To(HaveLen(1), "the last good set must go on deciding")
		remove(ctx, broken)
	})

	It("reviews a kind that is installed while it runs", func(ctx SpecContext) {
		s := serve(address, whole, notes("speaks"))
		defer s.stop()
		Expect(plane.InstallCRDs(ctx, 0, filepath.Join("..", "cluster", "crds", "frameworks.frameworkcontroller.microsoft.com.yaml"))).To(Succeed())
		got := write(ctx, sample("framework.yaml", warning, "late"))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.warnings).To(ConsistOf(HavePrefix("[speaks] metadata.name: 2 pods at most")))
	})

	It("finds every sample valid for the real definitions", func(ctx SpecContext) {
		Expect(plane.InstallCRDs(ctx, operators.LeaderWorkerSet|operators.KubeRay, filepath.Join("..", "cluster", "crds"))).To(Succeed())
		var all []any
		for _, c := range checks.All() {
			all = append(all, c)
		}
		s := serve(address, whole, all...)
		defer s.stop()
		paths, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(paths).NotTo(BeEmpty())
		for _, path := range paths {
			job := sample(filepath.Base(path), warning, "")
			if job.GetAPIVersion() == "kubeflow.org/v2beta1" {
				continue // the MPI operator's definition has the same name as the training operator's
			}
			got := write(ctx, job, metav1.DryRunAll)
			Expect(got.err).NotTo(HaveOccurred(), path)
			Expect(got.warnings).To(BeEmpty(), path)
			Expect(got.audit).To(HaveKeyWithValue("decision", "allowed"), path)
		}
	})

	It("is silent about changes that no user made", func(ctx SpecContext) {
		s := serve(address, whole, notes("speaks"))
		defer s.stop()
		job := sample("pytorchjob.yaml", warning, "quiet")
		Expect(write(ctx, job).warnings).To(HaveLen(1))
		annotated := job.DeepCopy()
		annotated.SetAnnotations(map[string]string{"signalbox.dev/healthy": "No"})
		got := write(ctx, annotated, metav1.DryRunAll)
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.warnings).To(BeEmpty())
		edited := job.DeepCopy()
		Expect(unstructured.SetNestedField(edited.Object, int64(2), "spec", "pytorchReplicaSpecs", "Worker", "replicas")).To(Succeed())
		Expect(write(ctx, edited, metav1.DryRunAll).warnings).To(ConsistOf(ContainSubstring("3 pods at most")))
	})

	It("stands in nobody's way when it is down", func(ctx SpecContext) {
		serve(address, whole).stop()
		got := write(ctx, sample("pytorchjob.yaml", enforcing, "alone"))
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.warnings).To(BeEmpty())
		Expect(got.open).To(BeTrue(), "the API server notes in its audit log that it failed open")
	})
})

// installed is the ServiceAccount of the manifests; its calls are counted.
func installed(ctx context.Context, calls *atomic.Int64) *rest.Config {
	GinkgoHelper()
	config, err := plane.ConfigFor(ctx, "signalbox-system", "signalbox")
	Expect(err).NotTo(HaveOccurred())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{calls, next} })
	return config
}

type counting struct {
	calls *atomic.Int64
	next  http.RoundTripper
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.calls.Add(1)
	return c.next.RoundTrip(r)
}

// freeAddress is a loopback address whose port is free now.
func freeAddress() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer listener.Close()
	return listener.Addr().String()
}

func policyMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "signalbox-system", Labels: map[string]string{webhook.PolicyLabel: "true"}},
		Data:       data,
	}
}

func create(ctx context.Context, m *corev1.ConfigMap) {
	GinkgoHelper()
	_, err := plane.Clientset().CoreV1().ConfigMaps(m.Namespace).Create(ctx, m, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

func remove(ctx context.Context, m *corev1.ConfigMap) {
	GinkgoHelper()
	Expect(plane.Clientset().CoreV1().ConfigMaps(m.Namespace).Delete(ctx, m.Name, metav1.DeleteOptions{})).To(Succeed())
}
