// Package explain asks a model to tell the story of a finished diagnosis, and keeps of it what
// cites the evidence. Where the rules are inconclusive a model may name a line as the cause; what passes the
// rules' tests becomes error and solution, and is marked. Nothing else of a finding is among the things it
// returns: with or without a model, after an error, an empty or a hostile answer, verdict, cause, owner and
// retry are what they were.
//
// Start reading at Explainer.Explain; of nominations, at Test.
package explain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ground"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Explainer asks one model. The zero value has none: Explain answers llm.ErrOff.
type Explainer struct {
	Client      llm.Client
	Sources     []prompt.Source // of templates; the first that has one wins
	Answers     *Answers        // of before; nil: each question is asked
	Budget      *Budget         // nil: none
	Language    string          // that it is asked to write in; empty: the question does not say
	Name        string          // of the model: what another has said is not remembered for it
	MaxTokens   int             // of an answer; 0: 1024
	PromptBytes int             // of evidence; 0: 48 KiB

	Heard func(text string) // is called with what is supported of an answer while it comes; nil: not called

	PromptTokens int // of evidence as well; 0: bytes alone count

	Pseudonyms bool // nodes, hosts and addresses leave under other names
}

// Question is what a model will be asked about one diagnosis.
type Question struct {
	Request  llm.Request
	Template string // where the question comes from
	source   string // the text of the template
	version  string // its name and the digest of its text
	names    []pair // pseudonyms, and what they stand for
	// Problem says why the operator's own template is not used; nil: nothing is wrong with it.
	Problem error
}

// Fingerprint is the same for the same question: system message, prompt and all.
func (q Question) Fingerprint() string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d:%s%d:%s", len(q.Request.System), q.Request.System, len(q.Request.User), q.Request.User))
	return hex.EncodeToString(h[:])[:16]
}

// Ask writes the question. It always succeeds: a template that cannot be read, parsed or run
// is a Problem, and the built-in one is used.
func (e Explainer) Ask(ctx context.Context, c diagnose.Case, r diagnose.Result) Question {
	budget, tokens := e.PromptBytes, e.MaxTokens
	if budget <= 0 {
		budget = 48 << 10
	}
	if tokens <= 0 {
		tokens = 1024
	}
	data := prompt.Of(c, r, prompt.Room{Bytes: budget, Tokens: e.PromptTokens})
	data.Language = e.Language
	t, problem := prompt.Choose(ctx, r.Job.Kind, prompt.Builtin(c.Kind, e.Language), e.Sources...)
	text, err := t.Render(data)
	if err != nil {
		problem = errors.Join(problem, err)
		t = prompt.Builtin(c.Kind, e.Language)
		if text, err = t.Render(data); err != nil { // a test renders it; without a text there is no story
			problem = errors.Join(problem, err)
		}
	}
	system, schema := prompt.System, prompt.Schema
	if Nominates(r) {
		system, schema = system+prompt.Nominate+categories(), prompt.NominateSchema
	}
	var names []pair
	if e.Pseudonyms {
		var there []pair
		there, names = pseudonyms(text, r)
		text = swap(text, there)
	}
	return Question{names: names, Request: llm.Request{System: system, User: text, MaxTokens: tokens, JSONSchema: []byte(schema)}, Template: t.Name, source: t.Source(), version: t.Version(), Problem: problem}
}

// Worth says whether there is something to explain: a failure, and no job that waits for the cluster, whose
// numbers have changed before they are told.
func Worth(r diagnose.Result) bool {
	return r.Waiting == "" && (r.Verdict == diagnose.Diagnosed || r.Verdict == diagnose.Inconclusive)
}

// Told is what came of a question.
type Told struct {
	Story  *diagnose.Story
	Answer llm.Response // the zero value: no model was asked
	Shared bool         // the model had answered about the same failure of another job
	Saved  Saved        // what that answer had taken, where it is shared
}

// Saved is what a shared answer did not cost again, in tokens.
type Saved struct{ In, Out int }

