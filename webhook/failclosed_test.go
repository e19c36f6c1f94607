package webhook

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// By default nothing is closed on failure. Where it is, the configuration differs from the other in what it is for, and
// reaches no namespace of the cluster's own, nor ours.
func TestOnlyChosenNamespacesAreClosed(t *testing.T) {
	for _, folder := range []string{"default", "local", "cert-manager"} {
		if only[admissionregistrationv1.ValidatingWebhookConfiguration](t, build(t, folder), "ValidatingWebhookConfiguration", ClosedConfigurationName) != nil {
			t.Errorf("config/%s closes namespaces on failure", folder)
		}
	}
	all := build(t, "closed")
	open := only[admissionregistrationv1.ValidatingWebhookConfiguration](t, all, "ValidatingWebhookConfiguration", ConfigurationName)
	got := only[admissionregistrationv1.ValidatingWebhookConfiguration](t, all, "ValidatingWebhookConfiguration", ClosedConfigurationName)
	if open == nil || got == nil || len(got.Webhooks) != 1 {
		t.Fatal("config/closed lacks one of the two configurations")
	}
	w := got.Webhooks[0]
	if *w.FailurePolicy != admissionregistrationv1.Fail || *open.Webhooks[0].FailurePolicy != admissionregistrationv1.Ignore {
		t.Errorf("failure policies %s and %s; want Fail and Ignore", *w.FailurePolicy, *open.Webhooks[0].FailurePolicy)
	}
	if w.NamespaceSelector.MatchLabels[ClosedLabel] != ClosedValue {
		t.Errorf("namespaces are not chosen by a label: %v", w.NamespaceSelector)
	}
	never := []string{"kube-system", "kube-public", "kube-node-lease", Namespace}
	for _, name := range never {
		if !slices.ContainsFunc(w.NamespaceSelector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
			return r.Key == "kubernetes.io/metadata.name" && r.Operator == metav1.LabelSelectorOpNotIn && slices.Contains(r.Values, name)
		}) {
			t.Errorf("namespace %s may be chosen", name)
		}
	}
	if !slices.ContainsFunc(w.NamespaceSelector.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == preflight.ModeLabel && r.Operator == metav1.LabelSelectorOpIn && slices.Equal(r.Values, []string{preflight.ModeEnforce})
	}) {
		t.Error("a namespace that does not enforce may be chosen")
	}
	role := only[rbacv1.ClusterRole](t, all, "ClusterRole", "signalbox-webhook-closed")
	if role == nil || len(role.Rules) != 1 || !slices.Equal(role.Rules[0].ResourceNames, []string{ClosedConfigurationName}) ||
		!slices.Equal(role.Rules[0].Verbs, []string{"get", "patch"}) {
		t.Errorf("the role is %+v; want get and patch on the one configuration", role)
	}
}

// asked is what the closed configuration answers to one request.
func asked(h *Handler, req *admissionv1.AdmissionRequest) admission.Response {
	return failClosed{h}.Handle(context.Background(), admission.Request{AdmissionRequest: *req})
}

