package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiversion "k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

var examinedAt = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// installation is one that is well; changes make it sick.
type installation struct {
	hook     *admissionregistrationv1.ValidatingWebhookConfiguration
	pods     *appsv1.Deployment
	lease    *coordinationv1.Lease
	settings *corev1.ConfigMap
	more     []runtime.Object
	version  string
	served   []*metav1.APIResourceList
	denied   string // a resource that the account may not touch
	silent   bool
	err      error
	skew     time.Duration
	named    bool   // the namespace was asked for
	asked    string // the namespace of the dry run
	parts    []Examined
}

func well() *installation {
	own := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: webhook.Namespace, Name: name}
	}
	i := &installation{
		hook:     webhook.Configuration(kinds.All()),
		pods:     &appsv1.Deployment{ObjectMeta: own("signalbox")},
		lease:    &coordinationv1.Lease{ObjectMeta: own("signalbox-controller")},
		settings: &corev1.ConfigMap{ObjectMeta: own("signalbox-config-1"), Data: map[string]string{"config.yaml": "log: {format: json}"}},
		version:  "v1.36.3",
		served:   []*metav1.APIResourceList{{GroupVersion: "kubeflow.org/v1", APIResources: []metav1.APIResource{{Name: "pytorchjobs"}}}},
	}
	i.hook.Webhooks[0].ClientConfig.CABundle = []byte(authorityOfTests)
	i.pods.Spec.Replicas, i.pods.Status.ReadyReplicas = new(int32(2)), 2
	i.pods.Spec.Template.Spec.Containers = []corev1.Container{{Image: "registry.example/signalbox:0.1.0"}}
	i.lease.Spec.HolderIdentity, i.lease.Spec.RenewTime = new("signalbox-7f9c"), &metav1.MicroTime{Time: examinedAt.Add(-5 * time.Second)}
	i.settings.Labels = map[string]string{"app.kubernetes.io/part-of": "signalbox"}
	for _, name := range []string{"signalbox-jobs", "signalbox-evidence", "signalbox-own", "signalbox-kept"} {
		i.more = append(i.more, &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}},
			&admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return i
}

// examine is what doctor prints about it, without what is well.
func (i *installation) examine(t *testing.T) string {
	t.Helper()
	objects := i.more
	if i.hook != nil {
		objects = append(objects, i.hook)
	}
	if i.pods != nil {
		objects = append(objects, i.pods)
	}
	if i.lease != nil {
		objects = append(objects, i.lease)
	}
	if i.settings != nil {
		objects = append(objects, i.settings)
	}
	kube := fake.NewClientset(objects...)
	api, ok := kube.Discovery().(*fakediscovery.FakeDiscovery)
	if !ok {
		t.Fatal("the fake has no discovery")
	}
	api.FakedServerVersion, api.Resources = &apiversion.Info{GitVersion: i.version}, i.served
	kube.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		r.Status.Allowed = r.Spec.ResourceAttributes.Resource != i.denied
		return true, r, nil
	})
	served := map[string][]string{}
	for _, list := range i.served {
		group, v, _ := strings.Cut(list.GroupVersion, "/")
		served[group] = append(served[group], v)
	}
	d := &doctor{
		kube: kube, served: served, namespace: "ml", named: i.named, skew: func() time.Duration { return i.skew }, now: func() time.Time { return examinedAt },
		ask: func(_ context.Context, namespace string) (bool, error) {
			i.asked = namespace
			return !i.silent, i.err
		},
	}
	e := d.examine(t.Context())
	i.parts = e.Parts
	var out strings.Builder
	for _, p := range e.Parts {
		if p.State != partFine {
			out.WriteString(p.State + " " + p.Part + ": " + p.Says + "\n")
		}
		if p.State == partWrong && p.Remedy == "" {
			t.Errorf("nothing mends %s", p.Part)
		}
	}
	return out.String()
}

