package controller

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// unknownEnd is a job whose master gives up with a code of its own, after words that no signature knows, and
// whose model answers so.
func unknownEnd(t *testing.T, answer string) *world {
	t.Helper()
	w := newWorld(t)
	s, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string { return answer })
	if err != nil {
		t.Fatal(err)
	}
	client, err := llm.New(llm.Profile{Provider: "openai", BaseURL: s.URL, Model: "reader", Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w.labels = map[string]string{llmLabel: llmEnabled}
	w.unknownLog()
	w.Tell = newExplainWorker(explain.Explainer{Client: client}, 1, w.Writer, nil, &w.memory, func(_ context.Context, k Request) { w.woken <- k })
	w.condition("Failed", "PyTorchJobFailed")
	w.pod("master", func(p *corev1.Pod) {
		oomKilled(p)
		end := p.Status.ContainerStatuses[0].State.Terminated
		end.Reason, end.ExitCode = "Error", 3
	})
	return w
}

func (w *world) unknownLog() {
	catalog, err := signature.Builtin()
	if err != nil {
		w.t.Fatal(err)
	}
	w.Catalog = catalog
	collect := w.Collect
	w.Collect = func(ctx context.Context, k *kinds.Kind, u *unstructured.Unstructured) (diagnose.Case, error) {
		c, err := collect(ctx, k, u)
		for i := range c.Logs {
			c.Logs[i].Open = func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader("warming up the cache\nno seat is left for solver-x\n")), nil
			}
		}
		return c, err
	}
}

// What nothing that was read supports has a part of its own in the analysis, on the job for programs, and in the answer to
// aegis' question; it is told the same after a restart.
func TestWhatNothingSupportsStandsApartOnTheJob(t *testing.T) {
	const apart = "A seat that nobody gives back is usually held by an older job."
	w := unknownEnd(t, `{"healthy":"No","error":"","analysis":["`+apart+`","It held 4711 seats [pod/train-master-0/pytorch#2]."],"solution":[]}`)
	w.reconcile()
	w.tell()
	for range 2 {
		w.reconcile()
	}
	last := w.patches[len(w.patches)-1]
	s, _ := readStored(last)
	if want := []string{apart}; s.Story == nil || !slices.Equal(s.Story.Unsupported, want) || s.Story.Dropped != 1 || s.Story.Text != "" {
		t.Fatalf("the story is %+v, want %q apart and one sentence left out", s.Story, want)
	}
	if a := last[Analysis]; !strings.Contains(a, "\nNot supported by what was read (reader):\n"+apart+"\n(reader: 1 of 2 sentences is not supported by what was read; 1 of 2 sentences left out: ") || strings.Contains(a, "4711") {
		t.Errorf("the analysis is %q", a)
	}
	if told := s.told(diagnose.Result{}); !slices.Equal(told.Unsupported, s.Story.Unsupported) {
		t.Errorf("read back it is %q", told.Unsupported)
	}
	if events := w.events(); !slices.Contains(events, "Normal ExplanationLeftOut") {
		t.Errorf("events are %q", events)
	}
}

// What a model reads in the log of an unknown failure stands on the job as error and solution, marked, and
// after a restart still does; healthy, cause, owner and retry are those of the rules.
func TestTheModelNamesTheLineOfAnUnknownFailure(t *testing.T) {
	w := unknownEnd(t, `{"healthy":"No","error":"","analysis":[],"solution":[],"nominate":{"line":"pod/train-master-0/pytorch#2","quote":"no seat is left","category":"permission-denied"}}`)
	w.reconcile()
	rules, _ := readStored(w.patches[0])
	before := w.patches[0][Error]
	w.tell()
	for range 2 {
		w.reconcile()
	}
	if len(w.patches) != 2 {
		t.Fatalf("%d writes, want the rules' and the amended one", len(w.patches))
	}
	got := w.patches[1]
	want := `train-master-0 (Master 0, node gpu-1): "no seat is left for solver-x": access refused, it seems (read by a model, tested by rules: hypothesis).`
	if got[Error] != want || !strings.HasPrefix(got[Solution], "1. Check what the job's account may do with what the line names. (read by a model, tested by rules)\n2. ") {
		t.Errorf("the job says %q and %q", got[Error], got[Solution])
	}
	if !strings.HasPrefix(got[Analysis], "By the rules alone: "+before) {
		t.Errorf("what the rules said is gone: %q", got[Analysis])
	}
	told, _ := readStored(got)
	if told.Story == nil || told.Story.Nominated == nil || told.Story.Nominated.Line != "pod/train-master-0/pytorch#2" {
		t.Fatalf("the story is %+v", told.Story)
	}
	told.Story, told.Model = nil, ""
	if diff := cmp.Diff(rules, told); diff != "" || got[Healthy] != "No" {
		t.Errorf("the model changed the finding (-rules +told):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Warning DiagnosisChanged"}, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	w.restart()
	w.unknownLog()
	w.Tell = newExplainWorker(explain.Explainer{}, 1, w.Writer, nil, &w.memory, func(context.Context, Request) {})
	w.reconcile()
	if now := w.job.GetAnnotations()[Error]; now != want || len(w.patches) != 2 {
		t.Errorf("after a restart the job says %q (%d writes)", now, len(w.patches))
	}
}

func TestARefusedNominationIsAnEventAndStandsInTheDiagnosis(t *testing.T) {
	w := unknownEnd(t, `{"healthy":"No","error":"","analysis":[],"solution":[],"nominate":{"line":"pod/train-master-0/pytorch#77","quote":"","category":"disk-full"}}`)
	w.reconcile()
	before := w.patches[0]
	w.tell()
	w.reconcile()
	after := w.job.GetAnnotations()
	if after[Error] != before[Error] || after[Solution] != before[Solution] {
		t.Errorf("what was refused stands on the job: %q", after[Error])
	}
	told, _ := readStored(after)
	const why = "the nomination of [pod/train-master-0/pytorch#77] as disk-full is refused: no such line was shown"
	if told.Story == nil || told.Story.Refused != why || !strings.Contains(after[Analysis], why) {
		t.Errorf("nothing says why: %+v, %q", told.Story, after[Analysis])
	}
	if diff := cmp.Diff([]string{"Warning DiagnosisChanged", "Warning NominationRefused"}, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