func TestWhatIsClosedDeniesWhatItCannotSay(t *testing.T) {
	whole := preflight.Report{Decision: preflight.Warned}
	says := func(r preflight.Report) Reviewer {
		return reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) { return r, nil })
	}
	enforcing := world{labels: map[string]map[string]string{
		"ml": {preflight.ModeLabel: preflight.ModeEnforce}, "kube-public": {preflight.ModeLabel: preflight.ModeEnforce},
	}}
	in := func(namespace string) change {
		return func(r *admissionv1.AdmissionRequest) { r.Namespace = namespace }
	}
	cases := map[string]struct {
		reviewer Reviewer
		view     View
		req      *admissionv1.AdmissionRequest
		want     string // part of the message; empty: admitted
	}{
		"a whole review denies nothing": {says(whole), enforcing, request(), ""},
		"a policy denies": {
			says(preflight.Report{Decision: preflight.Denied, Rulings: []preflight.Ruling{{Policy: "limit", Effect: preflight.Deny, Message: "too many"}}}),
			enforcing, request(), "[limit] too many",
		},
		"nobody answers in time, and a policy is closed on failure": {
			unaskedOnly{preflight.Report{Decision: preflight.Denied, Rulings: []preflight.Ruling{{Policy: "limit", Effect: preflight.Deny, Message: "could not be evaluated, and is closed on failure"}}}},
			enforcing, request(), "[limit] could not be evaluated, and is closed on failure",
		},
		"nobody answers in time, and no policy is": {unaskedOnly{preflight.Report{Decision: preflight.Allowed}}, enforcing, request(), ""},
		"what answers panics outside of all stages": {
			says(whole),
			panicking{},
			request(),
			"[signalbox] the policies of this namespace could not be asked, and it is closed on failure: the review panicked",
		},
		"a namespace that is not seen yet":    {says(whole), enforcing, request(in("new")), "namespace new has not been seen yet"},
		"a namespace of the cluster's own":    {unaskedOnly{}, panicking{}, request(in("kube-public")), ""},
		"our own namespace":                   {unaskedOnly{}, panicking{}, request(in(Namespace)), ""},
		"an object that is no longer changed": {unaskedOnly{}, enforcing, request(func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete }), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := asked(NewHandler(HandlerOptions{Reviewer: tc.reviewer, View: tc.view}), tc.req)
			message := ""
			if got.Result != nil {
				message = got.Result.Message
			}
			if got.Allowed != (tc.want == "") || !strings.Contains(message, tc.want) {
				t.Errorf("allowed %v, %q; want %q", got.Allowed, message, tc.want)
			}
			if len(got.Warnings) > 0 {
				t.Errorf("it warns, as the other configuration does: %q", got.Warnings)
			}
		})
	}
}

// unaskedOnly is a reviewer that cannot begin.
type unaskedOnly struct{ report preflight.Report }

func (u unaskedOnly) Begin(context.Context, preflight.Request) (Review, error) {
	return nil, context.DeadlineExceeded
}
func (u unaskedOnly) Unasked(preflight.Request, string) preflight.Report { return u.report }

// panicking is a view that does, but for the labels of a namespace.
type panicking struct{ world }

func (panicking) Namespace(string) map[string]string {
	panic("broken") //nolint:forbidigo // what is tested
}

// Who deletes the configuration, or makes it ignore failures, has switched it off, and everybody hears of it: once.
func TestSwitchingOffIsLoud(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	metrics, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "signalbox"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32(1))}})
	s := NewSwitch(SwitchOptions{Client: client, Namespace: Namespace, Deployment: "signalbox", Metrics: metrics, Log: log})
	at := time.Unix(0, 0)
	s.now = func() time.Time { at = at.Add(time.Second); return at }
	reasons := func() map[string]int {
		out := map[string]int{}
		all, err := client.EventsV1().Events(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all.Items {
			out[e.Reason]++
		}
		return out
	}
	installed := ClosedConfiguration(kinds.All())
	ignoring := installed.DeepCopy()
	ignoring.Webhooks[0].FailurePolicy = new(admissionregistrationv1.Ignore)
	for i, step := range []struct {
		on   bool
		want map[string]int
	}{
		{refuses(installed), map[string]int{ClosedAlone: 1}},
		{refuses(installed), map[string]int{ClosedAlone: 1}},
		{refuses(ignoring), map[string]int{ClosedAlone: 1, ClosedOff: 1}},
		{false, map[string]int{ClosedAlone: 1, ClosedOff: 1}},
		{true, map[string]int{ClosedAlone: 1, ClosedOff: 1, ClosedOn: 1}},
	} {
		s.look(t.Context(), step.on)
		s.count(t.Context())
		if got := reasons(); !maps.Equal(got, step.want) {
			t.Errorf("step %d: Events %v; want %v", i, got, step.want)
		}
		var said dto.Metric
		if err := metrics.closed.WithLabelValues().Write(&said); err != nil {
			t.Fatal(err)
		}
		if got, want := said.GetGauge().GetValue(), map[bool]float64{true: 1}[step.on]; got != want {
			t.Errorf("step %d: the metric is %g; want %g", i, got, want)
		}
	}
	if text := strings.Join(lines, "\n"); strings.Count(text, ClosedOff) != 1 || strings.Count(text, ClosedAlone) != 1 {
		t.Errorf("the log says\n%s", text)
	}
}
