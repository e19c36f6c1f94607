package preflight_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// table is an engine that gives fixed answers and remembers what it was asked.
type table struct {
	ruled preflight.Ruled
	err   error
	panic any
	asked *preflight.Input
}

func (e *table) InForce() preflight.Policies { return e }

func (e *table) ReadsAnnotation(string) bool                             { return false }
func (e *table) Unasked(string, preflight.Stage, string) preflight.Ruled { return preflight.Ruled{} }

func (e *table) Decide(_ context.Context, in preflight.Input, q preflight.Question) (preflight.Ruled, error) {
	if q.Stage == preflight.OnTheJob {
		return preflight.Ruled{}, nil
	}
	e.asked = &in
	if e.panic != nil {
		panic(e.panic) //nolint:forbidigo // what is tested
	}
	return e.ruled, e.err
}

func (e *table) Revision() string { return "table" }

const sixPods = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml, labels: {team: vision}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template: &template
        spec:
          containers:
          - name: pytorch
            image: registry.example.com/train:1
            resources:
              limits: {cpu: 8, memory: 512Gi, nvidia.com/gpu: 8}
              requests: {cpu: 8, memory: 512Gi, nvidia.com/gpu: 8}
            volumeMounts:
            - {name: dshm, mountPath: /dev/shm}
          volumes:
          - name: dshm
            emptyDir: {medium: Memory, sizeLimit: 16Gi}
    Worker:
      replicas: 5
      template: *template