func TestDoctor(t *testing.T) {
	cases := map[string]struct {
		change func(*installation)
		want   string
	}{
		"all is well": {func(*installation) {}, ""},
		"nothing is installed": {
			func(i *installation) { *i = installation{version: i.version, served: i.served} },
			`wrong webhook configuration: there is none called signalbox: the API server asks nobody about jobs
wrong pods: there is no Deployment signalbox in signalbox-system
wrong webhook is reached: nothing tells the API server to
wrong leader: there is no Lease: nobody diagnoses
wrong settings: no ConfigMap in signalbox-system holds config.yaml
wrong bounds of the account: ValidatingAdmissionPolicy signalbox-jobs or its binding is missing: a stolen token could change what is not Signalbox's
`,
		},
		"it runs outside of the cluster": {
			func(i *installation) {
				i.hook.Webhooks[0].ClientConfig.Service, i.hook.Webhooks[0].ClientConfig.URL = nil, new("https://127.0.0.1:9443/validate")
				i.pods, i.lease, i.settings = nil, nil, nil
			},
			`unknown leader: there is no Lease, and the server at https://127.0.0.1:9443/validate needs none where leaderElection.enabled is false: its settings are not in the cluster
unknown settings: the server at https://127.0.0.1:9443/validate reads them outside of the cluster
`,
		},
		"a mode is misspelt": {
			func(i *installation) {
				i.more = append(i.more, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "prod", Labels: map[string]string{preflight.ModeLabel: "enforced"}}})
			},
			"wrong modes of namespaces: signalbox.dev/mode=off, warn or enforce says what policies may do; what namespaces carry instead is taken for warn: prod (\"enforced\")\n",
		},
		"one replica, which is not elected": {func(i *installation) { i.lease = nil }, ""},
		"an election in which nobody stands": {
			func(i *installation) {
				i.lease, i.settings.Data["config.yaml"] = nil, "leaderElection: {enabled: true}"
			},
			"wrong leader: there is no Lease: nobody diagnoses\n",
		},
		"it refuses jobs while it is away": {
			func(i *installation) { i.hook.Webhooks[0].FailurePolicy = new(admissionregistrationv1.Fail) },
			"wrong webhook configuration: failurePolicy is Fail; expected Ignore: jobs are refused while Signalbox is away\n",
		},
		"the webhook does not answer": {
			func(i *installation) { i.silent = true },
			"wrong webhook is reached: it did not answer a dry run in namespace ml: jobs are admitted unreviewed\n",
		},
		"somebody else refuses the probe": {
			func(i *installation) { i.err = errors.New("no Jobs on Sundays") },
			"unknown webhook is reached: a Job in namespace ml is refused: no Jobs on Sundays\n",
		},
		"the API server trusts nobody": {
			func(i *installation) { i.hook.Webhooks[0].ClientConfig.CABundle = nil },
			"wrong certificate: the webhook configuration holds no CA: the API server trusts nobody\n",
		},
		"a pod waits for its image": {func(i *installation) {
			i.pods.Status.ReadyReplicas = 0
			i.more = append(i.more, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: webhook.Namespace, Name: "signalbox-1", Labels: map[string]string{"app.kubernetes.io/name": "signalbox"}},
				Status:     corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}}}}},
			})
		}, "wrong pods: 0 of 2 ready: signalbox-1: ImagePullBackOff not found\n"},
		"the leader is gone": {
			func(i *installation) { i.lease.Spec.RenewTime.Time = examinedAt.Add(-time.Hour) },
			"wrong leader: signalbox-7f9c has not renewed the Lease since 2026-11-22T11:00:00Z: nobody diagnoses\n",
		},
		"our clock is off, not the leader": {
			func(i *installation) { i.lease.Spec.RenewTime.Time = examinedAt.Add(-time.Hour); i.skew = time.Hour },
			"wrong clocks: this machine is 1h0m0s ahead of the API server\n",
		},
		"a setting is misspelt": {
			func(i *installation) { i.settings.Data["config.yaml"] = "webhok: {}" },
			`wrong settings: signalbox-config-1: line 1: no setting is called webhok; did you mean "webhook"?` + "\n",
		},
		"a policy does not load": {func(i *installation) {
			i.more = append(i.more, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Namespace: webhook.Namespace, Name: "mine", Labels: map[string]string{webhook.PolicyLabel: "true"}, Annotations: map[string]string{webhook.PolicyErrorAnnotation: "line 3: what is this"},
			}})
		}, "wrong policies: mine does not load: line 3: what is this\n"},
		"a bundle does not load": {func(i *installation) {
			i.more = append(i.more, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
				Namespace: webhook.Namespace, Name: "signalbox-policy-bundle", Labels: map[string]string{webhook.PolicyLabel: "bundle"},
				Annotations: map[string]string{webhook.PolicyErrorAnnotation: "tests of policies fail: a_test.rego:3 test_a"},
			}, Data: map[string]string{"bundle": "registry.example.com/team/policies:v3"}})
		}, "wrong bundle of policies: registry.example.com/team/policies:v3 does not load, the last good set stays: tests of policies fail: a_test.rego:3 test_a\n"},
		"a right is missing": {
			func(i *installation) { i.denied = "nodes" },
			"wrong rights of the account: system:serviceaccount:signalbox-system:signalbox may not list nodes\n",
		},
		"the operator is newer": {
			func(i *installation) { i.served[0].GroupVersion = "kubeflow.org/v3" },
			"wrong kinds: the cluster serves pytorchjobs.kubeflow.org in v3; PyTorchJob is read in v1\n",
		},
		"a version is served that nobody reviews": {
			func(i *installation) {
				i.served = append(i.served, &metav1.APIResourceList{GroupVersion: "kubeflow.org/v2", APIResources: i.served[0].APIResources})
			},
			"wrong kinds: the cluster serves pytorchjobs.kubeflow.org in v2 as well, which nobody reviews; PyTorchJob is read in v1\n",
		},
		"an operator's webhook is down": {func(i *installation) {
			other := webhook.Configuration(kinds.All())
			other.Name, other.Webhooks[0].Name, other.Webhooks[0].FailurePolicy = "operator", "v.operator", new(admissionregistrationv1.Fail)
			other.Webhooks[0].ClientConfig.Service.Namespace, other.Webhooks[0].ClientConfig.Service.Name = "kubeflow", "operator"
			i.more = append(i.more, other)
		}, "wrong operators' webhooks: nobody is behind Service kubeflow/operator, and v.operator refuses jobs until somebody is\n"},
		"what changes jobs or pods is down": {func(i *installation) {
			about := func(name, group, resource string, failure *admissionregistrationv1.FailurePolicyType) admissionregistrationv1.MutatingWebhook {
				return admissionregistrationv1.MutatingWebhook{
					Name: name, FailurePolicy: failure,
					Rules:        []admissionregistrationv1.RuleWithOperations{{Rule: admissionregistrationv1.Rule{APIGroups: []string{group}, Resources: []string{resource}}}},
					ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "mesh", Name: name}},
				}
			}
			i.more = append(i.more, &admissionregistrationv1.MutatingWebhookConfiguration{
				ObjectMeta: metav1.ObjectMeta{Name: "mesh"}, Webhooks: []admissionregistrationv1.MutatingWebhook{
					about("injector", "", "pods", nil), about("queue", "kubeflow.org", "pytorchjobs", new(admissionregistrationv1.Fail)),
					about("other", "apps", "deployments", nil), about("lenient", "", "pods", new(admissionregistrationv1.Ignore)),
				},
			})
		}, "wrong operators' webhooks: nobody is behind Service mesh/injector, and injector refuses pods until somebody is\n" +
			"wrong operators' webhooks: nobody is behind Service mesh/queue, and queue refuses jobs until somebody is\n"},
		"what is behind an operator's URL is not known": {func(i *installation) {
			other := webhook.Configuration(kinds.All())
			other.Name, other.Webhooks[0].Name, other.Webhooks[0].FailurePolicy = "operator", "v.operator", new(admissionregistrationv1.Fail)
			other.Webhooks[0].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: new("https://operator.example.com/validate")}
			i.more = append(i.more, other)
		}, "unknown operators' webhooks: 1 reached by URL, not looked at\n"},
		"what is closed on failure is well": {func(i *installation) { closed(i) }, ""},
		"closed: it is wanted and gone": {
			func(i *installation) { i.settings.Data["config.yaml"] = closedSettings },
			"wrong closed on failure: webhook.closed.enabled wants it, and there is no signalbox-closed: chosen namespaces are open\n",
		},
		"closed: it is there and no setting wants it": {
			func(i *installation) { closed(i); i.settings.Data["config.yaml"] = "" },
			"wrong closed on failure: signalbox-closed is installed, and the settings say that it is not: nobody renews its CA, and no metric watches it\n",
		},
		"closed: it ignores failures": {
			func(i *installation) { closed(i).Webhooks[0].FailurePolicy = new(admissionregistrationv1.Ignore) },
			"wrong closed on failure: failurePolicy is not Fail: chosen namespaces are open\n",
		},
		"closed: it holds no CA": {
			func(i *installation) { closed(i).Webhooks[0].ClientConfig.CABundle = nil },
			"wrong certificate of signalbox-closed: the webhook configuration holds no CA: the API server trusts nobody\n",
		},
		"closed: it asks another path": {
			func(i *installation) { closed(i).Webhooks[0].ClientConfig.Service.Path = new("/validate") },
			`wrong closed on failure: it asks Service signalbox-system/signalbox-webhook at "/validate"; expected namespace signalbox-system and "/validate/closed": all jobs of chosen namespaces may be refused` + "\n",
		},
		"closed: nobody answers": {
			func(i *installation) { closed(i); i.more = i.more[:len(i.more)-1] },
			"wrong closed on failure: nobody is behind Service signalbox-system/signalbox-webhook: all jobs of chosen namespaces are refused until somebody is\n",
		},
		"closed: one replica": {
			func(i *installation) { closed(i); i.pods.Spec.Replicas = new(int32(1)) },
			"wrong closed on failure: 1 of the 2 replicas that it takes: each restart refuses all jobs of the chosen namespaces\n",
		},
		"closed: a namespace that is labelled does not enforce": {
			func(i *installation) {
				closed(i)
				i.more = append([]runtime.Object{namespaceOf("warns", map[string]string{webhook.ClosedLabel: webhook.ClosedValue})}, i.more...)
			},
			"wrong closed on failure: namespace warns is labelled signalbox.dev/failure=closed and does not enforce: it is open\n",
		},
		"closed: a selector that takes all takes our own namespace": {
			func(i *installation) {
				closed(i).Webhooks[0].NamespaceSelector = &metav1.LabelSelector{}
				i.more = append([]runtime.Object{namespaceOf(webhook.Namespace, nil)}, i.more...)
			},
			"wrong closed on failure: namespace signalbox-system is chosen: while no replica answers, nothing is created there, Signalbox neither\n",
		},
		"the cluster is old": {
			func(i *installation) { i.version = "v1.29.4" },
			"wrong API server: it is v1.29.4; expected 1.30 or later: the admission policies that bound the account are missing\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			i := well()
			tc.change(i)
			if diff := cmp.Diff(tc.want, i.examine(t)); diff != "" {
				t.Errorf("what is not well (-want +got):\n%s", diff)
			}
		})
	}
}

