package explain

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/job"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// failureOf is one of some causes, as it befell one of many jobs: with names, ranks and numbers of its own.
func failureOf(cause, n int) diagnose.Result {
	pod, node := fmt.Sprintf("train%d-worker-%d", n, n%64), fmt.Sprintf("gpu-%d", 100+n)
	line := fmt.Sprintf("cause%c: allocation of %d MiB failed on rank %d (pid %d)", 'a'+cause, 2000+n, n%64, 30000+n)
	id, after := evidence.ID(fmt.Sprintf("log/%s/pytorch#%d", pod, 100+n)), evidence.ID(fmt.Sprintf("log/train%d-worker-%d/pytorch#%d", n, n%64+1, 200+n))
	source := evidence.Source{Pod: pod, Node: node, Rank: n % 64, Container: "pytorch"}
	return diagnose.Result{
		Job: job.Ref{Kind: "PyTorchJob", Namespace: fmt.Sprintf("team-%d", n%5), Name: fmt.Sprintf("train%d", n)}, Verdict: diagnose.Diagnosed,
		Category: "gpu-oom", Error: fmt.Sprintf("%s: the GPU of rank %d has no memory left.", pod, n%64), Solution: []string{"Use a smaller batch."},
		Root:    &diagnose.Cause{Signature: fmt.Sprintf("cause-%d", cause), Source: source, Line: line, Cites: []evidence.ID{id}, Facts: map[string]string{"pid": fmt.Sprint(30000 + n)}},
		Effects: []diagnose.Cause{{Signature: "nccl-watchdog", Cites: []evidence.ID{after}, Source: evidence.Source{Pod: fmt.Sprintf("train%d-worker-%d", n, n%64+1), Rank: n%64 + 1}}},
		Evidence: []evidence.Item{
			{ID: id, Kind: evidence.Log, Times: 1, Text: line, Source: source},
			{ID: after, Kind: evidence.Log, Times: 1, Text: fmt.Sprintf("Watchdog caught collective timeout on rank %d", n%64+1), Source: evidence.Source{Pod: fmt.Sprintf("train%d-worker-%d", n, n%64+1), Rank: n%64 + 1}},
		},
		Members: []timeline.Member{{Source: source}},
	}
}

// faithful is a model that repeats what it was shown, names and numbers and all.
type faithful struct{ calls atomic.Int64 }

func (f *faithful) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	f.calls.Add(1)
	var said []string
	for line := range strings.Lines(r.User) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "| "))
		if id, text, ok := strings.Cut(strings.TrimPrefix(line, "["), "] "); ok && strings.HasPrefix(id, "log/") {
			said = append(said, fmt.Sprintf("The log says %q [%s].", text, id))
		}
	}
	return llm.Response{Model: "m", Text: "Analysis: " + strings.Join(said, " ") + "\nSolution: remedy 1", TokensIn: 10, TokensOut: 10}, nil
}

// Hundreds of jobs that fail of seven causes cost seven calls, over a restart after the first half of them, and each is
// told in its own names. Their number is that after which the causes have befallen each of the 64 ranks.
func TestOneCallForEachDistinctFailure(t *testing.T) {
	model := &faithful{}
	e := Explainer{Client: model, Answers: NewAnswers()}
	var all sync.WaitGroup
	limit := make(chan struct{}, 8)
	const jobs = 7 * 64
	for n := range jobs {
		if n == jobs/2 {
			all.Wait()
			kept, err := e.Save()
			if err != nil {
				t.Fatal(err)
			}
			e = Explainer{Client: model, Answers: NewAnswers()}
			if err := e.Load(kept); err != nil {
				t.Fatal(err)
			}
		}
		all.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			r := failureOf(n%7, n)
			told, err := e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r)
			if err != nil {
				t.Error(err)
				return
			}
			want := fmt.Sprintf("Analysis: The log says %q [%s]. The log says %q [%s].\nSolution: 1. Use a smaller batch.",
				r.Evidence[0].Text, r.Evidence[0].ID, r.Evidence[1].Text, r.Evidence[1].ID)
			if diff := cmp.Diff(want, told.Story.Text); diff != "" {
				t.Errorf("job %d (-want +got):\n%s", n, diff)
			}
			if told.Story.Dropped != 0 {
				t.Errorf("job %d: %s", n, told.Story.LeftOut)
			}
		})
	}
	all.Wait()
	if n := model.calls.Load(); n != 7 {
		t.Errorf("the model was called %d times, want 7", n)
	}
}

