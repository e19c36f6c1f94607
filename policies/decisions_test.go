package policies_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
)

var noon = time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC)

// recorded reviews jobs through a recorder, and returns the lines.
func recorded(t *testing.T, o *policies.OPA, requests ...preflight.Request) []string {
	t.Helper()
	lines := make(chan string, len(requests))
	r := policies.NewRecorder(func(line []byte, _ time.Time) error {
		lines <- string(line)
		return nil
	}, map[string]string{"app": "signalbox"}, func() time.Time { return noon })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = r.Start(ctx, func(err error) { t.Error(err) }) }()
	var out []string
	for _, req := range requests {
		if _, err := (&preflight.Reviewer{Policies: r.Around(o)}).Review(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		select {
		case line := <-lines:
			out = append(out, line)
		case <-time.After(10 * time.Second):
			t.Fatal("nothing was recorded")
		}
	}
	return out
}

func asks(t *testing.T, user string, change func(*preflight.Request)) preflight.Request {
	t.Helper()
	job, _ := streamed(t, contractJob[:strings.Index(contractJob, "---")])
	annotations := job.GetAnnotations()
	annotations["note"] = "token=sesame-0123456789abcdef"
	job.SetAnnotations(annotations)
	req := preflight.Request{Object: job, User: user, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeWarn}, Now: noon}
	if change != nil {
		change(&req)
	}
	return req
}

// TestDecisionsAreInOPAsForm: its fields, masked, with all of the input although no rule reads it.
func TestDecisionsAreInOPAsForm(t *testing.T) {
	o := load(t, files("a.rego", policy("a", `deny contains sprintf("by %s, password=sesame-0123456789", [input.request.user]) if input.job.gpus > 8`)))
	line := recorded(t, o, asks(t, "ana", nil))[0]
	if strings.Contains(line, "sesame") || strings.Count(line, "\n") != 1 {
		t.Errorf("it is not masked, or no line: %s", line)
	}
	var event map[string]any
	if err := json.Unmarshal([]byte(line), &event); err != nil {
		t.Fatal(err)
	}
	input, _ := event["input"].(map[string]any)
	if input["object"] == nil || input["job"] == nil || event["decision_id"] == "" {
		t.Errorf("%v", event)
	}
	delete(event, "input")
	delete(event, "decision_id")
	delete(event["custom"].(map[string]any), "lacks")
	want := map[string]any{
		"labels": map[string]any{"app": "signalbox"}, "bundles": map[string]any{"signalbox": map[string]any{"revision": o.Revision()}}, "path": "signalbox",
		"result": map[string]any{"allow": true, "rulings": []any{map[string]any{
			"policy": "a", "effect": "warn", "message": "by ana, password=[masked]", "path": "", "remedy": "Do it otherwise.",
		}}},
		"masked": []any{
			"/job/annotations/note", "/job/roles/0/containers/0/spec/command/3", "/object/metadata/annotations/note",
			"/object/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/command/3",
		}, "timestamp": "2026-12-24T12:00:00Z", "metrics": map[string]any{"timer_rego_query_eval_ns": float64(0)}, "custom": map[string]any{},
	}
	if diff := cmp.Diff(want, event); diff != "" {
		t.Error("-want +got\n" + diff)
	}
}

// TestNoWordOfADecisionTellsASecret: what a rule repeats of the job, as a denial, an exception or an
// error, and what stands in commands, variables and annotations.
func TestNoWordOfADecisionTellsASecret(t *testing.T) {
	o := load(t, files(
		"a.rego", policy("a", `deny contains sprintf("it says %s", [input.job.annotations.note]) if input.job.gpus > 8

exempt contains {"msg": sprintf("because of %s", [input.job.annotations.note])} if input.request.user == "ana"`),
		"b.rego", policy("b", `deny contains "no" if to_number(input.job.annotations.note) > 8`),
	))
	change := func(r *preflight.Request) {
		err := setSpec(r, "command", "train --password=sesame-in-a-command-0123")
		if err != nil {
			t.Fatal(err)
		}
		_ = unstructured.SetNestedSlice(r.Object.Object, []any{map[string]any{"name": "PLAIN", "value": "sesame"}}, "spec", "extra", "env")
	}
	for _, user := range []string{"ana", "ben"} {
		line := recorded(t, o, asks(t, user, change))[0]
		if strings.Contains(line, "sesame") || !strings.Contains(line, "to_number") {
			t.Errorf("%s: %s", user, line)
		}
	}
}

