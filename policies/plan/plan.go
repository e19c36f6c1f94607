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
	data    *ast.Term
	allowed *ast.Capabilities
	memory  sync.Pool // of *machine
}

// ErrStopped says that a run was stopped before its end.
var ErrStopped = errors.New("stopped")

// ErrUnplanned says that only OPA's own evaluation answers: the rule, or the input, leads to what a
// plan does not tell.
var ErrUnplanned = errors.New("the plan has no answer")

// Limits end a run. The zero value ends none.
type Limits struct {
	Until time.Time    // zero: no end
	Stop  *atomic.Bool // set: the run ends; nil: nobody stops it
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
	p = &Program{data: data, allowed: compiler.Capabilities()}
	if err := p.link(into.policy, at.String()); err != nil {
		return nil, err
	}
	return p, nil
}

// Ask runs the rule. A nil value: it is undefined. On ErrUnplanned it is OPA's to answer.
func (p *Program) Ask(ctx context.Context, input *ast.Term, limits Limits) (answer ast.Value, err error) {
	m, _ := p.memory.Get().(*machine)
	if m == nil {
		m = &machine{program: p, memo: make([]memo, len(p.funcs))}
	}
	m.limits, m.context = limits, ctx
	defer func() {
		if v := recover(); v != nil {
			answer, err = nil, fmt.Errorf("%w: %v", ErrUnplanned, v)
			return // what a panic leaves behind is not used again
		}
		m.reset()
		p.memory.Put(m)
	}()
	if m.late() {
		return nil, ErrStopped
	}
	out, ok := m.call(p.entry, []*ast.Term{input, p.data})
	switch {
	case m.err != nil:
		return nil, m.err
	case !ok:
		return nil, nil
	}
	return out.Value, nil
}

// machine is one run.
type machine struct {
	program *Program
	context context.Context // of one run: built-in functions are given it
	limits  Limits
	memo    []memo // of functions without parameters, by their place
	stack   []*ast.Term
	top     int
	ticks   int
	err     error
}

type memo struct {
	value *ast.Term // nil: undefined
	known bool
}

func (m *machine) reset() {
	clear(m.memo)
	clear(m.stack)
	m.top, m.ticks, m.err, m.context = 0, 0, nil, nil
}

// everyTicks is how many turns of loops and calls pass between two looks at the clock: some
// microseconds.
const everyTicks = 128

// tick says whether the run has to end.
func (m *machine) tick() bool {
	if m.ticks++; m.ticks%everyTicks == 0 && m.late() {
		m.err = ErrStopped
	}
	return m.err != nil
}

func (m *machine) late() bool {
	return m.limits.Stop != nil && m.limits.Stop.Load() || !m.limits.Until.IsZero() && time.Now().After(m.limits.Until)
}

// Cancel and Cancelled implement topdown.Cancel: built-in functions that loop ask them.
func (m *machine) Cancel()         {}
func (m *machine) Cancelled() bool { return m.late() }

// frame holds the locals of one call.
type frame struct {
	locals []*ast.Term
	*machine
}

// call runs a function. False: it is undefined, or the run has ended with an error.
func (m *machine) call(at int, args []*ast.Term) (*ast.Term, bool) {
	fn := &m.program.funcs[at]
	shared := len(fn.params) == 2 // input and data alone: one value for the whole run
	if shared && m.memo[at].known {
		return m.memo[at].value, m.memo[at].value != nil
	}
	if m.tick() {
		return nil, false
	}
	from := m.top
	if m.top += fn.locals; m.top > len(m.stack) {
		// Frames below keep their places in the old memory.
		m.stack = append(make([]*ast.Term, 0, 2*m.top), m.stack...)[:2*m.top]
	}
	f := frame{m.stack[from:m.top:m.top], m}
	clear(f.locals)
	for i, p := range fn.params {
		f.locals[p] = args[i]
	}
	var out *ast.Term
	if blocks(&f, fn.blocks) == returned && m.err == nil {
		out = f.read(fn.returns)
	}
	m.top = from
	if shared && m.err == nil {
		m.memo[at] = memo{out, true}
	}
	return out, out != nil
}
