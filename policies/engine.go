// Package policies decides about jobs by Rego: it embeds OPA, prepares every policy once
// and asks them all for each review. It is, with the plans of rules below it, the only home of OPA.
//
// It observes nothing and parses no manifests: its input is preflight.Input, integers and
// strings that Go has read. A policy that fails is named as undecided and never denies.
//
// Start reading at set.Decide; Load says what a policy must look like.
package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/signalbox-dev/signalbox/policies/plan"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// OPA is a set of policies that can be replaced while others decide. Safe for concurrent
// use. It implements preflight.Engine.
type OPA struct{ current atomic.Pointer[set] }

// set is one immutable choice of policies; by name. It implements preflight.Policies.
type set struct {
	docs     []Doc
	rules    []*rule    // of the policies in their order, deny before warn
	stages   [2]parts   // what the rules of a stage read, by preflight.Stage
	asked    [2][]*rule // that have something to say, by preflight.Stage
	revision string
	machines sync.Pool // of *plan.Machine
}

// rule is the deny or warn of one policy, ready to be asked.
type rule struct {
	doc      *Doc
	name     string // deny or warn
	at       ast.Ref
	query    rego.PreparedEvalQuery
	plan     *plan.Program // nil: only the query answers
	stage    preflight.Stage
	reads    parts
	silent   bool     // it says nothing whatever the input: the data does not configure it
	settings []string // below data.config that it reads, where it is silent
	exempt   *rule    // of the same policy; nil: it makes no exceptions
	plain    bool     // its input is the object as it was written: a rule in Conftest's form
	// options are of how it is evaluated, not of what it answers.
	options []rego.EvalOption
	traced  bool // what was evaluated is measured
}

// Load reads policies (*.rego) and their data (*.json, *.yaml, *.yml) from all file
// systems into one set. Tests (*_test.rego) and folders called testdata are left out.
// Everything must be right: the error names every file that is not, and why.
func Load(sources ...fs.FS) (*OPA, error) {
	o := &OPA{}
	if err := o.Swap(sources...); err != nil {
		return nil, err
	}
	return o, nil
}

// Swap replaces all policies at once. On an error the set that was there stays.
func (o *OPA) Swap(sources ...fs.FS) error {
	next, err := load(context.Background(), sources) // reads memory; nothing to wait for
	if err != nil {
		return err
	}
	o.current.Store(next)
	return nil
}

// Revision is a digest of all sources and data: the same texts give the same revision.
func (o *OPA) Revision() string { return o.set().revision }

// Docs describes the policies by name.
func (o *OPA) Docs() []Doc {
	return slices.Concat([]Doc{}, o.set().docs)
}

// InForce implements preflight.Engine.
func (o *OPA) InForce() preflight.Policies { return o.set() }

func (o *OPA) set() *set {
	if s := o.current.Load(); s != nil {
		return s
	}
	return &set{}
}

// Revision implements preflight.Policies.
func (s *set) Revision() string { return s.revision }

