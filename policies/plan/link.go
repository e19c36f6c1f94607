package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// function is a planned rule or function.
type function struct {
	params  []ir.Local
	returns ir.Local
	locals  int
	blocks  [][]step
}

// flow says where a run goes on: with the next step, or after so many blocks, counted from the one
// it is in. It is how WebAssembly counts, for which plans are made.
type flow int

const (
	next     flow = -1
	leave    flow = 0 // the block: a step was undefined
	returned flow = 1 << 30
)

// step is one statement, made ready.
type step func(m *Machine) flow

// linker makes steps of one policy's statements.
type linker struct {
	program  *Program
	strings  []*Value
	funcs    map[string]int // by name
	builtins map[string]*ast.Builtin
	most     int // the last local of the function at hand
	// made and found are locals that were filled with a new composite, and from within another: one
	// that is both is a part of an object that changes after it was put there.
	made, found map[ir.Local]bool
	uses        uses
	names       map[ir.Local]operand // locals that are only other names
}

// link makes the program of a plan. The entry is the function of a rule.
func (p *Program) link(policy *ir.Policy, at string) error {
	l := linker{program: p, funcs: map[string]int{}, builtins: map[string]*ast.Builtin{}}
	for _, s := range policy.Static.Strings {
		l.strings = append(l.strings, Term(ast.StringTerm(s.Value)))
	}
	for _, b := range p.allowed.Builtins {
		l.builtins[b.Name] = b
	}
	for i, fn := range policy.Funcs.Funcs {
		l.funcs[fn.Name] = i
	}
	entry, ok := l.funcs["g0."+at]
	if !ok {
		return fmt.Errorf("%w: no function %s", ErrUnplanned, at)
	}
	p.entry = entry
	for _, fn := range policy.Funcs.Funcs {
		linked, err := l.function(fn)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrUnplanned, strings.TrimPrefix(fn.Name, "g0."), err)
		}
		p.funcs = append(p.funcs, linked)
	}
	return nil
}

func (l *linker) function(fn *ir.Func) (function, error) {
	l.most, l.made, l.found = 0, map[ir.Local]bool{}, map[ir.Local]bool{}
	l.uses, l.names = usesOf(fn), map[ir.Local]operand{}
	l.local(fn.Return)
	for _, p := range fn.Params {
		l.local(p)
	}
	blocks, err := l.blocks(fn.Blocks)
	if err != nil {
		return function{}, err
	}
	for local := range l.made {
		if l.found[local] {
			return function{}, errors.New("objects within objects grow")
		}
	}
	return function{params: slices.Clone(fn.Params), returns: fn.Return, locals: l.most + 1, blocks: blocks}, nil
}

func (l *linker) local(x ir.Local) ir.Local {
	l.most = max(l.most, int(x))
	return x
}

func (l *linker) blocks(blocks []*ir.Block) (out [][]step, err error) {
	for _, b := range blocks {
		steps, err := l.block(b)
		if err != nil {
			return nil, err
		}
		out = append(out, steps)
	}
	return out, nil
}

func (l *linker) block(b *ir.Block) (out []step, err error) {
	for i := 0; i < len(b.Stmts); i++ {
		if l.fuse(b.Stmts[i:]) {
			continue
		}
		if i+1 < len(b.Stmts) {
			if made := l.question(b.Stmts[i], b.Stmts[i+1]); made != nil {
				out = append(out, made)
				i++
				continue
			}
		}
		made, err := l.step(b.Stmts[i])
		if err != nil {
			return nil, err
		}
		if made != nil {
			out = append(out, made)
		}
	}
	return out, nil
}

// question links a call and the statement behind it that asks whether its answer is true, where
// nothing else asks. Nil: they are none.
func (l *linker) question(first, second ir.Stmt) step {
	call, ok := first.(*ir.CallStmt)
	if !ok || len(call.Args) != 2 || l.uses.read[call.Result] != 1 || !l.uses.single(call.Result) {
		return nil
	}
	quick := quickly(call.Func)
	if _, ours := l.funcs[call.Func]; ours || quick == nil || l.builtins[call.Func] == nil {
		return nil
	}
	var asked, against ir.Operand
	holdsIf := true
	switch s := second.(type) {
	case *ir.NotEqualStmt:
		asked, against, holdsIf = s.A, s.B, false
	case *ir.EqualStmt:
		asked, against = s.A, s.B
	default:
		return nil
	}
	answer, isBool := against.Value.(ir.Bool)
	if asked.Value != call.Result || !isBool {
		return nil
	}
	return askOf(quick, l.operand(call.Args[0]), l.operand(call.Args[1]), bool(answer) == holdsIf)
}

