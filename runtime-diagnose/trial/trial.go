// Package trial tries a language model on twenty built-in cases, the same way in which it is asked about jobs, and
// says how it did: what it got right, in how many tokens and seconds. It says as well what its server can do.
//
// Start reading at Run.
package trial

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Answer is how a model did on one case.
type Answer struct {
	Case    string
	Right   bool
	Why     string // it is not right, or what it said
	In, Out int    // tokens, as the server counts them
	Took    time.Duration
}

// began is when the cases happened.
var began = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// Run asks the model about all cases, one after the other, and hands over each answer as it comes. It ends with
// the context; now is the clock.
func Run(ctx context.Context, e explain.Explainer, now func() time.Time, each func(Answer)) error {
	catalog, err := signature.Builtin()
	if err != nil {
		return fmt.Errorf("read signatures: %w", err)
	}
	e.Answers, e.Budget = nil, nil
	for i := range questions {
		if ctx.Err() != nil {
			return fmt.Errorf("try the model: %w", ctx.Err())
		}
		q := &questions[i]
		c := q.bundle()
		r := diagnose.Diagnose(ctx, c, catalog, diagnose.Options{Nominees: true})
		question := e.Ask(ctx, c, r)
		from := now()
		told, err := e.Explain(ctx, question, r)
		a := Answer{Case: q.name, In: told.Answer.TokensIn, Out: told.Answer.TokensOut, Took: now().Sub(from)}
		if err != nil {
			a.Why = err.Error()
		} else {
			a.Right, a.Why = q.judge(told.Story)
		}
		each(a)
	}
	return nil
}

// judge says whether an answer is right, and why not.
func (q *question) judge(s *diagnose.Story) (right bool, why string) {
	n := s.Nominated
	switch {
	case q.known && s.Text == "":
		return false, "nothing of it is supported: " + s.LeftOut
	case q.known:
		return true, s.LeftOut
	case q.line == 0 && n != nil:
		return false, fmt.Sprintf("named %q, and nothing says why", n.Item.Text)
	case q.line == 0 && s.Refused != "":
		return false, "walked into it; " + s.Refused
	case q.line == 0:
		return true, ""
	case n == nil && s.Refused != "":
		return false, s.Refused
	case n == nil:
		return false, "named nothing"
	case n.Item.Source.Line != q.line:
		return false, fmt.Sprintf("named %q", n.Item.Text)
	case !slices.Contains(q.of, n.Category):
		return false, "calls it " + n.Category
	}
	return true, ""
}

// bundle is a job of one pod that has ended.
func (q *question) bundle() diagnose.Case {
	const pod, container = "trial-0", "trainer"
	var text strings.Builder
	for i, l := range q.log {
		fmt.Fprintf(&text, "%s %s\n", began.Add(time.Duration(i)*time.Second).Format(time.RFC3339), l)
	}
	end := began.Add(time.Duration(len(q.log)+1) * time.Second)
	ref := job.Ref{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Namespace: "trial", Name: "trial", UID: "trial"}
	return diagnose.Case{
		Job: &job.Job{Ref: ref}, State: kinds.State{Phase: kinds.Failed, Reason: "PyTorchJobFailed", Since: end.Format(time.RFC3339)},
		Now: end.Add(time.Minute),
		Pods: []corev1.Pod{{
			ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: ref.Namespace, UID: "trial-0"},
			Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: container}}},
			Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
				Name:  container,
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: q.exit, Reason: "Error", StartedAt: metav1.NewTime(began), FinishedAt: metav1.NewTime(end)}},
			}}},
		}},
		Logs: []diagnose.Log{{
			Source: evidence.Source{Pod: pod, Container: container, Rank: -1},
			Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil },
		}},
	}
}

// Ability is one thing that a server can do, or why it cannot.
type Ability struct {
	What string
	Why  string // it cannot; empty: it can
}

// schema is what the server is asked to hold an answer to.
const schema = `{"type":"object","properties":{"word":{"type":"string","enum":["signal"]}},"required":["word"],"additionalProperties":false}`

// Abilities asks a server a few small questions: whether it answers, gives JSON of a schema, counts tokens, writes
// another language, streams.
func Abilities(ctx context.Context, c llm.Client) []Ability {
	text, err := c.Complete(ctx, llm.Request{System: "You answer with one word.", User: "Say: signal", MaxTokens: 256})
	if err != nil {
		return []Ability{{"answers", err.Error()}}
	}
	out := []Ability{{What: "answers"}, {"counts tokens", unless(text.TokensIn > 0, "its answers have no usage; budgets of tokens and money count nothing")}}
	answer, err := c.Complete(ctx, llm.Request{System: "You answer in JSON.", User: `Answer with the object {"word": "signal"}.`, MaxTokens: 256, JSONSchema: []byte(schema)})
	switch {
	case err != nil:
		out = append(out, Ability{"JSON of a schema", err.Error()})
	case answer.Format != "json_schema":
		out = append(out, Ability{"JSON of a schema", "it refuses the schema; asked for " + answer.Format + " instead"})
	default:
		out = append(out, Ability{"JSON of a schema", unless(strings.Contains(strings.Join(strings.Fields(answer.Text), ""), `"word":"signal"`), "it takes the schema and does not hold to it")})
	}
	chinese, err := c.Complete(ctx, llm.Request{System: "You answer in Chinese.", User: "Say in Chinese: the disk is full", MaxTokens: 256})
	out = append(out, Ability{"Chinese", failed(err, unless(strings.ContainsFunc(chinese.Text, func(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }), "it answers in another script"))})
	return append(out, Ability{"streams", streams(ctx, c)})
}

func streams(ctx context.Context, c llm.Client) string {
	s, ok := c.(llm.Streamer)
	if !ok {
		return "this client does not ask for it"
	}
	pieces := 0
	_, err := s.Stream(ctx, llm.Request{System: "You answer with one sentence.", User: "Say: the line is clear and the signal is green", MaxTokens: 256}, func(string) { pieces++ })
	return failed(err, unless(pieces > 1, "the answer came in one piece"))
}

func failed(err error, otherwise string) string {
	if err != nil {
		return err.Error()
	}
	return otherwise
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}
