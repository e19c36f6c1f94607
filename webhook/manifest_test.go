package webhook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/policies/oci"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// build renders a folder below config/ as kubectl apply -k does.
func build(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("..", "config", folder))
	if err != nil {
		t.Fatal(err)
	}
	text, err := rendered.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return objects(t, text)
}

func objects(t *testing.T, text []byte) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		u := &unstructured.Unstructured{}
		if err := d.Decode(&u.Object); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
}

// only decodes the one object of a kind and name; nil if there is none.
func only[T any](t *testing.T, from []*unstructured.Unstructured, kind, name string) *T {
	t.Helper()
	for _, u := range from {
		if u.GetKind() != kind || u.GetName() != name {
			continue
		}
		var out T
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, &out, true); err != nil {
			t.Fatalf("%s %s: %v", kind, name, err)
		}
		return &out
	}
	return nil
}

func TestManifestsAreThoseOfTheKinds(t *testing.T) {
	files, err := Manifests(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		have, err := os.ReadFile(filepath.Join("..", "config", path))
		if err != nil {
			t.Error(err)
			continue
		}
		if diff := gocmp.Diff(string(files[path]), string(have)); diff != "" {
			t.Errorf("config/%s (-want +got):\n%s\nRun: make generate", path, diff)
		}
	}
}

func TestTheWebhookCoversEveryKindAndNothingElse(t *testing.T) {
	got := only[admissionregistrationv1.ValidatingWebhookConfiguration](t, build(t, "default"), "ValidatingWebhookConfiguration", ConfigurationName)
	if got == nil || len(got.Webhooks) != 1 {
		t.Fatal("config/default holds no webhook configuration with one webhook")
	}
	w := got.Webhooks[0]
	registered := map[string]bool{}
	for _, r := range w.Rules {
		if !slices.Equal(r.APIVersions, []string{"*"}) {
			t.Errorf("a rule names versions %v; a job in any other that is served would come to nobody", r.APIVersions)
		}
		for _, g := range r.APIGroups {
			for _, resource := range r.Resources {
				registered[g+"/"+resource] = true
			}
		}
	}
	want := map[string]bool{}
	for _, k := range kinds.All() {
		for _, gvk := range k.GVKs {
			want[gvk.Group+"/"+k.Resource], want[gvk.Group+"/"+k.Resource+"/scale"] = true, true
		}
	}
	if diff := gocmp.Diff(want, registered); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if *w.FailurePolicy != admissionregistrationv1.Ignore || *w.TimeoutSeconds != 10 || *w.SideEffects != admissionregistrationv1.SideEffectClassNone {
		t.Errorf("failurePolicy %s, timeout %d s, sideEffects %s; want Ignore, 10 s, None", *w.FailurePolicy, *w.TimeoutSeconds, *w.SideEffects)
	}
}

// Least privilege: no wildcard, no Secret outside our namespace, nothing deleted in anybody
// else's, and nothing created there but Events and what is kept of ended containers.
func TestWhatSignalboxMayDo(t *testing.T) {
	reading := []string{"get", "list", "watch"}
	for _, folder := range []string{"default", "local", "cert-manager"} {
		for _, u := range build(t, folder) {
			if u.GetKind() != "ClusterRole" && u.GetKind() != "Role" {
				continue
			}
			role := only[rbacv1.ClusterRole](t, []*unstructured.Unstructured{u}, u.GetKind(), u.GetName())
			for _, r := range role.Rules {
				where := folder + ": " + u.GetKind() + " " + u.GetName()
				if slices.Contains(slices.Concat(r.APIGroups, r.Resources, r.Verbs), "*") {
					t.Errorf("%s has a wildcard", where)
				}
				if u.GetKind() == "Role" {
					continue
				}
				evidence := u.GetName() == "signalbox-evidence"
				shapes := slices.Equal(r.ResourceNames, []string{"resource-shapes"}) // of T9k's queues, by its name alone
				if slices.Contains(r.Resources, "secrets") || slices.Contains(r.Resources, "configmaps") && !evidence && !shapes {
					t.Errorf("%s reads %v in all namespaces", where, r.Resources)
				}
				allowed := reading
				if slices.Equal(r.APIGroups, []string{boundGroup}) {
					continue // binds, and gives nothing
				}
				if slices.Equal(r.Resources, []string{"subjectaccessreviews"}) {
					allowed = []string{"create"} // asks, and stores nothing
				}
				switch u.GetName() {
				case "signalbox-jobs", "signalbox-webhook":
					allowed = append(slices.Clone(reading), "patch")
				case "signalbox-events":
					allowed = []string{"create"}
				case "signalbox-evidence":
					allowed = []string{"get", "create", "patch"}
				}
				for _, v := range r.Verbs {
					if !slices.Contains(allowed, v) {
						t.Errorf("%s may %s %v", where, v, r.Resources)
					}
				}
				if u.GetName() == "signalbox-webhook" && !slices.Equal(r.ResourceNames, []string{ConfigurationName}) {
					t.Errorf("%s is not limited to our own configuration: %v", where, r.ResourceNames)
				}
			}
		}
	}
}

