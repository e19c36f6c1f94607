package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
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
type step func(f *frame) flow

// linker makes steps of one policy's statements.
type linker struct {
	program  *Program
	strings  []*ast.Term
	names    map[string]int // of functions
	builtins map[string]*ast.Builtin
	most     int // the last local of the function at hand
	// made and found are locals that were filled with a new composite, and from within another: one
	// that is both is a part of an object that changes after it was put there.
	made, found map[ir.Local]bool
}

// link makes the program of a plan. The entry is the function of a rule.
func (p *Program) link(policy *ir.Policy, at string) error {
	l := linker{program: p, names: map[string]int{}, builtins: map[string]*ast.Builtin{}}
	for _, s := range policy.Static.Strings {
		l.strings = append(l.strings, ast.StringTerm(s.Value))
	}
	for _, b := range p.allowed.Builtins {
		l.builtins[b.Name] = b
	}
	for i, fn := range policy.Funcs.Funcs {
		l.names[fn.Name] = i
	}
	entry, ok := l.names["g0."+at]
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
	for _, statement := range b.Stmts {
		made, err := l.step(statement)
		if err != nil {
			return nil, err
		}
		if made != nil {
			out = append(out, made)
		}
	}
	return out, nil
}

// step links one statement; a nil step does nothing.
func (l *linker) step(statement ir.Stmt) (step, error) {
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

func (l *linker) control(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.BlockStmt:
		inner, err := l.blocks(s.Blocks)
		return func(f *frame) flow { return blocks(f, inner) }, err
	case *ir.BreakStmt:
		to := flow(s.Index)
		return func(*frame) flow { return to }, nil
	case *ir.ReturnLocalStmt: // the function knows which
		return func(*frame) flow { return returned }, nil
	case *ir.ScanStmt:
		inner, err := l.block(s.Block)
		return scan(l.local(s.Source), l.local(s.Key), l.local(s.Value), inner), err
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
	if at, ok := l.names[s.Func]; ok {
		return callOf(at, args, to), nil
	}
	b := l.builtins[s.Func]
	switch {
	case b == nil:
		return nil, fmt.Errorf("%s is no function", s.Func)
	case b.Relation || b.Decl.Result() == nil || len(args) != b.Decl.Arity():
		return nil, fmt.Errorf("%s has several answers or none", s.Func)
	}
	if quick := quickly(s.Func); quick != nil && len(args) == 2 {
		return quickOf(quick, args[0], args[1], to), nil
	}
	run := topdown.GetBuiltin(s.Func)
	if run == nil {
		return nil, fmt.Errorf("%s is no function", s.Func)
	}
	return builtinOf(run, args, to), nil
}

func (l *linker) variable(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.DotStmt:
		l.found[s.Target] = true
		return dot(l.operand(s.Source), l.operand(s.Key), l.local(s.Target)), nil
	case *ir.AssignVarStmt:
		from, to := l.operand(s.Source), l.local(s.Target)
		return func(f *frame) flow { return f.set(to, f.value(from)) }, nil
	case *ir.AssignVarOnceStmt:
		return once(l.operand(s.Source), l.local(s.Target)), nil
	case *ir.ResetLocalStmt:
		to := l.local(s.Target)
		return func(f *frame) flow { f.locals[to] = nil; return next }, nil
	case *ir.LenStmt:
		from, to := l.operand(s.Source), l.local(s.Target)
		return func(f *frame) flow { return f.length(f.value(from), to) }, nil
	}
	return nil, nil
}

func (l *linker) constant(statement ir.Stmt) (step, error) {
	put := func(to ir.Local, value *ast.Term) (step, error) {
		l.local(to)
		return func(f *frame) flow { return f.set(to, value) }, nil
	}
	switch s := statement.(type) {
	case *ir.MakeNullStmt:
		return put(s.Target, ast.NullTerm())
	case *ir.AssignIntStmt:
		return put(s.Target, number(s.Value))
	case *ir.MakeNumberIntStmt:
		return put(s.Target, number(s.Value))
	case *ir.MakeNumberRefStmt:
		text, ok := l.strings[s.Index].Value.(ast.String)
		if !ok {
			return nil, fmt.Errorf("no number at %d", s.Index)
		}
		return put(s.Target, ast.NumberTerm(json.Number(text)))
	}
	return nil, nil
}

