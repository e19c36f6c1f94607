package plan

import (
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// callOf calls a planned function; undefined where it is.
func callOf(at int, args []operand, to ir.Local) step {
	return func(m *Machine) flow {
		var room [8]*Value
		values := room[:0]
		for _, o := range args {
			v := m.read(o)
			if v == nil {
				return m.fail()
			}
			values = append(values, v)
		}
		result, ok := m.call(at, values)
		if m.err != nil {
			return returned
		}
		if m.locals[to] = result; !ok {
			return leave
		}
		return next
	}
}

// builtinOf calls a built-in function of OPA; undefined where it says nothing. What is an error to
// it is OPA's to tell.
func builtinOf(run topdown.BuiltinFunc, args []operand, to ir.Local) step {
	return func(m *Machine) flow {
		values := make([]*ast.Term, len(args))
		for i, o := range args {
			v := m.read(o)
			if v == nil {
				return m.fail()
			}
			if values[i] = v.asTerm(); values[i] == nil {
				return m.fail()
			}
		}
		var result *ast.Term
		err := run(topdown.BuiltinContext{Context: m.context, Cancel: m, Capabilities: m.program.allowed}, values, func(t *ast.Term) error {
			result = t
			return nil
		})
		if m.late() { // one call may have made anything
			m.err = ErrStopped
			return returned
		}
		if err != nil {
			return m.fail()
		}
		if result == nil {
			m.locals[to] = nil
			return leave
		}
		m.locals[to] = m.hold(result)
		return next
	}
}

// countOf is the built-in function count: of what is being made or read, without making terms.
func countOf(run topdown.BuiltinFunc, args []operand, to ir.Local) step {
	all := builtinOf(run, args, to)
	return func(m *Machine) flow {
		if v := m.read(args[0]); v != nil {
			if n, ok := v.length(); ok {
				m.locals[to] = m.whole(n)
				return next
			}
		}
		return all(m)
	}
}

// quickly is a built-in function of two values that needs no call: the result is what OPA's says.
// Nil: there is none. False from it: OPA's says.
func quickly(name string) func(a, b *Value) (yes, known bool) {
	switch name {
	case ast.GreaterThan.Name:
		return func(a, b *Value) (bool, bool) { n, known := compare(a, b); return n > 0, known }
	case ast.GreaterThanEq.Name:
		return func(a, b *Value) (bool, bool) { n, known := compare(a, b); return n >= 0, known }
	case ast.LessThan.Name:
		return func(a, b *Value) (bool, bool) { n, known := compare(a, b); return n < 0, known }
	case ast.LessThanEq.Name:
		return func(a, b *Value) (bool, bool) { n, known := compare(a, b); return n <= 0, known }
	case ast.Equal.Name:
		return func(a, b *Value) (bool, bool) { n, known := compare(a, b); return n == 0, known }
	case ast.NotEqual.Name:
		return func(a, b *Value) (bool, bool) { n, known := compare(a, b); return n != 0, known }
	case ast.StartsWith.Name:
		return func(a, b *Value) (bool, bool) {
			both := a.kind == text && b.kind == text
			return both && strings.HasPrefix(a.text, b.text), both
		}
	case ast.EndsWith.Name:
		return func(a, b *Value) (bool, bool) {
			both := a.kind == text && b.kind == text
			return both && strings.HasSuffix(a.text, b.text), both
		}
	}
	return nil
}

func quickOf(quick func(a, b *Value) (yes, known bool), a, b operand, to ir.Local) step {
	return func(m *Machine) flow {
		x, y := m.read(a), m.read(b)
		if x == nil || y == nil {
			return m.fail()
		}
		yes, known := quick(x, y)
		if !known {
			return m.fail()
		}
		m.locals[to] = truth(yes)
		return next
	}
}

// askOf holds where a quick function answers so.
func askOf(quick func(a, b *Value) (yes, known bool), a, b operand, want bool) step {
	return func(m *Machine) flow {
		x, y, on := m.both(&a, &b)
		if on != next {
			return on
		}
		yes, known := quick(x, y)
		if !known {
			return m.fail()
		}
		return holds(yes == want)
	}
}
