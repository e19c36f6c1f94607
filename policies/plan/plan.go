// Package plan runs the plans that OPA makes of rules.
//
// OPA has two ways to evaluate Rego: it walks the rules as they are written, which explains and
// traces well, and it plans them (github.com/open-policy-agent/opa/v1/ir), which its WebAssembly
// compiler reads. A plan has no unification left, and steps that are made ready once: the same
// answer takes a tenth of the time. This package runs what both ways answer alike. A rule that it
// cannot plan has no Program, and a Program that meets anything but a plain answer (an error of a
// built-in, two values for one name) says so, and is no answer: the caller asks OPA.
//
// It is not an evaluator of its own: parsing, compiling and planning are OPA's, and so are all
// built-in functions.
//
// Start reading at Of and Program.Ask.
package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
)

// Program is one rule, ready to be run. Safe for concurrent use.
type Program struct {
	funcs   []function
	entry   int // of funcs
	data    *Value
	looks   int // places of the plan that look up a name
	allowed *ast.Capabilities
}

// ErrStopped says that a run was stopped before its end.
var ErrStopped = errors.New("stopped")

// ErrUnplanned says that only OPA's own evaluation answers: the rule, or the input, leads to what a
// plan does not tell.
var ErrUnplanned = errors.New("the plan has no answer")

// Limits end a run. The zero value ends none.
type Limits struct {
	Until time.Time    // zero: no end
	Stop  *atomic.Bool // set: the run ends; nil: it cannot be stopped
}

// target is the name under which OPA hands out its plans.
const target = "signalbox.plan"

// planned carries a plan out of OPA, which gives it to what it calls a target plugin.
type planned struct{ policy *ir.Policy }

type plannedKey struct{}

type taker struct{}

// IsTarget implements rego.TargetPlugin.
func (taker) IsTarget(name string) bool { return name == target }

// PrepareForEval implements rego.TargetPlugin.
func (taker) PrepareForEval(ctx context.Context, policy *ir.Policy, _ ...rego.PrepareOption) (rego.TargetPluginEval, error) {
	if into, ok := ctx.Value(plannedKey{}).(*planned); ok {
		into.policy = policy
	}
	return taker{}, nil
}

// Eval implements rego.TargetPluginEval.
func (taker) Eval(context.Context, *rego.EvalContext, ast.Value) (ast.Value, error) {
	return nil, ErrUnplanned
}

var register = sync.OnceFunc(func() { rego.RegisterPlugin(target, taker{}) })

// Of plans the rules of a name. The data is what they find below data; it is not changed after.
func Of(ctx context.Context, at ast.Ref, compiler *ast.Compiler, store storage.Store, data *ast.Term) (p *Program, err error) {
	defer func() {
		if v := recover(); v != nil {
			p, err = nil, fmt.Errorf("%w: %v", ErrUnplanned, v)
		}
	}()
	register()
	var into planned
	_, err = rego.New(
		rego.ParsedQuery(ast.NewBody(ast.NewExpr(ast.NewTerm(at)))),
		rego.Compiler(compiler), rego.Store(store), rego.Target(target), rego.EvalMode(ast.EvalModeTopdown),
	).PrepareForEval(context.WithValue(ctx, plannedKey{}, &into))
	if err != nil || into.policy == nil {
		return nil, fmt.Errorf("%w: %w", ErrUnplanned, err)
	}
	p = &Program{data: Term(data), allowed: compiler.Capabilities()}
	if err := p.link(into.policy, at.String()); err != nil {
		return nil, err
	}
	return p, nil
}

// Ask runs the rule. A nil value: it is undefined. On ErrUnplanned it is OPA's to answer.
func (p *Program) Ask(ctx context.Context, m *Machine, input *Value, limits Limits) (answer ast.Value, err error) {
	m.begin(ctx, p, limits)
	defer func() {
		if v := recover(); v != nil {
			*m = Machine{input: m.input} // what a panic leaves behind is not used again
			answer, err = nil, fmt.Errorf("%w: %v", ErrUnplanned, v)
		}
		m.end()
	}()
	if m.late() {
		return nil, ErrStopped
	}
	out, ok := m.call(p.entry, []*Value{input, p.data})
	switch {
	case m.err != nil:
		return nil, m.err
	case !ok:
		return nil, nil
	}
	if t := out.asTerm(); t != nil {
		return t.Value, nil
	}
	return nil, ErrUnplanned
}