// Explain asks the question, or tells what was answered about the same failure before. Where evidence
// supports nothing of the answer, the story has no text and says how much was left out and why; that is no
// error. An error is the model's, never the job's.
func (e Explainer) Explain(ctx context.Context, q Question, r diagnose.Result) (Told, error) {
	if e.Answers == nil {
		return e.ask(ctx, q, r, "")
	}
	k := key(q, r, e.Name+" "+e.Language)
	if told, ok := e.Answers.find(k, q, r); ok {
		return told, nil
	}
	mine := false
	got, err, _ := e.Answers.asked.Do(k, func() (any, error) {
		mine = true
		return e.ask(ctx, q, r, k)
	})
	switch told, ok := got.(Told); {
	case mine && ok:
		return told, err
	case err == nil: // another job's answer has just come
		if told, ok := e.Answers.find(k, q, r); ok {
			return told, nil
		}
	}
	return e.ask(ctx, q, r, k)
}

// ask asks the model, and remembers under the key what it said; "" is no key.
func (e Explainer) ask(ctx context.Context, q Question, r diagnose.Result, key string) (Told, error) {
	client := e.Client
	if client == nil {
		client = llm.Off
	}
	if err := e.Budget.take(r.Job.Namespace); err != nil {
		return Told{}, fmt.Errorf("explain %s: %w", r.Job, err)
	}
	answer, err := e.complete(ctx, client, q, r)
	e.Budget.spend(r.Job.Namespace, answer.TokensIn, answer.TokensOut)
	if err != nil {
		return Told{}, fmt.Errorf("explain %s: %w", r.Job, err)
	}
	if answer.Cut {
		answer.Text = soFar(answer.Text) // half a sentence may say what the whole would not
	}
	answer.Text = swap(answer.Text, q.names)
	story, kept := judged(ground.Parse(answer.Text), answer.Model, q, r)
	if key != "" {
		e.Answers.add(key, r, answer, kept, story.Nominated)
	}
	return Told{Story: story, Answer: answer}, nil
}

// judged is what remains of an answer: the nomination is tested, then each sentence is held against the evidence.
func judged(a ground.Answer, model string, q Question, r diagnose.Result) (*diagnose.Story, ground.Kept) {
	shown := against(q, r)
	story := &diagnose.Story{Model: modelName(model), Prompt: q.version}
	if a.Nominate.Line != "" {
		story.Nominated, story.Refused = Test(r, shown.Items, a.Nominate)
	}
	if n := story.Nominated; n != nil {
		n.Model = story.Model
		category, _ := signature.CategoryOf(n.Category)
		shown.Root = append(slices.Clone(shown.Root), n.Item.ID)
		shown.Says += "\n" + category.Title
	}
	kept := ground.Keep(a, shown)
	story.Text, story.Unsupported, story.Cites, story.Dropped, story.LeftOut = kept.Text(), kept.Unsupported, kept.Cites, kept.Dropped, kept.LeftOut()
	return story, kept
}

// against is what the answer is held against.
func against(q Question, r diagnose.Result) ground.Shown {
	s := ground.Shown{
		Items: prompt.Shown(swap(q.Request.User, q.names), r), Says: r.Error, Job: r.Job.Name, Kind: r.Job.Kind, Namespace: r.Job.Namespace,
		Names: []string{r.Job.Name}, Remedies: r.Solution, Healthy: r.Verdict == diagnose.Healthy,
		Prompt: swap(q.Request.User, q.names),
	}
	if r.Root != nil {
		s.Root = r.Root.Cites
		s.Says += "\n" + r.Root.Title + "\n" + r.Root.Line
	}
	for _, e := range r.Effects {
		s.Effects = append(s.Effects, e.Cites...)
	}
	for _, m := range r.Members {
		s.Names = append(s.Names, m.Source.Pod)
		if m.Source.Node != "" {
			s.Names = append(s.Names, m.Source.Node)
		}
	}
	return s
}

// modelName is what a server says that its model is called, as it may be shown: one short line.
func modelName(name string) string {
	const most = 64
	name = strings.Join(strings.Fields(ground.Clean(redact.Text(name))), " ")
	for i := range name {
		if i >= most && len(name) > most {
			return name[:i] + "…"
		}
	}
	return name
}