// TestALargeDecisionLosesItsObject: one above the bound; without what is left out it is too large all the same.
func TestALargeDecisionLosesItsObject(t *testing.T) {
	o := load(t, files("a.rego", policy("a", `deny contains "no" if input.job.gpus > 900`)))
	line := recorded(t, o, asks(t, "ana", func(r *preflight.Request) {
		_ = setSpec(r, "padding", strings.Repeat("x", 256<<10))
	}))[0]
	var d policies.Decision
	if err := json.Unmarshal([]byte(line), &d); err != nil || strings.Join(d.Erased, " ") != "/old_object /object" && strings.Join(d.Erased, " ") != "/object" {
		t.Errorf("%v, erased %q", err, d.Erased)
	}
	if len(d.Custom.Lacks) == 0 || d.Custom.Lacks[len(d.Custom.Lacks)-1] != (preflight.Lack{Part: "object", Why: "it was too large to be recorded"}) {
		t.Errorf("lacks %v", d.Custom.Lacks)
	}
}

func setSpec(r *preflight.Request, field, value string) error {
	spec, ok := r.Object.Object["spec"].(map[string]any)
	if !ok {
		return errors.New("no spec")
	}
	spec[field] = value
	return nil
}

// TestARecorderHoldsUpNobody: what finds no room is counted.
func TestARecorderHoldsUpNobody(t *testing.T) {
	r := policies.NewRecorder(func([]byte, time.Time) error { return nil }, nil, func() time.Time { return noon })
	engine := r.Around(load(t, files("a.rego", policy("a", `deny contains "no" if input.job.gpus > 900`))))
	for range 257 { // nobody writes
		if _, err := (&preflight.Reviewer{Policies: engine}).Review(t.Context(), asks(t, "ana", nil)); err != nil {
			t.Fatal(err)
		}
	}
	if r.Dropped() != 1 {
		t.Errorf("%d dropped; want 1 of 257", r.Dropped())
	}
}

// TestAnInputIsReadAsItWasWritten: what is replayed is what was asked.
func TestAnInputIsReadAsItWasWritten(t *testing.T) {
	text := inputOf(t, contractJob)
	var in preflight.Input
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(again)+"\n"); diff != "" {
		t.Error("-want +got\n" + diff)
	}
}

func decisionsOf(lines []string) iter.Seq2[policies.Decision, error] {
	return policies.Decisions(fstest.MapFS{"decisions-a.jsonl": &fstest.MapFile{Data: []byte(strings.Join(lines, ""))}}, noon.Add(-time.Hour))
}

