package dryrun

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestARefusalIsReadFromTheAnswer(t *testing.T) {
	worker := &job.Role{Name: "Worker", Pod: job.Pod{Path: "spec.template.spec", Origins: job.OriginsOf(job.Origin{Rel: "initContainers[0]", Path: "spec.runtimeRef", Whole: true})}}
	pods := schema.GroupResource{Resource: "pods"}
	invalid := apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), "", field.ErrorList{
		field.NotFound(field.NewPath("spec", "containers").Index(0).Child("volumeMounts").Index(1).Child("name"), "data"),
		field.Required(field.NewPath("spec", "initContainers").Index(0).Child("image"), ""),
		field.Invalid(field.NewPath("metadata", "labels"), "a b", "no label"),
	})
	cases := map[string]struct {
		err  error
		want []string // path and message
	}{
		"fields": {invalid, []string{
			`spec.template.spec.containers[0].volumeMounts[1].name: the API server refuses the pods of Worker: Not found: "data"`,
			`spec.runtimeRef: the API server refuses the pods of Worker: Required value`,
			`spec.template.spec: the API server refuses the pods of Worker: Invalid value: "a b": no label`,
		}},
		"a quota":             {apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: gpus, requested: pods=1")), []string{"spec.template.spec: the API server refuses the pods of Worker: exceeded quota: gpus, requested: pods=1"}},
		"a server that fails": {apierrors.NewInternalError(errors.New("webhook is down")), nil},
		"no answer at all":    {errors.New("connection refused"), nil},
		"a busy server":       {apierrors.NewTooManyRequestsError("later"), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			found, ok := refusal(worker, tc.err)
			if ok != (tc.want != nil) {
				t.Fatalf("refusal says %t; want %t", ok, tc.want != nil)
			}
			var got []string
			for _, f := range found {
				got = append(got, string(f.Path)+": "+f.Message)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

// What an API server says of replicas: "5" are three causes for one mistake: the schema, the scale subresource, and that
// rules were not checked.
func TestOneMistakeIsOneRefusal(t *testing.T) {
	at := field.NewPath("spec", "pytorchReplicaSpecs", "Worker", "replicas")
	h := &Heard{Err: apierrors.NewInvalid(schema.GroupKind{Group: "kubeflow.org", Kind: "PyTorchJob"}, "a", field.ErrorList{
		field.TypeInvalid(at, "string", `spec.pytorchReplicaSpecs.Worker.replicas in body must be of type integer: "string"`),
		field.Invalid(field.NewPath(".spec.pytorchReplicaSpecs.Worker.replicas"), 0, "accessor error: 5 is of the type string, expected int64"),
		field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"),
	})}
	said := []finding.Finding{{Check: "unreadable-field", Severity: finding.Error, Path: job.Path(at.String())}}
	if got := h.Findings(said); len(got) != 0 {
		t.Errorf("beside our own finding: %v", got)
	}
	if got := h.Findings(nil); len(got) != 1 || got[0].Path != job.Path(at.String()) {
		t.Errorf("alone: %v", got)
	}
}

func TestTheUsersOwnRightsAreNoRefusal(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	if !mayNot(apierrors.NewForbidden(pods, "", errors.New(`User "ana" cannot create resource "pods" in API group "" in the namespace "ml"`))) {
		t.Error("RBAC's answer is taken for one about the pod")
	}
	if mayNot(apierrors.NewForbidden(pods, "", errors.New(`violates PodSecurity "baseline:latest": host namespaces`))) {
		t.Error("admission's answer is taken for RBAC's")
	}
}

func TestWhatACheckHasSaidIsNotSaidTwice(t *testing.T) {
	at := func(check, path string, s finding.Severity) finding.Finding {
		return finding.Finding{Check: check, Path: job.Path(path), Severity: s}
	}
	said := []finding.Finding{at("requests-above-limits", "spec.a.requests.cpu", finding.Error), at("shm-missing", "spec.b", finding.Warning)}
	more := []finding.Finding{
		at(Check, "spec.a.requests.cpu", finding.Error), // the same place
		at(Check, "spec.a", finding.Error),              // the pod around it
		at(Check, "spec.b", finding.Error),              // graver than what was said
		at(Check, "spec.c", finding.Error),              // another place
	}
	var got []string
	for _, f := range Unsaid(said, more) {
		got = append(got, string(f.Path))
	}
	if diff := cmp.Diff([]string{"spec.b", "spec.c"}, got); diff != "" {
		t.Errorf("unsaid (-want +got):\n%s", diff)
	}
}

func TestAnUnknownFieldIsSaidOnce(t *testing.T) {
	h := &Heard{warnings: []string{`unknown field "spec.backoffLimt"`, `unknown field "spec.template.spec.x"`, "spec.y is deprecated"}}
	said := []finding.Finding{{Check: "unknown-field", Severity: finding.Warning, Path: "spec.backoffLimt", Named: true}}
	var got []string
	for _, f := range h.Findings(said) {
		got = append(got, string(f.Path)+": "+f.Message)
	}
	want := []string{
		`spec.template.spec.x: the API server warns: unknown field "spec.template.spec.x"`,
		": the API server warns: spec.y is deprecated",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