// Whoever may patch jobs or write ConfigMaps of all namespaces is held to annotations and names by
// admission, whatever the account is called: the role that gives the right is what the policy asks
// for. That the API server does so is tested in test/integration.
func TestAdmissionBoundsWhatMayBeWritten(t *testing.T) {
	for _, folder := range []string{"default", "local", "cert-manager"} {
		all := build(t, folder)
		for name, resource := range map[string]string{"signalbox-jobs": "jobs", "signalbox-evidence": "configmaps"} {
			policy := only[admissionregistrationv1.ValidatingAdmissionPolicy](t, all, "ValidatingAdmissionPolicy", name)
			binding := only[admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, all, "ValidatingAdmissionPolicyBinding", name)
			role := only[rbacv1.ClusterRole](t, all, "ClusterRole", name)
			if policy == nil || binding == nil || role == nil {
				t.Fatalf("%s: the rights of %s come without their policy", folder, name)
			}
			if binding.Spec.PolicyName != policy.Name || !slices.Equal(binding.Spec.ValidationActions, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}) ||
				*policy.Spec.FailurePolicy != admissionregistrationv1.Fail {
				t.Errorf("%s: the binding is of %s with %v, the failure policy %s", folder, binding.Spec.PolicyName, binding.Spec.ValidationActions, *policy.Spec.FailurePolicy)
			}
			if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
				return slices.Equal(r.APIGroups, []string{boundGroup}) && slices.Equal(r.Resources, []string{resource}) && slices.Equal(r.Verbs, []string{boundVerb})
			}) {
				t.Errorf("%s: the role %s does not bind who holds it", folder, name)
			}
			for _, c := range policy.Spec.MatchConditions {
				if strings.Contains(c.Expression, "serviceaccount") {
					t.Errorf("%s: %s names an account: %s", folder, name, c.Expression)
				}
			}
			text := fmt.Sprint(policy.Spec)
			for _, want := range map[string][]string{
				"signalbox-jobs":     {controller.Healthy, controller.Error, controller.Analysis, controller.Solution, controller.Diagnosis, controller.Waiting, ReviewAnnotation},
				"signalbox-evidence": {keep.Prefix, keep.Label},
			}[name] {
				if !strings.Contains(text, want) {
					t.Errorf("%s: the policy %s does not name %s", folder, name, want)
				}
			}
		}
		own := only[admissionregistrationv1.ValidatingAdmissionPolicy](t, all, "ValidatingAdmissionPolicy", "signalbox-own")
		if own == nil || only[admissionregistrationv1.ValidatingAdmissionPolicyBinding](t, all, "ValidatingAdmissionPolicyBinding", "signalbox-own") == nil {
			t.Fatalf("%s: the account may write what it obeys", folder)
		}
		for _, want := range []string{PolicyLabel, PolicyErrorAnnotation, controller.SignatureLabel, controller.SignatureErrorAnnotation, ReviewedName, oci.StatusName, keep.Prefix, keep.Label} {
			if text := fmt.Sprint(own.Spec); !strings.Contains(text, want) {
				t.Errorf("%s: the policy signalbox-own does not name %s", folder, want)
			}
		}
		for _, account := range []string{"signalbox-jobs", "signalbox-evidence"} { // nothing lifts the bound
			for _, r := range only[rbacv1.ClusterRole](t, all, "ClusterRole", account).Rules {
				if slices.Contains(r.Verbs, freeVerb) {
					t.Errorf("%s: %s is free of its bound", folder, account)
				}
			}
		}
	}
}

// What the account may do, one line each: whoever adds a right adds a line here.
func TestRightsAreThose(t *testing.T) {
	var lines []string
	for _, u := range build(t, "default") {
		if u.GetKind() != "ClusterRole" && u.GetKind() != "Role" || u.GetName() == "signalbox-user" { // of people: nobody binds the account to it
			continue
		}
		where := cmp.Or(u.GetNamespace(), "everywhere")
		for _, r := range only[rbacv1.ClusterRole](t, []*unstructured.Unstructured{u}, u.GetKind(), u.GetName()).Rules {
			for _, g := range r.APIGroups {
				for _, resource := range r.Resources {
					lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s.%s %s %s", where, resource, cmp.Or(g, "core"), strings.Join(r.Verbs, ","), strings.Join(r.ResourceNames, ","))))
				}
			}
		}
	}
	slices.Sort(lines)
	golden.Equal(t, "testdata/rights.golden", []byte(strings.Join(lines, "\n")+"\n"))
}

// What the cluster view follows may be listed, or the fit would be unknown for ever.
func TestTheViewMayReadWhatItFollows(t *testing.T) {
	role := only[rbacv1.ClusterRole](t, build(t, "default"), "ClusterRole", "signalbox-view")
	follows := []live.Resource{{Plural: "nodes"}, {Plural: "pods"}, {Plural: "namespaces"}}
	for _, want := range append(follows, live.Resources()...) {
		if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.APIGroups, want.Group) && slices.Contains(r.Resources, want.Plural) &&
				slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
		}) {
			t.Errorf("%s.%s is followed and may not be listed and watched", want.Plural, want.Group)
		}
	}
}

