package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/render"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check/checktest"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/webhook"
)

// scene is one job and the cluster that both doors look at.
type scene struct {
	name   string
	text   []byte                     // job.yaml as a user has it
	old    *unstructured.Unstructured // the stored job, on update
	view   *cluster.Snapshot
	labels map[string]string
}

// TestBothDoorsSayTheSame reviews every sample and every fixture of every check through
// the admission handler and through check, against the same cluster: findings, rulings,
// fit and gaps must be equal to the byte, and the warnings that kubectl shows must be
// those that check would show.
func TestBothDoorsSayTheSame(t *testing.T) {
	// kubectl sends an object, which has each key once: of a key that is written twice only the file tells.
	scenes := slices.DeleteFunc(append(samples(t), fixtures(t)...), scene.onlyText)
	if len(scenes) < 20 {
		t.Fatalf("found %d jobs; want the samples and the fixtures of the checks", len(scenes))
	}
	engine, err := policies.Load(policies.Library())
	if err != nil {
		t.Fatal(err)
	}
	set, err := tuning.All()
	if err != nil {
		t.Fatal(err)
	}
	spoke := 0
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			if s.labels == nil {
				s.labels = map[string]string{} // the namespace is known, and has no label
			}
			w := &review.World{Checks: set, Engine: engine, Cluster: s.view, Seen: s.view != nil, Answers: true, Namespace: "default"}
			shell, reports := throughCheck(t, s, w)
			door, responses := throughWebhook(t, s, &preflight.Reviewer{Checks: set, Policies: engine})
			if diff := cmp.Diff(shell, door); diff != "" {
				t.Errorf("check and webhook differ (-check +webhook):\n%s", diff)
			}
			for i, r := range reports {
				spoke += len(r.Lines())
				if len(r.Failures()) > 0 || s.view == nil || s.view.Incomplete() != "" {
					continue // the webhook adds a line about what it could not check
				}
				want := finding.Warnings(r.Lines(), finding.KubectlBudget, "kubectl signalbox check -f FILE")
				got := responses[i].Warnings
				if s.labels == nil { // a webhook says of a namespace that it has not seen; a shell enforces nothing
					got = slices.DeleteFunc(got, func(line string) bool { return strings.Contains(line, "which has not been seen yet") })
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("warnings (-check +webhook):\n%s", diff)
				}
			}
		})
	}
	if spoke == 0 {
		t.Error("no scene has a finding; equal silence proves nothing")
	}
}

// onlyText says whether the file holds what no object can: a key that is written twice.
func (s scene) onlyText() bool {
	for d, err := range manifest.Read("job.yaml", bytes.NewReader(s.text)) {
		if err == nil && len(d.DuplicateKeys()) > 0 {
			return true
		}
	}
	return false
}