// Machine is the memory of runs, one after the other. The zero value is ready; it belongs to one
// goroutine at a time.
type Machine struct {
	program *Program
	context context.Context // of one run: built-in functions are given it
	limits  Limits
	memo    []memo   // of functions without parameters, by their place
	found   []found  // where names were found last, by the place that looks
	locals  []*Value // of the call at hand
	stack   []*Value
	top     int // of the stack, now
	high    int // and at most
	ticks   int
	err     error
	chunk   []Value // room for values
	used    int     // of it
	pool    []*more // of arrays and sets, to be filled again
	filled  int     // of the pool
	input   arena
}

type memo struct {
	value *Value // nil: undefined
	known bool
}

// found is where a record of a form has a field.
type found struct {
	form *form
	at   int
}

// begin makes room for a run of a program.
func (m *Machine) begin(ctx context.Context, p *Program, limits Limits) {
	m.context, m.program, m.limits = ctx, p, limits
	m.memo = slices.Grow(m.memo[:0], len(p.funcs))[:len(p.funcs)]
	m.found = slices.Grow(m.found[:0], p.looks)[:p.looks]
}

// end forgets all that a run has held.
func (m *Machine) end() {
	clear(m.memo)
	clear(m.found)
	clear(m.stack[:m.high])
	clear(m.chunk[:m.used])
	for _, of := range m.pool[:m.filled] {
		of.grown.empty()
	}
	m.context, m.program, m.limits, m.locals, m.err = nil, nil, Limits{}, nil, nil
	m.top, m.high, m.ticks, m.filled, m.used = 0, 0, 0, 0, 0
}

// everyTicks is how many turns of loops and calls pass between two looks at the clock: some
// microseconds.
const everyTicks = 128

// tick says whether the run has to end.
func (m *Machine) tick() bool {
	if m.ticks++; m.ticks%everyTicks == 0 && m.late() {
		m.err = ErrStopped
	}
	return m.err != nil
}

func (m *Machine) late() bool {
	return m.limits.Stop != nil && m.limits.Stop.Load() || !m.limits.Until.IsZero() && time.Now().After(m.limits.Until)
}

// Cancel implements topdown.Cancel.
func (m *Machine) Cancel() {}

// Cancelled implements topdown.Cancel: built-in functions that loop ask it.
func (m *Machine) Cancelled() bool { return m.late() }

// call runs a function. False: it is undefined, or the run has ended with an error.
func (m *Machine) call(at int, args []*Value) (*Value, bool) {
	fn := &m.program.funcs[at]
	shared := len(fn.params) == 2 // input and data alone: one value for the whole run
	if shared && m.memo[at].known {
		return m.memo[at].value, m.memo[at].value != nil
	}
	if m.tick() {
		return nil, false
	}
	from, above := m.top, m.locals
	if m.top += fn.locals; m.top > len(m.stack) {
		// Frames below keep their places in the old memory.
		m.stack = append(make([]*Value, 0, 2*m.top), m.stack...)[:2*m.top]
	}
	m.high = max(m.high, m.top)
	m.locals = m.stack[from:m.top:m.top]
	clear(m.locals)
	for i, p := range fn.params {
		m.locals[p] = args[i]
	}
	var out *Value
	if blocks(m, fn.blocks) == returned && m.err == nil {
		out = m.locals[fn.returns]
	}
	m.top, m.locals = from, above
	if shared && m.err == nil {
		m.memo[at] = memo{out, true}
	}
	return out, out != nil
}

// room is how many values a run makes room for at once. What a long run has left behind is let go.
const room = 256

// value is an empty value of this run.
func (m *Machine) value() *Value {
	if m.used == len(m.chunk) {
		m.chunk, m.used = make([]Value, room), 0
	}
	m.used++
	return &m.chunk[m.used-1]
}

// hold is the value of a term.
func (m *Machine) hold(t *ast.Term) *Value {
	v := m.value()
	v.hold(t)
	return v
}

// mostKept is how many arrays and sets a machine keeps to be filled again.
const mostKept = 16

// grown is an empty array or set, with room for so many elements.
func (m *Machine) grown(set bool, room int) *Value {
	if m.filled == len(m.pool) {
		of := &more{grown: &grown{}}
		if m.filled == mostKept {
			return m.growing(of, set, room)
		}
		m.pool = append(m.pool, of)
	}
	m.filled++
	return m.growing(m.pool[m.filled-1], set, room)
}

func (m *Machine) growing(of *more, set bool, room int) *Value {
	of.grown.set, of.grown.items = set, slices.Grow(of.grown.items, room)
	v := m.value()
	v.kind, v.more = growing, of
	return v
}