func TestTheSecretIsReachableByNameOnly(t *testing.T) {
	settings := config.Default()
	role := only[rbacv1.Role](t, build(t, "default"), "Role", "signalbox-certificate")
	for _, r := range role.Rules {
		if !slices.Contains(r.Resources, "secrets") || slices.Equal(r.Verbs, []string{"create"}) {
			continue
		}
		if !slices.Equal(r.ResourceNames, []string{settings.Certificates.Secret}) {
			t.Errorf("secrets %v may be %v; want %s only", r.ResourceNames, r.Verbs, settings.Certificates.Secret)
		}
	}
	for _, u := range build(t, "cert-manager") {
		if k := u.GetKind(); k != "Role" && k != "ClusterRole" {
			continue
		}
		for _, r := range only[rbacv1.Role](t, []*unstructured.Unstructured{u}, u.GetKind(), u.GetName()).Rules {
			if slices.Contains(r.Resources, "secrets") {
				t.Errorf("with cert-manager secrets may still be %v", r.Verbs)
			}
		}
	}
	if role.Namespace != settings.Namespace || Namespace != settings.Namespace {
		t.Errorf("namespaces %s (role), %s (webhook), %s (settings) differ", role.Namespace, Namespace, settings.Namespace)
	}
}

func TestThePodIsRestrictedAndItsNamesAgree(t *testing.T) {
	settings := config.Default()
	for _, folder := range []string{"default", "cert-manager"} {
		all := build(t, folder)
		deployment := only[appsv1.Deployment](t, all, "Deployment", "signalbox")
		pod := deployment.Spec.Template.Spec
		c := pod.Containers[0]
		if !*pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.SeccompProfile == nil ||
			*c.SecurityContext.AllowPrivilegeEscalation || !*c.SecurityContext.ReadOnlyRootFilesystem ||
			!slices.Equal(c.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%s: the pod does not keep to the restricted profile", folder)
		}
		if c.Image != "" {
			t.Errorf("%s: image %q; want none, which make install puts there", folder, c.Image)
		}
		service := only[corev1.Service](t, all, "Service", ServiceName)
		if service == nil || settings.Certificates.Service != ServiceName {
			t.Fatalf("%s: service %v; the certificate is for %s", folder, service, settings.Certificates.Service)
		}
		for key, value := range service.Spec.Selector {
			if deployment.Spec.Template.Labels[key] != value {
				t.Errorf("%s: the service selects %s=%s; the pods have %q", folder, key, value, deployment.Spec.Template.Labels[key])
			}
		}
		for _, u := range all {
			if u.GetLabels()["app.kubernetes.io/part-of"] != "signalbox" {
				t.Errorf("%s: %s %s lacks the label app.kubernetes.io/part-of", folder, u.GetKind(), u.GetName())
			}
		}
	}
}

// Each installed settings file is one that serve accepts, and says what its manifests need.
func TestInstalledSettingsAreRead(t *testing.T) {
	for folder, mode := range map[string]string{"default": "builtin", "cert-manager": "files"} {
		for _, u := range build(t, folder) {
			if u.GetKind() != "ConfigMap" {
				continue
			}
			text, _, _ := unstructured.NestedString(u.Object, "data", "config.yaml")
			got, err := config.Read(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v", folder, err)
			}
			if got.Certificates.Mode != mode || !got.LeaderElection.Enabled {
				t.Errorf("%s: certificates %s, leader election %v; want %s, true", folder, got.Certificates.Mode, got.LeaderElection.Enabled, mode)
			}
		}
	}
}

func TestALocalProcessIsCalledByURL(t *testing.T) {
	all := build(t, "local")
	got := only[admissionregistrationv1.ValidatingWebhookConfiguration](t, all, "ValidatingWebhookConfiguration", ConfigurationName)
	to := got.Webhooks[0].ClientConfig
	if to.Service != nil || to.URL == nil || *to.URL != "https://127.0.0.1:9443/validate" {
		t.Errorf("client config %+v; want the url https://127.0.0.1:9443/validate", to)
	}
	for _, u := range all {
		if k := u.GetKind(); k == "Deployment" || k == "Service" {
			t.Errorf("config/local holds %s %s", k, u.GetName())
		}
	}
}

func TestEveryKindHasASample(t *testing.T) {
	want := map[string]bool{}
	for _, k := range kinds.All() {
		for _, gvk := range k.GVKs {
			want[gvk.GroupVersion().String()+" "+gvk.Kind] = true
		}
	}
	paths, err := filepath.Glob("../config/samples/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var head struct{ APIVersion, Kind string }
		if err := yaml.Unmarshal(text, &head); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		delete(want, head.APIVersion+" "+head.Kind)
		if strings.HasPrefix(head.APIVersion, "ray.io/") { // v1alpha1 has fewer of the same fields
			delete(want, "ray.io/v1alpha1 "+head.Kind)
		}
	}
	for missing := range want {
		t.Errorf("config/samples has none of %s", missing)
	}
}