func number(n int64) *ast.Term { return ast.NumberTerm(json.Number(strconv.FormatInt(n, 10))) }

// test links what holds or does not.
func (l *linker) test(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.EqualStmt:
		return equal(l.operand(s.A), l.operand(s.B), true), nil
	case *ir.NotEqualStmt:
		return equal(l.operand(s.A), l.operand(s.B), false), nil
	case *ir.IsArrayStmt:
		return l.is(s.Source, func(v ast.Value) bool { _, yes := v.(*ast.Array); return yes }), nil
	case *ir.IsObjectStmt:
		return l.is(s.Source, func(v ast.Value) bool { _, yes := v.(ast.Object); return yes }), nil
	case *ir.IsSetStmt:
		return l.is(s.Source, func(v ast.Value) bool { _, yes := v.(ast.Set); return yes }), nil
	case *ir.IsDefinedStmt:
		of := l.local(s.Source)
		return func(f *frame) flow { return holds(f.locals[of] != nil) }, nil
	case *ir.IsUndefinedStmt:
		of := l.local(s.Source)
		return func(f *frame) flow { return holds(f.locals[of] == nil) }, nil
	}
	return nil, nil
}

func (l *linker) is(source ir.Operand, kind func(ast.Value) bool) step {
	of := l.operand(source)
	return func(f *frame) flow {
		t := f.value(of)
		return holds(t != nil && kind(t.Value))
	}
}

// grow links what makes composites, and what fills them.
func (l *linker) grow(statement ir.Stmt) (step, error) {
	switch s := statement.(type) {
	case *ir.MakeArrayStmt:
		to, room := l.local(s.Target), int(s.Capacity)
		return func(f *frame) flow {
			return f.set(to, &ast.Term{Value: &growing{elements: make([]*ast.Term, 0, room)}})
		}, nil
	case *ir.MakeObjectStmt:
		l.made[s.Target] = true
		to := l.local(s.Target)
		return func(f *frame) flow { return f.set(to, &ast.Term{Value: ast.NewObject()}) }, nil
	case *ir.MakeSetStmt:
		l.made[s.Target] = true
		to := l.local(s.Target)
		return func(f *frame) flow { return f.set(to, &ast.Term{Value: ast.NewSet()}) }, nil
	case *ir.ArrayAppendStmt:
		what, to := l.operand(s.Value), l.local(s.Array)
		return func(f *frame) flow { return f.push(to, f.value(what)) }, nil
	case *ir.SetAddStmt:
		what, to := l.operand(s.Value), l.local(s.Set)
		return func(f *frame) flow { return f.add(to, f.value(what)) }, nil
	case *ir.ObjectInsertStmt:
		key, what, to := l.operand(s.Key), l.operand(s.Value), l.local(s.Object)
		return func(f *frame) flow { return f.insert(to, f.value(key), f.value(what), false) }, nil
	case *ir.ObjectInsertOnceStmt:
		key, what, to := l.operand(s.Key), l.operand(s.Value), l.local(s.Object)
		return func(f *frame) flow { return f.insert(to, f.value(key), f.value(what), true) }, nil
	}
	return nil, nil
}

// operand is a local, or a constant.
type operand struct {
	constant *ast.Term // nil: the local
	local    ir.Local
}

func (l *linker) operand(o ir.Operand) operand {
	switch v := o.Value.(type) {
	case ir.Local:
		return operand{local: l.local(v)}
	case ir.StringIndex:
		return operand{constant: l.strings[v]}
	case ir.Bool:
		return operand{constant: ast.BooleanTerm(bool(v))}
	}
	return operand{}
}