// Decide asks every rule of the stage. A rule that fails, answers in another form, or does not
// end in time is undecided, and the others still count. Each has a share of the time that is
// left, and one that needs more is asked again when all others have answered: a slow rule costs the
// others nothing.
func (s *set) Decide(ctx context.Context, in preflight.Input, q preflight.Question) (preflight.Ruled, error) {
	var out preflight.Ruled
	if in.Request.Mode == preflight.ModeOff {
		return out, nil
	}
	left := s.of(q.Stage)
	if len(left) == 0 {
		return out, nil
	}
	if !s.Reads(q.Stage, "object") {
		in.Object = preflight.Object{}
	}
	if !s.Reads(q.Stage, "old_object") {
		in.Old = preflight.Object{}
	}
	w := watch(ctx)
	defer w.stop()
	if kept, ok := s.machines.Get().(*plan.Machine); ok {
		w.machine = kept
	}
	defer func() {
		w.machine.Forget()
		s.machines.Put(w.machine)
	}()
	input := readInput()(w.machine, &in)
	for round := range 2 {
		var again []*rule
		for i, r := range left {
			rulings, err := w.ask(ctx, r, shared(ctx, len(left)-i), input, in.Request.Mode, round > 0)
			late, large := errors.Is(err, errTime), errors.Is(err, errMemory)
			had := len(out.Rulings)
			switch {
			case (late || large) && ctx.Err() == nil && round == 0:
				again = append(again, r)
				continue
			case large:
				r.undecided(&out, in.Request.Mode, errMemory.Error())
			case late:
				r.undecided(&out, in.Request.Mode, errTime.Error())
			case err != nil:
				r.undecided(&out, in.Request.Mode, reason(err))
			default:
				if out.Rulings == nil && len(rulings) > 0 {
					out.Rulings = make([]preflight.Ruling, 0, max(len(left), len(rulings)))
				}
				out.Rulings = append(out.Rulings, rulings...)
				if why := r.blind(q.Lacks); len(rulings) == 0 && why != "" {
					r.undecided(&out, in.Request.Mode, why)
				}
			}
			r.except(ctx, w, input, &out, had)
		}
		left = again
	}
	if len(out.Rulings)+len(out.Undecided)+len(out.Exempted) > 0 {
		named(&in).ruled(&out)
	}
	if q.Before != nil && len(out.Rulings) > 0 {
		before, err := s.Decide(ctx, *q.Before, preflight.Question{Stage: q.Stage, Lacks: q.Lacks})
		if err != nil {
			return out, err
		}
		out.Rulings = slices.DeleteFunc(out.Rulings, func(r preflight.Ruling) bool { return slices.Contains(before.Rulings, r) })
	}
	slices.SortFunc(out.Rulings, func(a, b preflight.Ruling) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Effect, b.Effect))
	})
	out.Rulings = slices.Compact(out.Rulings)
	slices.Sort(out.Undecided)
	slices.Sort(out.Exempted)
	out.Exempted = slices.Compact(out.Exempted)
	return out, nil
}

// Reads implements preflight.Selective.
func (s *set) Reads(stage preflight.Stage, part string) bool { return s.stages[stage].any(part) }

// Asks implements preflight.Selective.
func (s *set) Asks(stage preflight.Stage) bool { return len(s.of(stage)) > 0 }

// ReadsAnnotation implements preflight.Policies: as the job has it, or the object now and before.
func (s *set) ReadsAnnotation(key string) bool {
	return slices.ContainsFunc([]string{"job.annotations.", "object.metadata.annotations.", "old_object.metadata.annotations."}, func(of string) bool {
		return s.Reads(preflight.OnTheJob, of+key) || s.Reads(preflight.OnTheReview, of+key)
	})
}

// Unasked implements preflight.Policies.
func (s *set) Unasked(mode string, stage preflight.Stage, why string) preflight.Ruled {
	var out preflight.Ruled
	if mode == preflight.ModeOff {
		return out
	}
	for _, r := range s.of(stage) {
		if r.name == denies {
			r.undecided(&out, mode, why)
		}
	}
	return out
}

// of are the rules of a stage that may have something to say.
func (s *set) of(stage preflight.Stage) []*rule { return s.asked[stage] }

// shared is until when one of so many rules has its share of the time that is left, and never more
// than a rule may take.
func shared(ctx context.Context, rules int) time.Time {
	now, share := time.Now(), perRule
	if end, bounded := ctx.Deadline(); bounded {
		share = min(share, end.Sub(now)/time.Duration(rules))
	}
	return now.Add(share)
}

// undecided files a rule that gave no answer. Where its policy is closed on failure and denials
// hold, that is a denial.
func (r *rule) undecided(out *preflight.Ruled, mode, why string) {
	why = redact.Text(why)
	out.Undecided = append(out.Undecided, r.doc.Name+": "+why)
	if r.name != denies || r.doc.Failure != FailureClosed || r.effect(mode) != preflight.Deny {
		return
	}
	out.Rulings = append(out.Rulings, preflight.Ruling{
		Policy: r.doc.Name, Effect: preflight.Deny, Path: "",
		Message: clip("could not be evaluated, and is closed on failure: " + why),
		Remedy:  "Submit again; if it stays, tell whoever keeps the policy.",
	})
}