const closedSettings = "webhook: {closed: {enabled: true, replicas: 2}}"

func namespaceOf(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// closed adds the second configuration, all of which is well; the last object is the endpoint behind it.
func closed(i *installation) *admissionregistrationv1.ValidatingWebhookConfiguration {
	c := webhook.ClosedConfiguration(kinds.All())
	c.Webhooks[0].ClientConfig.CABundle = []byte(authorityOfTests)
	i.settings.Data["config.yaml"] = closedSettings
	i.more = append(i.more, c,
		namespaceOf("prod", map[string]string{webhook.ClosedLabel: webhook.ClosedValue, "signalbox.dev/mode": "enforce"}),
		&discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: webhook.Namespace, Name: "signalbox-webhook-1", Labels: map[string]string{discoveryv1.LabelServiceName: "signalbox-webhook"}},
			Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
		})
	return c
}

func TestDoctorNamesTheNamespacesThatAreClosed(t *testing.T) {
	i := well()
	closed(i)
	d := &doctor{kube: fake.NewClientset(append(i.more, i.settings)...), own: webhook.Namespace, now: func() time.Time { return examinedAt }}
	e := &examination{}
	d.closed(t.Context(), e, d.settings(t.Context(), e), nil)
	want := []Examined{
		{Part: "settings", State: partFine, Says: "1 read"},
		{Part: "certificate of signalbox-closed", State: partFine, Says: "the CA ends at 2099-01-01"},
		{Part: closedPart, State: partFine, Says: "1 namespace: prod"},
	}
	if diff := cmp.Diff(want, e.Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoOperatorsWebhookIsNone(t *testing.T) {
	e := &examination{}
	(&doctor{kube: fake.NewClientset()}).operators(t.Context(), e)
	if diff := cmp.Diff([]Examined{{Part: "operators' webhooks", State: partFine, Says: "none that may refuse jobs or pods"}}, e.Parts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnExaminationIsPrinted(t *testing.T) {
	e := examination{Schema: doctorSchema, Namespace: "signalbox-system"}
	e.fine("API server", "v1.36.3")
	e.wrong("leader", "kubectl get leases", "nobody holds the Lease")
	e.unknown("settings", errors.New("forbidden"))
	var out bytes.Buffer
	if err := renderExamination(&shell.Shell{Out: &out}, "text", e, terminal.Painter{}); err != nil {
		t.Fatal(err)
	}
	want := `Signalbox in namespace signalbox-system
  ok       API server  v1.36.3
  wrong    leader      nobody holds the Lease
                       → kubectl get leases
  unknown  settings    forbidden
1 wrong, 1 unknown, 1 well
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The dry run goes to a namespace that the webhook is asked about: silence elsewhere says nothing of it.
func TestDoctorAsksWhereTheWebhookIsAsked(t *testing.T) {
	off := map[string]string{"signalbox.dev/mode": "off"}
	cases := map[string]struct {
		named      bool
		exclude    string
		namespaces []runtime.Object
		asked      string
		want       string
	}{
		"the namespace of the context":       {asked: "ml", namespaces: []runtime.Object{namespaceOf("ml", nil), namespaceOf("a", nil)}},
		"another, where that one is off":     {asked: "prod", namespaces: []runtime.Object{namespaceOf("ml", off), namespaceOf("kube-public", nil), namespaceOf("prod", nil)}},
		"another, where settings exclude it": {asked: "prod", exclude: "ml", namespaces: []runtime.Object{namespaceOf("ml", nil), namespaceOf("prod", nil)}},
		"not the namespace that it runs in":  {asked: "prod", namespaces: []runtime.Object{namespaceOf("ml", off), namespaceOf("kube-system", nil), namespaceOf(webhook.Namespace, nil), namespaceOf("prod", nil)}},
		"one that was asked for is not swapped": {
			named: true, namespaces: []runtime.Object{namespaceOf("ml", off), namespaceOf("prod", nil)},
			want: "unknown webhook is reached: namespace ml is labelled signalbox.dev/mode=off; name another with -n\n",
		},
		"one that was asked for is excluded": {
			named: true, exclude: "ml", namespaces: []runtime.Object{namespaceOf("ml", nil), namespaceOf("prod", nil)},
			want: "unknown webhook is reached: namespace ml is left out by the webhook's namespaceSelector or webhook.exclude; name another with -n\n",
		},
		"none is left": {
			namespaces: []runtime.Object{namespaceOf("ml", off), namespaceOf("prod", off)},
			want:       "unknown webhook is reached: namespace ml is labelled signalbox.dev/mode=off, and no other of 2 is reviewed; name another with -n\n",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			i := well()
			i.named, i.more = c.named, append(i.more, c.namespaces...)
			if c.exclude != "" {
				i.settings.Data["config.yaml"] = "webhook: {exclude: [" + c.exclude + "]}"
			}
			if got := i.examine(t); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if i.asked != c.asked {
				t.Errorf("asked in %q, want %q", i.asked, c.asked)
			}
		})
	}
}

// authorityOfTests ends in 2099.
const authorityOfTests = `-----BEGIN CERTIFICATE-----
MIIBQDCB56ADAgECAgEBMAoGCCqGSM49BAMCMA8xDTALBgNVBAMTBHRlc3QwIBcN
MjYwMTAxMDAwMDAwWhgPMjA5OTAxMDEwMDAwMDBaMA8xDTALBgNVBAMTBHRlc3Qw
WTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQZGZJzR5bScN2j3GA07jKBXnMcJIBE
uRGwxWB/RDVUVIcXbBHGoPCZRhOzSYFCXxqoJwKjZRJb+dbdzvUYkCblozIwMDAP
BgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBSX5U5psLhba5h7qxXqu9PNmUSTxjAK
BggqhkjOPQQDAgNIADBFAiA0iItgppqwZKCdFDql8sChLCApMKRBUCehZzSb36hc
cQIhAJi2n32+4lTkwOv1ExCLHL2aRYH9HFOhlWt1BEu9iB2H
-----END CERTIFICATE-----
`

// The shipped policies rule nothing without data, which the doctor says, and counts one less where data sets one.
func TestTheDoctorCountsPoliciesThatNothingSets(t *testing.T) {
	bare := unsetPolicies(nil)
	set := unsetPolicies([]corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Data: map[string]string{"data.yaml": "config: {labels: {default: [team]}}"}}})
	var all, unset, of int
	if _, err := fmt.Sscanf(bare, "; %d of %d policies", &all, &of); err != nil || all != of || all == 0 {
		t.Errorf("without data: %q (%v); want that all say nothing", bare, err)
	}
	if _, err := fmt.Sscanf(set, "; %d of %d policies", &unset, &of); err != nil || unset != all-1 {
		t.Errorf("with labels: %q (%v); want %d of %d", set, err, all-1, of)
	}
	if got := unsetPolicies([]corev1.ConfigMap{{Data: map[string]string{"a.rego": "package signalbox.a\n\nbroken"}}}); got != "" {
		t.Errorf("of policies that do not load: %q; want nothing", got)
	}
}