`

// four is a cluster of four free nodes with 8 GPUs.
const four = `apiVersion: v1
kind: List
items:
- &node {apiVersion: v1, kind: Node, metadata: {name: h100-1}, status: &status {allocatable: {cpu: "96", memory: 1Ti, pods: "110", nvidia.com/gpu: "8"}, conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: v1, kind: Node, metadata: {name: h100-2}, status: *status}
- {apiVersion: v1, kind: Node, metadata: {name: h100-3}, status: *status}
- {apiVersion: v1, kind: Node, metadata: {name: h100-4}, status: *status}
`

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	for doc, err := range manifest.Read("job.yaml", strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		return doc.Object
	}
	t.Fatal("there is no object")
	return nil
}

func snapshot(t testing.TB, text string) *cluster.Snapshot {
	t.Helper()
	view := manifest.View{Complete: []schema.GroupResource{{Resource: "nodes"}, {Resource: "pods"}}}
	for doc, err := range manifest.Read("cluster.yaml", strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		if !doc.List {
			view.Objects = append(view.Objects, doc.Object)
		}
	}
	view.Taken = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func review(t testing.TB, engine preflight.Engine, req preflight.Request) preflight.Report {
	t.Helper()
	r := &preflight.Reviewer{Checks: allChecks(t), Policies: engine}
	report, err := r.Review(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// lines are the findings and rulings of a report, and what was not looked at.
func lines(r preflight.Report) string {
	var b strings.Builder
	b.WriteString(string(r.Decision) + "\n")
	for _, f := range r.Lines() {
		b.WriteString(f.Severity.String() + " " + f.Line() + "\n")
	}
	for _, f := range r.Failures() {
		b.WriteString("failed " + f + "\n")
	}
	return b.String()
}

func TestTheSameForMachines(t *testing.T) {
	engine := &table{ruled: preflight.Ruled{Rulings: []preflight.Ruling{
		{Policy: "runtime-not-allowed", Effect: preflight.Deny, Message: "names x; may use y", Path: "spec.runtimeRef.name", Remedy: "Name y."},
	}}}
	report := review(t, engine, preflight.Request{
		Object: object(t, sixPods), Cluster: snapshot(t, four), Source: "job.yaml:1",
		Namespace: map[string]string{"signalbox.dev/mode": "enforce", "tier": "batch"}, User: "alice", Groups: []string{"vision"}, DryRun: true,
	})
	t.Run("report", func(t *testing.T) {
		document := preflight.NewDocument([]preflight.Report{report}, []preflight.Trouble{{Source: "other.yaml:3", Message: "Deployment (apps/v1) is not covered"}})
		golden.Equal(t, "testdata/report.golden.json", asJSON(t, document))
	})
	t.Run("policy input", func(t *testing.T) {
		golden.Equal(t, "testdata/input.golden.json", asJSON(t, engine.asked))
	})
	t.Run("empty lists are lists", func(t *testing.T) {
		want := `{"schema":"signalbox.dev/report/v1","jobs":[],"errors":[]}`
		got, err := json.Marshal(preflight.NewDocument(nil, nil))
		if err != nil || string(got) != want {
			t.Errorf("%s (%v); want %s", got, err, want)
		}
	})
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

func TestReviewDecides(t *testing.T) {
	deny := []preflight.Ruling{{Policy: "p", Effect: preflight.Deny, Message: "no", Path: "spec"}}
	warn := []preflight.Ruling{{Policy: "p", Effect: preflight.Warn, Message: "hm", Path: "spec"}}
	cases := map[string]struct {
		req    preflight.Request
		engine preflight.Engine
		want   string
	}{
		"nothing to say":           {preflight.Request{}, nil, "allowed\n"},
		"findings warn":            {preflight.Request{Cluster: snapshot(t, four)}, nil, "warned\nerror [gang-does-not-fit] spec.pytorchReplicaSpecs.Worker.replicas: 4 of 6 pods fit: they ask for 48 nvidia.com/gpu, but the 4 nodes they may use have 32 even idle; fits with 3 Workers instead of 5 (1 Master + 3 Workers on 4 nodes)\n"},
		"a policy warns":           {preflight.Request{}, &table{ruled: preflight.Ruled{Rulings: warn}}, "warned\nwarning [p] spec: hm\n"},
		"a policy denies":          {preflight.Request{}, &table{ruled: preflight.Ruled{Rulings: deny}}, "denied\nerror [p] spec: no\n"},
		"a policy that fails":      {preflight.Request{}, &table{ruled: preflight.Ruled{Undecided: []string{"p: no idea"}}}, "allowed\nfailed policy p: no idea\n"},
		"an engine that fails":     {preflight.Request{}, &table{err: errors.New("no idea")}, "allowed\nfailed policy engine: no idea\n"},
		"an engine that panics":    {preflight.Request{}, &table{panic: "out of tune"}, "allowed\nfailed policy engine: panic: out of tune\n"}, //nolint:forbidigo // a field's name
		"a label that is no mode":  {preflight.Request{Namespace: map[string]string{"signalbox.dev/mode": "enforced"}}, nil, "warned\nerror [namespace-mode] the namespace is labelled signalbox.dev/mode=enforced, which is none of off, warn, enforce; it is treated as warn; did you mean \"enforce\"?\n"},
		"a view not to be trusted": {preflight.Request{Cluster: untrusted(), Live: true}, nil, "allowed\nfailed claim-out-of-reach: needs a cluster view: caches not synced\nfailed every-matching-node-tainted: needs a cluster view: caches not synced\nfailed gang-does-not-fit: needs a cluster view: caches not synced\nfailed mixed-gpu-models: needs a cluster view: caches not synced\nfailed no-deadline-on-whole-cluster: needs a cluster view: caches not synced\nfailed node-selector-matches-no-node: needs a cluster view: caches not synced\nfailed pod-exceeds-every-node: needs a cluster view: caches not synced\nfailed rdma-not-requested: needs a cluster view: caches not synced\nfailed shm-above-every-node: needs a cluster view: caches not synced\nfailed spread-cannot-hold: needs a cluster view: caches not synced\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.req.Object = object(t, sixPods)
			if diff := cmp.Diff(tc.want, lines(review(t, tc.engine, tc.req))); diff != "" {
				t.Errorf("Review (-want +got):\n%s", diff)
			}
		})
	}
}

func untrusted() *cluster.Snapshot {
	var b cluster.Builder
	b.Incomplete("caches not synced")
	return b.Snapshot(time.Time{})
}

func TestReviewLeavesAloneWhatDidNotChange(t *testing.T) {
	engine := &table{ruled: preflight.Ruled{Rulings: []preflight.Ruling{{Policy: "p", Effect: preflight.Deny, Message: "no", Path: "spec"}}}}
	change := func(changes ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
		o := object(t, sixPods)
		for _, c := range changes {
			c(o)
		}
		return o
	}
	note := func(o *unstructured.Unstructured) { o.SetAnnotations(map[string]string{"controller": "was here"}) }
	volcano := func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{"scheduling.volcano.sh/queue-name": "gpu"})
	}
	queue := func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"kueue.x-k8s.io/queue-name": "gpu"}) }
	suspend := func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, true, "spec", "runPolicy", "suspend")
	}
	end := func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(o.Object, []any{map[string]any{"type": "Succeeded", "status": "True"}}, "status", "conditions")
	}
	remove := func(o *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(o.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
	}
	cases := map[string]struct {
		old, now *unstructured.Unstructured
		labels   map[string]string
		want     string // why nothing was looked at; empty: it was denied
	}{
		"a new job":                {nil, change(), nil, ""},
		"a new spec":               {change(), change(suspend), nil, ""},
		"a new label":              {change(), change(queue), nil, ""},
		"a new annotation":         {change(), change(note), nil, "neither spec nor labels nor an annotation that is reviewed was changed"},
		"a queue in an annotation": {change(), change(volcano), nil, ""},
		"no queue any more":        {change(volcano), change(), nil, ""},
		"a job that has ended":     {change(end), change(end, suspend), nil, ""}, // as its status says, which may be taken back
		"its finalizer":            {change(end), change(end, note), nil, "neither spec nor labels nor an annotation that is reviewed was changed"},
		"a status ahead of time":   {change(), change(end, suspend), nil, ""},
		"a status, and no spec":    {change(), change(end), nil, "neither spec nor labels nor an annotation that is reviewed was changed"},
		"a status taken back":      {change(end, suspend), change(suspend), nil, "neither spec nor labels nor an annotation that is reviewed was changed"},
		"a job that is deleted":    {change(remove), change(remove, note), nil, "neither spec nor labels nor an annotation that is reviewed was changed"},
		"and held by a finalizer":  {change(remove), change(remove, suspend), nil, ""},
		"one as it is stored":      {nil, change(remove), nil, "the job is being deleted"},
		"a namespace switched off": {nil, change(), map[string]string{"signalbox.dev/mode": "off"}, "the namespace is labelled signalbox.dev/mode=off"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := review(t, engine, preflight.Request{Object: tc.now, Old: tc.old, Namespace: tc.labels})
			want := preflight.Report{Decision: preflight.Denied}
			if tc.want != "" {
				want = preflight.Report{Decision: preflight.Allowed, Skipped: []preflight.Skip{{Check: "all", Reason: tc.want}}}
			}
			if r.Decision != want.Decision || tc.want != "" && !cmp.Equal(r.Skipped, want.Skipped) {
				t.Errorf("%s, skipped %v; want %s, %v", r.Decision, r.Skipped, want.Decision, want.Skipped)
			}
		})
	}
}

// TestEveryAnnotationThatIsReadIsReviewed: each key by itself makes an update worth a review.
func TestEveryAnnotationThatIsReadIsReviewed(t *testing.T) {
	for _, key := range preflight.ReviewedKeys() {
		now := object(t, sixPods)
		now.SetAnnotations(map[string]string{key: ""}) // an empty one is not none
		if preflight.SameWork(object(t, sixPods), now) {
			t.Errorf("%s is not reviewed", key)
		}
	}
}

func TestHalfAJob(t *testing.T) {
	text := strings.NewReplacer("replicas: 5", "replicas: $WORKERS", "registry.example.com/train:1", "${REGISTRY}/train:${TAG}").Replace(sixPods)
	engine := &table{}
	r := review(t, engine, preflight.Request{Object: object(t, text), Cluster: snapshot(t, four)})
	want := `warned
error [unreadable-field] spec.pytorchReplicaSpecs.Master.template.spec.containers[0].image: image holds ${REGISTRY}, ${TAG}, placeholders that were not substituted
error [unreadable-field] spec.pytorchReplicaSpecs.Worker.replicas: replicas is "$WORKERS", a placeholder that was not substituted; expected an integer
`
	if diff := cmp.Diff(want, lines(r)); diff != "" {
		t.Errorf("Review (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]job.Path{"spec.pytorchReplicaSpecs.Worker.replicas"}, r.Unread); diff != "" {
		t.Errorf("Unread (-want +got; an image is a text like any other):\n%s", diff)
	}
	if r.Fit == nil || r.Fit.Verdict != fit.Unknown {
		t.Errorf("fit of half a job: %+v; want unknown", r.Fit)
	}
	if engine.asked == nil {
		t.Error("policies were not asked: an unreadable field would be a way around them")
	}
}

// TestWhatIsOfAnotherTypeIsNotMissing: the reader says what it found in place of an image, and the image is there.
func TestWhatIsOfAnotherTypeIsNotMissing(t *testing.T) {
	got := lines(review(t, nil, preflight.Request{Object: object(t, strings.Replace(sixPods, "image: ", "image: {of: \"x\"} # ", 1))}))
	if !strings.Contains(got, "image is an object with 1 field; expected a text (in quotes)") || strings.Contains(got, "has no image") {
		t.Errorf("Review says:\n%s", got)
	}
}

func TestAPassedDeadlineAllowsAndSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := (&preflight.Reviewer{Checks: allChecks(t)}).Review(ctx, preflight.Request{Object: object(t, sixPods), Cluster: snapshot(t, four)})
	if err != nil {
		t.Fatal(err)
	}
	if r.Decision != preflight.Allowed || len(r.Failures()) == 0 || r.Ran != 0 {
		t.Errorf("%s after %d checks, failures %v; want allowed, 0 and at least one", r.Decision, r.Ran, r.Failures())
	}
}

func TestUnknownKinds(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"another version": {"apiVersion: kubeflow.org/v1alpha2\nkind: TFJob", "TFJob (kubeflow.org/v1alpha2) is not covered; there is TFJob (kubeflow.org/v1)"},
		"another kind":    {"apiVersion: apps/v1\nkind: Deployment", "Deployment (apps/v1) is not covered; covered are ColossalAIJob (batch.tensorstack.dev/v1beta1), DeepSpeedJob"},
		"no kind":         {"metadata: {name: x}", "an object without apiVersion and kind is not covered"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{}}
			for line := range strings.SplitSeq(tc.text, "\n") {
				if key, value, ok := strings.Cut(line, ": "); ok && key != "metadata" {
					o.Object[key] = value
				}
			}
			_, err := (&preflight.Reviewer{}).Review(t.Context(), preflight.Request{Object: o})
			var unknown *preflight.UnknownKindError
			if !errors.As(err, &unknown) || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("have %v\nwant %s", err, tc.want)
			}
		})
	}
}

// TestTwiceTheSame: the order of nodes reaches no output.
func TestTwiceTheSame(t *testing.T) {
	backwards := strings.NewReplacer("h100-1", "h100-4", "h100-4", "h100-1", "h100-2", "h100-3", "h100-3", "h100-2").Replace(four)
	a := asJSON(t, review(t, nil, preflight.Request{Object: object(t, sixPods), Cluster: snapshot(t, four)}))
	b := asJSON(t, review(t, nil, preflight.Request{Object: object(t, sixPods), Cluster: snapshot(t, backwards)}))
	if diff := cmp.Diff(string(a), string(b)); diff != "" {
		t.Errorf("two orders, two reports:\n%s", diff)
	}
}

func TestModeOf(t *testing.T) {
	for label, want := range map[string]string{"": "warn", "warn": "warn", "enforce": "enforce", "off": "off", "Enforce": "warn"} {
		if got := preflight.ModeOf(map[string]string{preflight.ModeLabel: label}); got != want {
			t.Errorf("mode of %q is %s; want %s", label, got, want)
		}
	}
	if got := preflight.ModeOf(nil); got != preflight.ModeWarn {
		t.Errorf("mode of an unknown namespace is %s; want warn", got)
	}
}

func BenchmarkReview(b *testing.B) {
	for name, view := range map[string]*cluster.Snapshot{"offline": nil, "nodes=4": snapshot(b, four), "nodes=1000": large(b, 1000)} {
		b.Run(name, func(b *testing.B) {
			r := &preflight.Reviewer{Checks: allChecks(b)}
			req := preflight.Request{Object: object(b, sixPods), Cluster: view}
			for b.Loop() {
				if _, err := r.Review(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func large(t testing.TB, nodes int) *cluster.Snapshot {
	t.Helper()
	var b strings.Builder
	b.WriteString(strings.SplitAfter(four, "items:\n")[0])
	for i := range nodes {
		fmt.Fprintf(&b, "- {apiVersion: v1, kind: Node, metadata: {name: node-%d}, status: {allocatable: {cpu: \"96\", memory: 1Ti, pods: \"110\", nvidia.com/gpu: \"4\"}, conditions: [{type: Ready, status: \"True\"}]}}\n", i)
	}
	return snapshot(t, b.String())
}