// step links one statement; a nil step does nothing.
func (l *linker) step(statement ir.Stmt) (step, error) {
	if renamed, err := l.renames(statement); renamed || err != nil {
		return nil, err
	}
	for _, link := range []func(ir.Stmt) (step, error){l.control, l.variable, l.constant, l.test, l.grow} {
		if made, err := link(statement); made != nil || err != nil {
			return made, err
		}
	}
	if _, nop := statement.(*ir.NopStmt); nop {
		return nil, nil
	}
	return nil, fmt.Errorf("%T is not run", statement)
}

// renames says whether a statement only gives another name to a local or a constant.
func (l *linker) renames(statement ir.Stmt) (bool, error) {
	if s, ok := statement.(*ir.AssignVarStmt); ok {
		return l.rename(l.local(s.Target), l.operand(s.Source)), nil
	}
	to, value, err := l.valueOf(statement)
	return err == nil && value != nil && l.rename(to, operand{constant: value}), err
}

func (l *linker) control(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.BlockStmt:
		inner, err := l.blocks(s.Blocks)
		return func(m *Machine) flow { return blocks(m, inner) }, err
	case *ir.BreakStmt:
		to := flow(s.Index)
		return func(*Machine) flow { return to }, nil
	case *ir.ReturnLocalStmt: // the function knows which
		return func(*Machine) flow { return returned }, nil
	case *ir.ScanStmt:
		inner, err := l.block(s.Block)
		return scan(l.operand(ir.Operand{Value: s.Source}), l.kept(s.Key), l.local(s.Value), inner), err
	case *ir.NotStmt:
		inner, err := l.block(s.Block)
		return not(inner), err
	case *ir.CallStmt:
		return l.call(s)
	}
	return nil, nil
}

func (l *linker) call(s *ir.CallStmt) (step, error) {
	var args []operand
	for _, a := range s.Args {
		args = append(args, l.operand(a))
	}
	to := l.local(s.Result)
	if at, ok := l.funcs[s.Func]; ok {
		return callOf(at, args, to), nil
	}
	b := l.builtins[s.Func]
	switch {
	case b == nil:
		return nil, fmt.Errorf("%s is no function", s.Func)
	case b.Relation || b.Decl.Result() == nil || len(args) != b.Decl.Arity():
		return nil, fmt.Errorf("%s has several answers or none", s.Func)
	}
	run := topdown.GetBuiltin(s.Func)
	if run == nil {
		return nil, fmt.Errorf("%s is no function", s.Func)
	}
	if s.Func == ast.Count.Name {
		return countOf(run, args, to), nil
	}
	if quick := quickly(s.Func); quick != nil {
		return quickOf(quick, args[0], args[1], to), nil
	}
	return builtinOf(run, args, to), nil
}

func (l *linker) variable(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.DotStmt:
		l.found[s.Target] = true
		return l.dot(l.operand(s.Source), l.operand(s.Key), l.local(s.Target)), nil
	case *ir.AssignVarStmt:
		from, to := l.operand(s.Source), l.local(s.Target)
		return func(m *Machine) flow { return m.set(to, m.read(from)) }, nil
	case *ir.AssignVarOnceStmt:
		return once(l.operand(s.Source), l.local(s.Target)), nil
	case *ir.ResetLocalStmt:
		to := l.local(s.Target)
		return func(m *Machine) flow { m.locals[to] = nil; return next }, nil
	case *ir.LenStmt:
		from, to := l.operand(s.Source), l.local(s.Target)
		return func(m *Machine) flow { return m.length(m.read(from), to) }, nil
	}
	return nil, nil
}

func (l *linker) constant(statement ir.Stmt) (step, error) {
	to, value, err := l.valueOf(statement)
	if value == nil || err != nil {
		return nil, err
	}
	return func(m *Machine) flow { m.locals[to] = value; return next }, nil
}

