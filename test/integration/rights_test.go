//go:build integration

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	sigyaml "sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/webhook"
)

// theAccount is whose requests the API server of these specs writes down.
const theAccount = "system:serviceaccount:signalbox-system:signalbox"

const rightsPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
  - {level: Metadata, users: ["` + theAccount + `"]}
  - {level: None}
`

// notShown are rights that these specs show no need of, and who does.
var notShown = map[string]string{
	"cluster get workloads.scheduling.k8s.io":                  "the alpha API of Kubernetes 1.35",
	"cluster list workloads.scheduling.k8s.io":                 "the alpha API of Kubernetes 1.35",
	"cluster watch workloads.scheduling.k8s.io":                "the alpha API of Kubernetes 1.35",
	"cluster get podgroups.scheduling.k8s.io":                  "an alpha API of Kubernetes 1.36, off by default",
	"cluster list podgroups.scheduling.k8s.io":                 "an alpha API of Kubernetes 1.36, off by default",
	"cluster watch podgroups.scheduling.k8s.io":                "an alpha API of Kubernetes 1.36, off by default",
	"cluster list devicetaintrules.resource.k8s.io":            "an API that is off by default",
	"cluster watch devicetaintrules.resource.k8s.io":           "an API that is off by default",
	"cluster get statefulsets.apps":                            "what makes the pods of a LeaderWorkerSet, whose controller does not run here",
	"cluster get pods":                                         "the leader of a LeaderWorkerSet's group, whose controller does not run here",
	"cluster list statefulsets.apps":                           "operators, of jobs on which nothing acts for minutes",
	"cluster list deployments.apps":                            "operators, of jobs on which nothing acts for minutes",
	"cluster create subjectaccessreviews.authorization.k8s.io": "a shell that asks: asked_test.go",
	"signalbox-system patch events":                            "client-go counts an Event that comes again instead of making another",
	"signalbox-system update secrets":                          "a certificate that is renewed: certs_test.go",
	"signalbox-system update leases.coordination.k8s.io":       "a Lease that is renewed, two seconds after it was made",
}

// grant is one verb on one resource, everywhere or in a namespace.
func grant(scope, verb, resource, group string) string {
	if group != "" {
		resource += "." + group
	}
	return scope + " " + verb + " " + resource
}

// roles are the roles of the manifests with those grants that are kept, and all grants.
func roles(text string, keep func(grant string) bool) (manifests string, granted []string) {
	GinkgoHelper()
	for document := range strings.SplitSeq(text, "\n---\n") {
		var o map[string]any
		Expect(sigyaml.Unmarshal([]byte(document), &o)).To(Succeed())
		u := &unstructured.Unstructured{Object: o}
		if k := u.GetKind(); k != "ClusterRole" && k != "Role" || u.GetName() == "signalbox-user" { // of people
			continue
		}
		var role rbacv1.ClusterRole // a Role has the same rules
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(o, &role)).To(Succeed())
		scope := "cluster"
		if u.GetNamespace() != "" {
			scope = u.GetNamespace()
		}
		var rules []rbacv1.PolicyRule
		for _, r := range role.Rules {
			if slices.Equal(r.APIGroups, []string{"signalbox.dev"}) {
				rules = append(rules, r)
				continue
			}
			for _, g := range r.APIGroups {
				for _, resource := range r.Resources {
					one := rbacv1.PolicyRule{APIGroups: []string{g}, Resources: []string{resource}, ResourceNames: r.ResourceNames}
					for _, v := range r.Verbs {
						this := grant(scope, v, resource, g)
						if granted = append(granted, this); keep(this) {
							one.Verbs = append(one.Verbs, v)
						}
					}
					if len(one.Verbs) > 0 {
						rules = append(rules, one)
					}
				}
			}
		}
		role.Rules = rules
		changed, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&role)
		Expect(err).NotTo(HaveOccurred())
		changed["kind"], changed["apiVersion"] = u.GetKind(), u.GetAPIVersion()
		out, err := sigyaml.Marshal(changed)
		Expect(err).NotTo(HaveOccurred())
		manifests += "---\n" + string(out)
	}
	slices.Sort(granted)
	return manifests, slices.Compact(granted)
}

// Each verb that the account is given is one that it uses: without it, the API server refuses something that
// the program asks for. With all of them, it refuses nothing.
var _ = Describe("The rights of the account", Ordered, ContinueOnFailure, func() {
	const namespace = "rights"
	var own *cluster.Cluster
	var program, log, address, manifests string
	var objects dynamic.Interface
	var tries int

	// refused are the requests of the account that were forbidden, from a place in the log on.
	refused := func(begin int64) map[string]bool {
		GinkgoHelper()
		file, err := os.Open(log)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		_, err = file.Seek(begin, io.SeekStart)
		Expect(err).NotTo(HaveOccurred())
		out := map[string]bool{}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<22)
		for lines.Scan() {
			var e struct {
				Verb           string
				ObjectRef      struct{ Resource, APIGroup, Subresource, Namespace string }
				Annotations    map[string]string
				ResponseStatus struct{ Code int }
			}
			if json.Unmarshal(lines.Bytes(), &e) != nil || e.ResponseStatus.Code != http.StatusForbidden {
				continue
			}
			if e.Verb == "patch" && e.Annotations["authorization.k8s.io/decision"] == "allow" {
				// An apply that would create asks for that right, too, once it is known to
				// (k8s.io/apiserver, pkg/endpoints/handlers/patch.go).
				e.Verb = "create"
			}
			resource := e.ObjectRef.Resource
			if e.ObjectRef.Subresource != "" {
				resource += "/" + e.ObjectRef.Subresource
			}
			out[grant("cluster", e.Verb, resource, e.ObjectRef.APIGroup)] = true
			out[grant(e.ObjectRef.Namespace, e.Verb, resource, e.ObjectRef.APIGroup)] = true
		}
		return out
	}
	size := func() int64 {
		GinkgoHelper()
		file, err := os.Stat(log)
		if os.IsNotExist(err) {
			return 0
		}
		Expect(err).NotTo(HaveOccurred())
		return file.Size()
	}

	// play makes the program do all that it does: jobs of every kind that were not reviewed and that ask for a
	// diagnosis, one that failed with a pod on a node, in pod groups and with a device claim.
	play := func(ctx context.Context) {
		GinkgoHelper()
		tries++
		files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		for _, file := range files {
			u := sample(filepath.Base(file), namespace, fmt.Sprintf("j%d", tries))
			k := kinds.For(u.GroupVersionKind())
			if filepath.Base(file) == "mpijob.yaml" { // v2beta1, of another operator
				continue
			}
			u.SetAnnotations(map[string]string{"signalbox.dev/diagnose": "now"})
			job, err := objects.Resource(u.GroupVersionKind().GroupVersion().WithResource(k.Resource)).Namespace(namespace).Create(ctx, u, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred(), file)
			if k.Name == "TrainJob" {
				other := u.DeepCopy()
				other.SetName(u.GetName() + "-own")
				Expect(unstructured.SetNestedField(other.Object, "TrainingRuntime", "spec", "runtimeRef", "kind")).To(Succeed())
				_, err := objects.Resource(u.GroupVersionKind().GroupVersion().WithResource(k.Resource)).Namespace(namespace).Create(ctx, other, metav1.CreateOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
			if k.Name != "PyTorchJob" {
				continue
			}
			waiting := sample(filepath.Base(file), namespace, u.GetName()+"-waits") // the other one ends, and is not reviewed late
			_, err = objects.Resource(pytorchJobs).Namespace(namespace).Create(ctx, waiting, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Name: job.GetName() + "-master-0", Namespace: namespace,
					Labels: map[string]string{
						"training.kubeflow.org/job-name": job.GetName(), "training.kubeflow.org/operator-name": "pytorchjob-controller",
						"training.kubeflow.org/replica-type": "master", "training.kubeflow.org/replica-index": "0",
						"scheduling.x-k8s.io/pod-group": "g", "scheduler.tensorstack.dev/group-name": "g",
					},
					Annotations:     map[string]string{"scheduling.k8s.io/group-name": "g"},
					OwnerReferences: []metav1.OwnerReference{{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: job.GetName(), UID: job.GetUID(), Controller: new(true)}},
				},
				Spec: corev1.PodSpec{
					NodeName: "n1", Containers: []corev1.Container{{Name: "pytorch", Image: "registry.example.com/t:1"}},
					ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}},
				},
			}
			pod, err = own.Clientset().CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			pod.Status = corev1.PodStatus{
				Phase: corev1.PodFailed, ResourceClaimStatuses: []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("gpu-of-it")}},
				ContainerStatuses: []corev1.ContainerStatus{{
					Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: metav1.Now()}},
				}},
			}
			_, err = own.Clientset().CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
			conditionIn(ctx, objects.Resource(pytorchJobs).Namespace(namespace), job.GetName(), "Failed", "PyTorchJobFailed")
		}
		broken := policyMap(fmt.Sprintf("broken-%d", tries), map[string]string{"a.rego": "package signalbox.a\n{"})
		_, err = own.Clientset().CoreV1().ConfigMaps("signalbox-system").Create(ctx, broken, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	}

	// run is the program with the rights that are there, until the returned function ends it.
	run := func(ctx context.Context) (end func()) {
		GinkgoHelper()
		kubeconfig, err := own.KubeconfigFor(ctx, "signalbox-system", "signalbox")
		Expect(err).NotTo(HaveOccurred())
		var ends []func()
		// A part that may not lead does nothing else, so one leads and the other asks nothing.
		for _, part := range []string{"leaderElection: {enabled: false}", "leaderElection: {enabled: true}\nlisten: {webhook: \"127.0.0.1:0\"}"} {
			settings := filepath.Join(GinkgoT().TempDir(), "config.yaml")
			text := "listen: {webhook: \"" + address + "\", metrics: \"0\", health: \"0\"}\n"
			args := []string{"serve", "--config", settings, "--kubeconfig", kubeconfig}
			if strings.Contains(part, "true") {
				text, part = "listen: {metrics: \"0\", health: \"0\"}\n", "leaderElection: {enabled: true}"
				args = append(args, "--controller")
			}
			text += part + "\ncertificates: {hosts: [127.0.0.1]}\ndiagnosis: {pendingAfter: 1s, refresh: 2s, discovery: 1s, debounce: 100ms}\n"
			Expect(os.WriteFile(settings, []byte(text), 0o600)).To(Succeed())
			session, err := gexec.Start(exec.Command(program, args...), GinkgoWriter, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			ends = append(ends, func() { session.Kill().Wait() })
		}
		return func() {
			for _, end := range ends {
				end()
			}
		}
	}

	BeforeAll(func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		log = filepath.Join(dir, "audit.log")
		policy := filepath.Join(dir, "policy.yaml")
		Expect(os.WriteFile(policy, []byte(rightsPolicy), 0o600)).To(Succeed())
		var err error
		own, err = cluster.Start(context.Background(), cluster.Options{Progress: GinkgoWriter, ExtraArgs: map[string][]string{"kube-apiserver": {
			"--audit-policy-file=" + policy, "--audit-log-path=" + log, "--audit-log-mode=blocking",
			"--feature-gates=WatchList=false", // an API server without it is listed, and the account has to be able to
		}}})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() error { return own.Stop() })
		Expect(own.InstallCRDs(ctx, cluster.TrainingOperator|cluster.JobSet|cluster.Trainer)).To(Succeed())
		objects, err = dynamic.NewForConfig(own.Config())
		Expect(err).NotTo(HaveOccurred())
		program, err = gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		address = freeAddress()
		manifests = rendered("local", "127.0.0.1:9443", address)
		Expect(own.Apply(ctx, manifests+foreignKinds())).To(Succeed())
		// The role that lifts the bound of ConfigMaps would give reading and writing them, too.
		Expect(own.Apply(ctx, `
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Namespace
metadata: {name: `+namespace+`, labels: {signalbox.dev/mode: enforce}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: `+namespace+`}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: `+webhook.ReviewedName+`, namespace: signalbox-system}
`)).To(Succeed())
	})

	// without takes grants away, and waits until the account has been refused all of them.
	without := func(ctx context.Context, taken func(grant string) bool) {
		GinkgoHelper()
		changed, granted := roles(manifests, func(g string) bool { return !taken(g) })
		Expect(own.Apply(ctx, changed)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(own.Apply(ctx, manifests)).To(Succeed()) })
		want := slices.DeleteFunc(granted, func(g string) bool { return !taken(g) || notShown[g] != "" })
		Expect(want).NotTo(BeEmpty())
		begin := size()
		end := run(ctx)
		defer end()
		play(ctx)
		missing := func() []string {
			seen := refused(begin)
			return slices.DeleteFunc(slices.Clone(want), func(g string) bool { return seen[g] })
		}
		Eventually(missing).WithTimeout(75*time.Second).WithPolling(time.Second).Should(BeEmpty(), "rights that nothing asked for")
	}

	It("are enough", func(ctx SpecContext) {
		begin := size()
		end := run(ctx)
		defer end()
		play(ctx)
		noted := func() int { // all jobs are diagnosed
			n := 0
			for _, k := range kinds.All() {
				list, err := objects.Resource(k.GVKs[0].GroupVersion().WithResource(k.Resource)).Namespace(namespace).List(ctx, metav1.ListOptions{})
				if err != nil {
					continue
				}
				for _, u := range list.Items {
					if u.GetAnnotations()["signalbox.dev/healthy"] != "" {
						n++
					}
				}
			}
			return n
		}
		Eventually(noted).WithTimeout(time.Minute).Should(BeNumerically(">=", 8))
		Expect(slices.Sorted(maps.Keys(refused(begin)))).To(BeEmpty())
	})

	// What a diagnosis lists: without the lists of jobs and pods there is none.
	late := []string{"cluster list events", "cluster list workloads.kueue.x-k8s.io"}
	It("include no list of a diagnosis that it does not use", func(ctx SpecContext) {
		without(ctx, func(g string) bool { return slices.Contains(late, g) })
	})
	for _, verb := range []string{"list", "watch", "get", "create", "patch"} {
		for where, everywhere := range map[string]bool{"everywhere": true, "in its namespaces": false} {
			It("include no "+verb+" "+where+" that it does not use", func(ctx SpecContext) {
				if verb == "patch" { // the CA that was put in is put in again
					_, err := own.Kubectl(ctx, "patch", "validatingwebhookconfiguration", "signalbox", "--type=json", "-p", `[{"op":"add","path":"/webhooks/0/clientConfig/caBundle","value":""}]`)
					Expect(err).NotTo(HaveOccurred())
				}
				if verb == "create" { // what was made before is made again
					for _, name := range []string{"configmap/" + webhook.ReviewedName, "lease/signalbox-controller", "secret/signalbox-webhook-cert"} {
						_, err := own.Kubectl(ctx, "-n", "signalbox-system", "delete", "--ignore-not-found", name)
						Expect(err).NotTo(HaveOccurred())
					}
				}
				without(ctx, func(g string) bool {
					words := strings.Fields(g)
					if !everywhere && words[2] == "configmaps" { // evidence is written everywhere, its namespaces among it
						return words[1] == verb
					}
					return words[1] == verb && (words[0] == "cluster") == everywhere && !slices.Contains(late, g)
				})
			})
		}
	}
})

// foreignKinds are CRDs, without a schema, of what is followed and comes with other programs.
func foreignKinds() string {
	wide := []string{"clusterqueues", "cohorts", "resourceflavors", "topologies", "workloadpriorityclasses", "admissionchecks", "nodepools"}
	words := map[schema.GroupResource]string{}
	names := map[schema.GroupResource]string{{Group: "kueue.x-k8s.io", Resource: "workloads"}: "v1beta1"}
	for _, r := range live.Resources() {
		if strings.Contains(r.Group, ".") && !strings.HasSuffix(r.Group, ".k8s.io") || strings.HasSuffix(r.Group, ".x-k8s.io") {
			if r.Group != "trainer.kubeflow.org" {
				names[schema.GroupResource{Group: r.Group, Resource: r.Plural}] = r.Versions[0]
			}
		}
	}
	for _, k := range kinds.All() { // jobs of operators that are not installed
		if group := k.GVKs[0].Group; !slices.Contains([]string{"batch", "kubeflow.org", "jobset.x-k8s.io", "trainer.kubeflow.org"}, group) {
			names[schema.GroupResource{Group: group, Resource: k.Resource}] = k.GVKs[0].Version
			words[schema.GroupResource{Group: group, Resource: k.Resource}] = k.GVKs[0].Kind
		}
	}
	var b strings.Builder
	for gr, version := range names {
		scope := "Namespaced"
		if slices.Contains(wide, gr.Resource) || gr.Resource == "queues" {
			scope = "Cluster"
		}
		singular := strings.TrimSuffix(gr.Resource, "s")
		kind := map[string]string{"podgroups": "PodGroup", "workloads": "Workload"}[gr.Resource]
		if word := words[gr]; word != "" {
			kind = word
		}
		if kind == "" {
			kind = strings.ToUpper(singular[:1]) + singular[1:]
		}
		b.WriteString("---\n" + crd(gr.Group, version, gr.Resource, kind, scope))
	}
	return b.String()
}

// crd is a CustomResourceDefinition without a schema and without subresources.
func crd(group, version, plural, kind, scope string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]s.%[2]s
  annotations: {api-approved.kubernetes.io: "unapproved, of a test"}
spec:
  group: %[2]s
  scope: %[3]s
  names: {plural: %[1]s, singular: %[4]s, kind: %[5]s}
  versions: [{name: %[6]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, plural, group, scope, strings.TrimSuffix(plural, "s"), kind, version)
}