// The words of one answer are not told of a job whose evidence does not hold them.
func TestAnAnswerIsNotToldWhereItIsNotTrue(t *testing.T) {
	model := &faithful{}
	e := Explainer{Client: model, Answers: NewAnswers()}
	first, second := failureOf(0, 1), failureOf(0, 2)
	// The same cause, and another consequence that goes by the same name.
	second.Evidence[1].Text = "Watchdog caught collective timeout: the peer closed its connection"
	for _, r := range []diagnose.Result{first, second} {
		told, err := e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r)
		if err != nil || told.Shared || !strings.Contains(told.Story.Text, r.Evidence[1].Text) {
			t.Errorf("shared %v, error %v: %s", told.Shared, err, told.Story.Text)
		}
	}
	if n := model.calls.Load(); n != 2 {
		t.Errorf("the model was called %d times, want 2", n)
	}
}

// Another template, model or remedy is another question.
func TestWhatMakesAnotherQuestion(t *testing.T) {
	r := failureOf(0, 1)
	q := Question{Request: llm.Request{System: "s"}, Template: "t", source: "x"}
	same := key(q, r, "m")
	if got := key(q, failureOf(0, 2), "m"); got != same {
		t.Error("the same failure of another job is another question")
	}
	other := q
	other.source = "y"
	system := q
	system.Request.System = "t"
	remedy, facts := failureOf(0, 1), failureOf(0, 1)
	remedy.Solution = []string{"Use more GPUs."}
	facts.Root.Facts = map[string]string{"module": "apex"}
	for name, got := range map[string]string{
		"template": key(other, r, "m"), "system": key(system, r, "m"), "model": key(q, r, "n"),
		"remedy": key(q, remedy, "m"), "facts": key(q, facts, "m"), "cause": key(q, failureOf(1, 1), "m"),
	} {
		if got == same {
			t.Errorf("another %s is the same question", name)
		}
	}
}

// What is remembered has a bound: one more forgets the oldest.
func TestAnswersAreBounded(t *testing.T) {
	model := &faithful{}
	e := Explainer{Client: model, Answers: NewAnswers()}
	ask := func(cause int) {
		r := failureOf(0, 1)
		r.Root.Signature = fmt.Sprint("cause-", cause)
		if _, err := e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r); err != nil {
			t.Fatal(err)
		}
	}
	for cause := range mostAnswers + 1 {
		ask(cause)
	}
	before := model.calls.Load()
	ask(mostAnswers)
	if model.calls.Load() != before {
		t.Error("the latest is not remembered")
	}
	ask(0)
	if model.calls.Load() != before+1 {
		t.Error("the oldest is remembered beyond the bound")
	}
}

func TestSwap(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		pairs      []pair
	}{
		{"rank 1 and rank 12", "rank 7 and rank 12", []pair{{"rank 1", "rank 7"}}},
		{"a-1 a-12 ba-1", "b-1 a-12 ba-1", []pair{{"a-1", "b-1"}}},
		{"x y", "y x", []pair{{"x", "y"}, {"y", "x"}}},
		{"job job-worker-0", "n n-worker-0", []pair{{"job", "n"}, {"job-worker-0", "n-worker-0"}}},
		{"排 1 在", "排 2 在", []pair{{"1", "2"}}},
		{"nothing", "nothing", []pair{{"", "x"}}},
	} {
		if got := swap(tc.text, tc.pairs); got != tc.want {
			t.Errorf("swap(%q) is %q, want %q", tc.text, got, tc.want)
		}
	}
}