// throughCheck is the way of `signalbox check -o json`.
func throughCheck(t *testing.T, s scene, w *review.World) (string, []preflight.Report) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(file, s.text, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := (&input.Flags{Files: []string{file}}).Read(t.Context(), &shell.Shell{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Troubles) > 0 {
		t.Fatalf("read %s: %+v", s.name, in.Troubles)
	}
	clear(in.Twins) // the API server is sent one job at a time
	w.Known = func(string) map[string]string { return s.labels }
	w.Before = func(*unstructured.Unstructured) *unstructured.Unstructured { return s.old }
	jobs, err := review.Jobs(t.Context(), in, w)
	if err != nil {
		t.Fatal(err)
	}
	return bytesOf(t, render.Reports(jobs)), render.Reports(jobs)
}

// throughWebhook is the way of `kubectl apply`: the API server fills in the namespace and
// sends the object as JSON.
func throughWebhook(t *testing.T, s scene, reviewer *preflight.Reviewer) (string, []admission.Response) {
	t.Helper()
	seen := &listener{Reviewer: webhook.Stages(reviewer)}
	handler := webhook.NewHandler(webhook.HandlerOptions{Reviewer: seen, View: s, Deadline: 30e9, Log: logr.Discard()})
	var responses []admission.Response
	for d, err := range manifest.Read("job.yaml", bytes.NewReader(s.text)) {
		if err != nil {
			t.Fatal(err)
		}
		responses = append(responses, handler.Handle(t.Context(), s.request(t, d.Object)))
	}
	return bytesOf(t, seen.reports), responses
}

func (s scene) request(t *testing.T, o *unstructured.Unstructured) admission.Request {
	t.Helper()
	if o.GetNamespace() == "" {
		o.SetNamespace("default")
	}
	gvk := o.GroupVersionKind()
	req := admissionv1.AdmissionRequest{
		UID: "1", Operation: admissionv1.Create, Namespace: o.GetNamespace(), Name: o.GetName(),
		Kind:   metav1.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
		Object: runtime.RawExtension{Raw: raw(t, o)},
	}
	if s.old != nil {
		req.Operation, req.OldObject = admissionv1.Update, runtime.RawExtension{Raw: raw(t, s.old)}
	}
	return admission.Request{AdmissionRequest: req}
}

func raw(t *testing.T, o *unstructured.Unstructured) []byte {
	t.Helper()
	b, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Snapshot and Namespace make a scene the webhook's view of the cluster.
func (s scene) Snapshot() *cluster.Snapshot        { return s.view }
func (s scene) Namespace(string) map[string]string { return s.labels }

// listener keeps what the reviewer behind the webhook reports.
type listener struct {
	webhook.Reviewer
	reports []preflight.Report
}

// Begin leaves out what differs on purpose: at admission, checks leave to the API server and
// to the operator's webhook what these refuse themselves (preflight.TestWhoRefusesAJobSpeaks).
func (l *listener) Begin(ctx context.Context, req preflight.Request) (webhook.Review, error) {
	req.Admission = false
	r, err := l.Reviewer.Begin(ctx, req)
	return overheard{r, l}, err
}

type overheard struct {
	webhook.Review
	by *listener
}

func (h overheard) Check(ctx context.Context) webhook.Review {
	return overheard{h.Review.Check(ctx), h.by}
}

func (h overheard) Conclude(ctx context.Context) webhook.Review {
	done := h.Review.Conclude(ctx)
	h.by.reports = append(h.by.reports, done.Report())
	return done
}

// bytesOf is the documented JSON of reports without the place, which only files have.
func bytesOf(t *testing.T, reports []preflight.Report) string {
	t.Helper()
	for i := range reports {
		reports[i].Source = ""
	}
	b, err := json.MarshalIndent(preflight.NewDocument(reports, nil), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// samples are the jobs of config/samples on a small cluster, and without one.
func samples(t *testing.T) []scene {
	t.Helper()
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	view, err := manifest.ReadView([]string{"testdata/small-cluster.yaml"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var out []scene
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "kind: Kustomization") {
			continue
		}
		name := "sample " + filepath.Base(f)
		out = append(out,
			scene{name: name, text: text, view: small, labels: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}},
			scene{name: name + " without a cluster", text: text})
	}
	return out
}

// fixtures are the examples of the checks.
func fixtures(t *testing.T) []scene {
	t.Helper()
	dirs, err := filepath.Glob("../../preflight/checks/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	var out []scene
	for _, dir := range dirs {
		for _, f := range checktest.Load(t, dir) {
			archive, err := txtar.ParseFile(filepath.Join(dir, f.Name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			s := scene{name: filepath.Base(dir) + " " + f.Name, view: f.Input.Cluster, labels: f.Input.Namespace}
			if f.Input.Old != nil {
				s.old = f.Input.Old.Source
			}
			for _, file := range archive.Files {
				if file.Name == "job.yaml" {
					s.text = file.Data
				}
			}
			out = append(out, s)
		}
	}
	return out
}