// TestReplayAsksOtherPolicies: who would have been denied, of how many GPUs, and what they held; what the
// recording lacks is undecided.
func TestReplayAsksOtherPolicies(t *testing.T) {
	before := load(t, files("a.rego", policy("a", `deny contains "no" if input.job.gpus > 900`)))
	whole := preflight.EarlierOf([]preflight.RunFacts{{Name: "train", Phase: "failed", Ended: "2026-12-24T13:00:00Z", GPUSeconds: 3600, GPUSecondsKnown: true}}, 0)
	lines := recorded(t, before,
		asks(t, "ana", nil),
		asks(t, "ben", func(r *preflight.Request) { r.Object.SetName("other") }),
		asks(t, "ana", func(r *preflight.Request) { r.DryRun = true }),
		asks(t, "ana", func(r *preflight.Request) { r.Object.SetName("next"); r.Earlier = &whole }),
	)
	lines = append(lines, "half a li")
	after := load(t, files("a.rego", policy("a", "deny contains \"too many\" if input.job.gpus > 8\n\ndeny contains \"and more\" if input.job.gpus > 9"),
		"q.rego", policy("q", `deny contains "no" if { some q in input.cluster.quotas; q.left < 0 }`)))
	got, err := policies.Replay(t.Context(), after.InForce(), decisionsOf(lines), preflight.ModeEnforce)
	if err != nil {
		t.Fatal(err)
	}
	want := policies.Replayed{
		Reviews: 3, Dry: 1, Denied: 3,
		Users: []policies.Refused{
			{User: "ana", Namespace: "ml", Policy: "a", Reviews: 2, Jobs: []string{"PyTorchJob/train", "PyTorchJob/next"}, GPUs: 32, GPUSeconds: 3600, Unknown: 1, Says: "too many"},
			{User: "ben", Namespace: "ml", Policy: "a", Reviews: 1, Jobs: []string{"PyTorchJob/other"}, GPUs: 16, Unknown: 1, Says: "too many"},
		},
		Undecided: map[string]int{"q: it reads cluster, which is not whole: no cluster was looked at": 3},
		Problems:  []string{"read decisions: decisions-a.jsonl:5: it is no decision of Signalbox"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got\n" + diff)
	}
	if got, err := policies.Replay(t.Context(), after.InForce(), decisionsOf(lines), ""); err != nil || got.Denied != 0 {
		t.Errorf("%d denied in namespaces that warn (%v)", got.Denied, err)
	}
	old := policies.Decisions(fstest.MapFS{"a.jsonl": &fstest.MapFile{Data: []byte(lines[0])}}, noon.Add(time.Hour))
	if got, err := policies.Replay(t.Context(), after.InForce(), old, ""); err != nil || got.Reviews != 0 {
		t.Errorf("%d reviews from before that (%v)", got.Reviews, err)
	}
}

// TestAReplayDeniesAChangeOfAnnotationsForItself: not for what the job was before it.
func TestAReplayDeniesAChangeOfAnnotationsForItself(t *testing.T) {
	note := `deny contains "a note" if input.job.annotations.note == "x"`
	lines := recorded(t, load(t, files("a.rego", policy("a", strings.Replace(note, `"x"`, `"y"`, 1)))), asks(t, "ana", func(r *preflight.Request) {
		r.Old, r.Operation = r.Object.DeepCopy(), "UPDATE"
		r.Object.SetAnnotations(map[string]string{"note": "x"})
	}))
	for rule, want := range map[string]int{note: 1, `deny contains "many" if input.job.gpus > 8`: 0} {
		got, err := policies.Replay(t.Context(), load(t, files("a.rego", policy("a", rule))).InForce(), decisionsOf(lines), preflight.ModeEnforce)
		if err != nil || got.Reviews != 1 || got.Denied != want {
			t.Errorf("%s: %+v, %v; want %d denied of 1", rule, got, err, want)
		}
	}
}

// TestAFolderOfDecisionsIsBounded: in bytes and in days; files that are none of ours stay.
func TestAFolderOfDecisionsIsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &policies.Folder{Dir: dir, Name: "a", Bytes: 800, Keep: 48 * time.Hour}
	for i := range 40 {
		if err := f.Write(fmt.Appendf(nil, "%099d\n", i), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	count := func() (n int, sum int64, names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(e.Name(), ".jsonl") {
				n, sum, names = n+1, sum+info.Size(), append(names, e.Name())
			}
		}
		return n, sum, names
	}
	if n, sum, names := count(); n != 8 || sum != 800 {
		t.Errorf("%d files of %d bytes: %v; want 8 of 800", n, sum, names)
	}
	if err := f.Write([]byte("later\n"), time.Now().Add(72*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if n, _, names := count(); n != 1 {
		t.Errorf("%v after three days", names)
	}
	if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := (&policies.Folder{Dir: filepath.Join(dir, "away"), Bytes: 800}).Write([]byte("x\n"), noon); err == nil {
			t.Error("a folder that is not there took a decision")
		}
	}
}