// blind says why the silence of a denying rule is no answer: it reads what is not whole.
func (r *rule) blind(lacks []preflight.Lack) string {
	if r.name != denies {
		return ""
	}
	for _, l := range lacks {
		if r.reads.any(l.Part) {
			return "it reads " + l.Part + ", which is not whole: " + l.Why
		}
	}
	return ""
}

// effect is what a ruling of the rule does in a mode.
func (r *rule) effect(mode string) preflight.Effect {
	if r.doc.Mutes {
		return preflight.Mute
	}
	if r.name == denies && (mode == preflight.ModeEnforce || r.doc.Mode == ModeAlways) {
		return preflight.Deny
	}
	return preflight.Warn
}

const denies, warns, exempts = "deny", "warn", "exempt"

// everyRule leaves no rule out by OPA's index of rules, which does not find a rule where a value of
// the input stands among others: input.request.user in ["root", input.job.name].
var everyRule = rego.EvalRuleIndexing(false)

// readInput reads inputs as rules look at them.
var readInput = sync.OnceValue(plan.InputOf[preflight.Input])

// ask is all or nothing: half an answer of a failing rule would look like a whole one.
func (r *rule) ask(ctx context.Context, w *watcher, until time.Time, input *plan.Value, mode string) (out []preflight.Ruling, err error) {
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	if r.plain {
		if input = input.Field("object"); input == nil {
			return nil, errors.New("the object could not be read")
		}
	}
	if r.plan != nil && len(r.options) == 0 {
		answer, err := r.plan.Ask(ctx, w.machine, input, plan.Limits{Until: until, Stop: &w.over})
		if !errors.Is(err, plan.ErrUnplanned) {
			return r.planned(answer, err, mode)
		}
	}
	whole, err := input.AsOPA()
	if err != nil {
		return nil, fmt.Errorf("write the input: %w", err)
	}
	share, end := context.WithDeadline(ctx, until)
	defer end()
	guarded, end := w.guard(share)
	defer end()
	results, err := r.query.Eval(guarded, append([]rego.EvalOption{rego.EvalParsedInput(whole), everyRule}, r.options...)...)
	switch {
	case err != nil && errors.Is(context.Cause(guarded), errMemory):
		return nil, errMemory
	case err != nil && share.Err() != nil:
		return nil, errTime
	case err != nil:
		return nil, err
	}
	for _, result := range results {
		for _, e := range result.Expressions {
			rulings, err := r.rulings(e.Value, r.effect(mode))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			out = append(out, rulings...)
		}
	}
	return out, nil
}

// planned reads the answer of a plan.
func (r *rule) planned(answer ast.Value, err error, mode string) ([]preflight.Ruling, error) {
	if err != nil || answer == nil {
		return nil, err
	}
	if set, ok := answer.(ast.Set); ok && set.Len() == 0 {
		return nil, nil
	}
	if rulings, ok := r.plainly(answer, mode); ok {
		return rulings, nil
	}
	value, err := ast.JSON(answer)
	if err != nil {
		return nil, err
	}
	rulings, err := r.rulings(value, r.effect(mode))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	return rulings, nil
}

// plainly reads the common answer, objects of texts, without a copy of it. False: rulings reads it,
// and says what is wrong with it.
func (r *rule) plainly(answer ast.Value, mode string) ([]preflight.Ruling, bool) {
	set, ok := answer.(ast.Set)
	if !ok || r.name == exempts {
		return nil, false
	}
	out, effect := make([]preflight.Ruling, 0, set.Len()), r.effect(mode)
	for _, element := range set.Slice() {
		object, ok := element.Value.(ast.Object)
		if !ok {
			return nil, false
		}
		msg, said := textAt(object, "msg")
		path, placed := textAt(object, "path")
		if !said || !placed || strings.TrimSpace(msg) == "" || object.Get(ast.InternedTerm("check")) != nil {
			return nil, false
		}
		out = append(out, preflight.Ruling{Policy: r.doc.Name, Effect: effect, Message: clip(msg), Path: pathOf(path), Remedy: r.doc.Remedy})
	}
	return out, true
}