// valueOf is the constant that a statement puts into a local; nil: it puts none.
func (l *linker) valueOf(statement ir.Stmt) (ir.Local, *Value, error) {
	switch s := statement.(type) {
	case *ir.MakeNullStmt:
		return l.local(s.Target), Term(ast.NullTerm()), nil
	case *ir.AssignIntStmt:
		return l.local(s.Target), Term(wholeTerm(s.Value)), nil
	case *ir.MakeNumberIntStmt:
		return l.local(s.Target), Term(wholeTerm(s.Value)), nil
	case *ir.MakeNumberRefStmt:
		text, ok := l.strings[s.Index].term.Value.(ast.String)
		if !ok {
			return 0, nil, fmt.Errorf("no number at %d", s.Index)
		}
		return l.local(s.Target), Term(ast.NumberTerm(json.Number(text))), nil
	}
	return 0, nil, nil
}

// test links what holds or does not.
func (l *linker) test(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.EqualStmt:
		return equal(l.operand(s.A), l.operand(s.B), true), nil
	case *ir.NotEqualStmt:
		return equal(l.operand(s.A), l.operand(s.B), false), nil
	case *ir.IsArrayStmt:
		return l.is(s.Source, (*Value).isArray), nil
	case *ir.IsObjectStmt:
		return l.is(s.Source, (*Value).isObject), nil
	case *ir.IsSetStmt:
		return l.is(s.Source, (*Value).isSet), nil
	case *ir.IsDefinedStmt:
		of := l.local(s.Source)
		return func(m *Machine) flow { return holds(m.locals[of] != nil) }, nil
	case *ir.IsUndefinedStmt:
		of := l.local(s.Source)
		return func(m *Machine) flow { return holds(m.locals[of] == nil) }, nil
	}
	return nil, nil
}

func (l *linker) is(source ir.Operand, kind func(*Value) bool) step {
	of := l.operand(source)
	return func(m *Machine) flow {
		v := m.read(of)
		return holds(v != nil && kind(v))
	}
}

// grow links what makes composites, and what fills them.
func (l *linker) grow(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.MakeArrayStmt:
		to, room := l.local(s.Target), int(s.Capacity)
		return func(m *Machine) flow {
			m.locals[to] = m.grown(false, room)
			return next
		}, nil
	case *ir.MakeObjectStmt:
		l.made[s.Target] = true
		to := l.local(s.Target)
		return func(m *Machine) flow { m.locals[to] = m.hold(ast.NewTerm(ast.NewObject())); return next }, nil
	case *ir.MakeSetStmt:
		l.made[s.Target] = true
		to := l.local(s.Target)
		return func(m *Machine) flow { m.locals[to] = m.grown(true, 0); return next }, nil
	case *ir.ArrayAppendStmt:
		what, to := l.operand(s.Value), l.local(s.Array)
		return func(m *Machine) flow { return m.push(to, m.read(what)) }, nil
	case *ir.SetAddStmt:
		what, to := l.operand(s.Value), l.local(s.Set)
		return func(m *Machine) flow {
			v, on := m.look(&what)
			if on != next {
				return on
			}
			return m.add(to, v)
		}, nil
	case *ir.ObjectInsertStmt:
		key, what, to := l.operand(s.Key), l.operand(s.Value), l.local(s.Object)
		return func(m *Machine) flow { return m.insert(to, m.read(key), m.read(what), false) }, nil
	case *ir.ObjectInsertOnceStmt:
		key, what, to := l.operand(s.Key), l.operand(s.Value), l.local(s.Object)
		return func(m *Machine) flow { return m.insert(to, m.read(key), m.read(what), true) }, nil
	}
	return nil, nil
}

// operand is a local, a constant, or a field of another one.
type operand struct {
	constant *Value // nil: none
	field    *field // nil: none; only where a statement is said to take one: see look
	local    ir.Local
}

func (l *linker) operand(o ir.Operand) operand {
	switch v := o.Value.(type) {
	case ir.Local:
		if named, ok := l.names[v]; ok {
			return named
		}
		return operand{local: l.local(v)}
	case ir.StringIndex:
		return operand{constant: l.strings[v]}
	case ir.Bool:
		return operand{constant: truth(bool(v))}
	}
	return operand{}
}
