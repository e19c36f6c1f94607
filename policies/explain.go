package policies

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/signalbox-dev/signalbox/policies/plan"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// Explanation is how one rule of a policy came to its answer about one job.
type Explanation struct {
	Policy string             `json:"policy"`
	Rule   string             `json:"rule"` // deny, warn or exempt
	File   string             `json:"file"`
	Says   []preflight.Ruling `json:"says,omitempty"`
	Read   []Fact             `json:"read,omitempty"` // of the input, by place
	// Failed are the expressions that did not hold, in the order of their lines.
	Failed  []FailedExpression `json:"failed,omitempty"`
	More    int                `json:"more,omitempty"`    // that found no room
	Silent  bool               `json:"silent,omitempty"`  // the data does not configure the rule: nothing is evaluated
	Failure string             `json:"failure,omitempty"` // why it gave no answer
}

// Fact is one place of the input and what stands there, as JSON.
type Fact struct {
	Place string          `json:"place"`
	Value json.RawMessage `json:"value"`         // null: nothing
	Cut   bool            `json:"cut,omitempty"` // the value is a text: how what stands there begins
}

// FailedExpression is an expression that was false or undefined, and what its operands were.
type FailedExpression struct {
	File string    `json:"file"`
	Line int       `json:"line"`
	Text string    `json:"text"`
	With []Operand `json:"with,omitempty"` // in the order in which they stand in it
}

// Operand is a variable of an expression, or something else in it that has a value.
type Operand struct {
	Name  string `json:"name,omitempty"` // empty: it is no variable
	Value string `json:"value"`          // as Rego writes it
}

// The bounds of one explanation.
const (
	mostFailed = 12  // expressions
	mostValue  = 120 // characters of one value
)

// Explain evaluates every rule by itself, and says what each read, said, and failed on.
func Explain(ctx context.Context, in preflight.Policies, input preflight.Input) ([]Explanation, error) {
	s, ok := in.(*set)
	if !ok {
		return nil, nil
	}
	w := watch(ctx)
	defer w.stop()
	value := readInput()(w.machine, &input)
	read, err := value.AsOPA()
	if err != nil {
		return nil, fmt.Errorf("write policy input for %s: %w", input.Job.Name, err)
	}
	_, hide, err := maskedInput(input)
	if err != nil {
		return nil, err
	}
	e := explaining{input: value, read: read, mode: input.Request.Mode, hide: hide}
	out, excepted := []Explanation{}, map[*rule]bool{}
	for _, r := range s.rules {
		out = append(out, e.of(ctx, w, r))
		if r.exempt != nil && !excepted[r.exempt] { // the rules of a policy share it
			excepted[r.exempt] = true
			out = append(out, e.of(ctx, w, r.exempt))
		}
	}
	return out, ctx.Err()
}

// explaining is what the explanations about one input share.
type explaining struct {
	input *plan.Value
	read  ast.Value // the same
	mode  string
	hide  *hiding
}

func (e *explaining) of(ctx context.Context, w *watcher, r *rule) Explanation {
	out := Explanation{Policy: r.doc.Name, Rule: r.name, File: r.doc.File, Silent: r.silent}
	if r.silent {
		return out
	}
	for _, place := range r.reads {
		out.Read = append(out.Read, e.factAt(place))
	}
	trace := &failures{seen: map[string]bool{}, hide: e.hide}
	traced := *r
	traced.options = []rego.EvalOption{rego.EvalQueryTracer(trace), rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false)}
	said, err := w.ask(ctx, &traced, shared(ctx, 1), e.input, e.mode, false)
	if err != nil {
		out.Failure = e.hide.text(reason(err))
	}
	for _, ruling := range said {
		out.Says = append(out.Says, e.hide.ruling(ruling))
	}
	slices.SortStableFunc(trace.found, func(a, b FailedExpression) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	out.Failed, out.More = trace.found, trace.more
	return out
}

// factAt is what the input holds at a place; below a list there is no one value, and the list is told.
func (e *explaining) factAt(place string) Fact {
	out := Fact{Place: strings.TrimSuffix("input."+place, "."), Value: json.RawMessage("null")}
	if place == "" {
		out.Value = json.RawMessage(`"…"`)
		return out
	}
	var at ast.Ref
	last := ""
	for name := range strings.SplitSeq(place, ".") {
		at, last = append(at, ast.StringTerm(name)), name
	}
	v, err := e.read.Find(at)
	if err != nil {
		return out
	}
	plain, err := ast.JSON(v)
	if err != nil {
		return out
	}
	named := map[string]any{last: plain} // the name tells what the value is
	redact.Tree(named)
	whole, err := json.Marshal(named[last])
	if err != nil {
		return out
	}
	text := e.hide.in.Replace(string(whole))
	if out.Value = json.RawMessage(text); len(text) > mostValue {
		short, _ := json.Marshal(words.Clip(text, mostValue))
		out.Value, out.Cut = short, true
	}
	return out
}

// failures keeps the expressions that did not hold. It implements topdown.QueryTracer.
type failures struct {
	seen  map[string]bool
	hide  *hiding
	found []FailedExpression
	more  int
}

// Enabled implements topdown.QueryTracer.
func (*failures) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (*failures) Config() topdown.TraceConfig { return topdown.TraceConfig{PlugLocalVars: true} }

// TraceEvent implements topdown.QueryTracer.
func (f *failures) TraceEvent(e topdown.Event) {
	expr, ok := e.Node.(*ast.Expr)
	if e.Op != topdown.FailOp || !ok || e.Location == nil || e.Location.File == "" {
		return
	}
	out := FailedExpression{File: e.Location.File, Line: e.Location.Row, Text: strings.Join(strings.Fields(string(e.Location.Text)), " ")}
	key := fmt.Sprintf("%s:%d:%s", out.File, out.Line, out.Text)
	ast.WalkVars(expr, func(v ast.Var) bool {
		value := e.Locals.Get(v)
		if value == nil {
			return false
		}
		operand := Operand{Value: words.Clip(f.hide.text(value.String()), mostValue)}
		if known, ok := e.LocalMetadata[v]; ok && !known.Name.IsGenerated() {
			operand.Name = string(known.Name)
		}
		if !slices.Contains(out.With, operand) {
			out.With = append(out.With, operand)
			key += " " + operand.Name + "=" + operand.Value
		}
		return false
	})
	switch {
	case len(f.seen) < 16*mostFailed && !f.seen[key]:
		f.seen[key] = true
		if len(f.found) < mostFailed {
			f.found = append(f.found, out)
			return
		}
		f.more++
	case !f.seen[key]:
		f.more++
	}
}