func textAt(object ast.Object, name string) (string, bool) {
	t := object.Get(ast.InternedTerm(name))
	if t == nil {
		return "", false
	}
	text, ok := t.Value.(ast.String)
	return string(text), ok
}

// except takes back what a policy said since then, where the policy makes an exception. One that
// fails makes none, and says so.
func (r *rule) except(ctx context.Context, w *watcher, input *plan.Value, out *preflight.Ruled, since int) {
	if r.exempt == nil || len(out.Rulings) == since {
		return
	}
	exceptions, err := w.ask(ctx, r.exempt, shared(ctx, 1), input, "", false)
	if err != nil {
		out.Undecided = append(out.Undecided, r.doc.Name+": no exception was made: "+reason(err))
		return
	}
	said := out.Rulings[since:]
	out.Rulings = out.Rulings[:since:since]
	for _, ruling := range said {
		at := slices.IndexFunc(exceptions, func(e preflight.Ruling) bool {
			return e.Path == "" || ruling.Path.Within(e.Path)
		})
		if at < 0 {
			out.Rulings = append(out.Rulings, ruling)
			continue
		}
		out.Exempted = append(out.Exempted, r.doc.Name+": "+exceptions[at].Message)
	}
}

// longestMessage bounds what one ruling may say, in runes: the API server passes a denial
// on whole, and a terminal should still show it.
const longestMessage = 1000

// rulings reads the elements of a deny or warn set.
func (r *rule) rulings(value any, effect preflight.Effect) ([]preflight.Ruling, error) {
	elements, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("answers %T; want a set of {\"path\", \"msg\"}", value)
	}
	var out []preflight.Ruling
	for _, e := range elements {
		if text, ok := e.(string); ok { // as Conftest has it: deny contains msg
			e = map[string]any{"msg": text, "path": ""}
		}
		object, ok := e.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("holds %v; want {\"path\", \"msg\"}", e)
		}
		msg, ok := object["msg"].(string)
		if !ok || strings.TrimSpace(msg) == "" {
			return nil, fmt.Errorf("holds an element whose msg is %v; want a text", object["msg"])
		}
		path, ok := placeIn(object["path"])
		if !ok || object["path"] == nil && !r.plain && r.name != exempts {
			return nil, fmt.Errorf("holds an element whose path is %v; want a text, or a list of keys and positions as walk has it", object["path"])
		}
		name, named := object["check"].(string)
		if r.doc.Mutes != named && r.name == exempts {
			return nil, fmt.Errorf("holds an element whose check is %v; want the name of one where exempt stands alone, and none beside deny or warn", object["check"])
		}
		out = append(out, preflight.Ruling{
			Policy: r.doc.Name, Effect: effect, Message: clip(msg), Path: pathOf(path), Remedy: r.doc.Remedy, Check: name,
		})
	}
	return out, nil
}

// placeIn is a path as a rule writes it: a text, or the steps from the object that walk gives. None is the whole
// object.
func placeIn(v any) (string, bool) {
	steps, list := v.([]any)
	if !list {
		text, ok := v.(string)
		return text, ok || v == nil
	}
	var at job.Path
	for _, step := range steps {
		switch step := step.(type) {
		case string:
			at = at.Key(step)
		case json.Number:
			i, err := strconv.Atoi(string(step))
			if err != nil || i < 0 {
				return "", false
			}
			at = at.Index(i)
		default:
			return "", false
		}
	}
	return string(at), true
}

// clip bounds what a rule says, which may repeat what it has read: without what is secret in that.
func clip(s string) string { return words.Clip(redact.Text(s), longestMessage) }

// pathOf is where a rule says it is; it may repeat what it has read, too.
func pathOf(path string) job.Path { return job.Path(redact.Text(path)) }

// reason is an error of OPA in one line, without what is secret in what it repeats.
func reason(err error) string { return redact.Text(strings.Join(strings.Fields(err.Error()), " ")) }

var (
	_ preflight.Policies  = (*set)(nil)
	_ preflight.Selective = (*set)(nil)
)
