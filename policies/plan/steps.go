package plan

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// blocks runs blocks one after the other: one that ends early, ends alone.
func blocks(f *frame, all [][]step) flow {
	for _, b := range all {
		switch to := block(f, b); {
		case to == returned:
			return returned
		case to > leave:
			return to - 1
		}
	}
	return next
}

func block(f *frame, steps []step) flow {
	for _, s := range steps {
		if to := s(f); to != next {
			return to
		}
	}
	return next
}

func holds(yes bool) flow {
	if yes {
		return next
	}
	return leave
}

// fail ends the run without an answer.
func (f *frame) fail() flow {
	if f.err == nil {
		f.err = ErrUnplanned
	}
	return returned
}

// value reads an operand; nil: it is undefined.
func (f *frame) value(o operand) *ast.Term {
	if o.constant != nil {
		return o.constant
	}
	return f.read(o.local)
}

func (f *frame) read(at ir.Local) *ast.Term {
	t := f.locals[at]
	if t == nil {
		return nil
	}
	if g, ok := t.Value.(*growing); ok {
		t.Value = ast.NewArray(slices.Clip(g.elements)...)
	}
	return t
}

// set fills a local. A plan reads no local that nothing was put into, and tells the two apart: that
// is an end of the run.
func (f *frame) set(to ir.Local, value *ast.Term) flow {
	if value == nil {
		return f.fail()
	}
	f.locals[to] = value
	return next
}

// growing is an array that is being made: OPA's own is copied with every element.
type growing struct {
	ast.Value
	elements []*ast.Term
}

func (f *frame) push(to ir.Local, value *ast.Term) flow {
	t := f.locals[to]
	if t == nil || value == nil {
		return f.fail()
	}
	switch v := t.Value.(type) {
	case *growing:
		v.elements = append(v.elements, value)
	case *ast.Array: // it was read; what was read stays
		f.locals[to] = &ast.Term{Value: v.Append(value)}
	default:
		return f.fail()
	}
	return next
}

func (f *frame) add(to ir.Local, value *ast.Term) flow {
	t := f.locals[to]
	if t == nil || value == nil {
		return f.fail()
	}
	set, ok := t.Value.(ast.Set)
	if !ok {
		return f.fail()
	}
	set.Add(value)
	return next
}

// insert puts a value under a key; once: two values for one key are no answer.
func (f *frame) insert(to ir.Local, key, value *ast.Term, once bool) flow {
	t := f.locals[to]
	if t == nil || key == nil || value == nil {
		return f.fail()
	}
	object, ok := t.Value.(ast.Object)
	if !ok {
		return f.fail()
	}
	if have := object.Get(key); once && have != nil {
		if !have.Equal(value) {
			return f.fail()
		}
		return next
	}
	object.Insert(key, value)
	return next
}

// once fills a local that has no other value yet.
func once(from operand, to ir.Local) step {
	return func(f *frame) flow {
		value := f.value(from)
		if have := f.read(to); have != nil && (value == nil || !have.Equal(value)) {
			return f.fail()
		}
		return f.set(to, value)
	}
}

func (f *frame) length(of *ast.Term, to ir.Local) flow {
	if of == nil {
		return f.fail()
	}
	n := 0
	switch v := of.Value.(type) {
	case *ast.Array:
		n = v.Len()
	case ast.Object:
		n = v.Len()
	case ast.Set:
		n = v.Len()
	default:
		return f.fail()
	}
	return f.set(to, number(int64(n)))
}

func equal(a, b operand, want bool) step {
	return func(f *frame) flow {
		x, y := f.value(a), f.value(b)
		if x == nil || y == nil {
			return f.fail()
		}
		return holds(x.Equal(y) == want)
	}
}

// dot looks something up in a composite; undefined where it is not there.
func dot(of, key operand, to ir.Local) step {
	return func(f *frame) flow {
		from, k := f.value(of), f.value(key)
		if from == nil || k == nil {
			return f.fail()
		}
		var found *ast.Term
		switch v := from.Value.(type) {
		case ast.Object:
			found = v.Get(k)
			if _, number := k.Value.(ast.Number); number && found == nil {
				return f.fail() // OPA finds data.x[1] under "1", where the object is of the data
			}
		case *ast.Array:
			found = v.Get(k)
		case ast.Set:
			if v.Contains(k) {
				found = k
			}
		}
		if f.locals[to] = found; found == nil {
			return leave
		}
		return next
	}
}

func not(inner []step) step {
	return func(f *frame) flow {
		switch to := block(f, inner); {
		case to == next:
			return leave
		case to == leave:
			return next
		case to == returned:
			return returned
		default:
			return to - 1
		}
	}
}

// scan runs the steps for every element of a composite; of what is none, not once.
func scan(of, key, value ir.Local, inner []step) step {
	return func(f *frame) flow {
		from := f.read(of)
		if from == nil {
			return f.fail()
		}
		out := next
		turn := func(k, v *ast.Term) bool { // true: no more
			if f.tick() {
				out = returned
				return true
			}
			f.locals[key], f.locals[value] = k, v
			switch to := block(f, inner); {
			case to <= leave:
				return false
			case to == returned:
				out = returned
			default: // the loop is two blocks: itself, and what it leaves
				out = to - 2
			}
			return true
		}
		switch v := from.Value.(type) {
		case *ast.Array:
			for i := range v.Len() {
				if turn(ast.InternedTerm(i), v.Elem(i)) {
					break
				}
			}
		case ast.Object:
			v.Until(turn)
		case ast.Set:
			v.Until(func(t *ast.Term) bool { return turn(t, t) })
		}
		return out
	}
}

// callOf calls a planned function; undefined where it is.
func callOf(at int, args []operand, to ir.Local) step {
	return func(f *frame) flow {
		var room [8]*ast.Term
		values := room[:0]
		for _, o := range args {
			v := f.value(o)
			if v == nil {
				return f.fail()
			}
			values = append(values, v)
		}
		result, ok := f.call(at, values)
		if f.err != nil {
			return returned
		}
		if f.locals[to] = result; !ok {
			return leave
		}
		return next
	}
}

// builtinOf calls a built-in function of OPA; undefined where it says nothing. What is an error to
// it is OPA's to tell.
func builtinOf(run topdown.BuiltinFunc, args []operand, to ir.Local) step {
	return func(f *frame) flow {
		values := make([]*ast.Term, len(args))
		for i, o := range args {
			if values[i] = f.value(o); values[i] == nil {
				return f.fail()
			}
		}
		var result *ast.Term
		err := run(topdown.BuiltinContext{Context: f.context, Cancel: f.machine, Capabilities: f.program.allowed}, values, func(t *ast.Term) error {
			result = t
			return nil
		})
		if f.late() { // one call may have made anything
			f.err = ErrStopped
			return returned
		}
		if err != nil {
			return f.fail()
		}
		if f.locals[to] = result; result == nil {
			return leave
		}
		return next
	}
}

// quickly is a built-in function of two values that needs no call: the result is what OPA's says.
// Nil: there is none. False from it: OPA's says.
func quickly(name string) func(a, b ast.Value) (yes, known bool) {
	switch name {
	case ast.GreaterThan.Name:
		return func(a, b ast.Value) (bool, bool) { return compare(a, b) > 0, true }
	case ast.GreaterThanEq.Name:
		return func(a, b ast.Value) (bool, bool) { return compare(a, b) >= 0, true }
	case ast.LessThan.Name:
		return func(a, b ast.Value) (bool, bool) { return compare(a, b) < 0, true }
	case ast.LessThanEq.Name:
		return func(a, b ast.Value) (bool, bool) { return compare(a, b) <= 0, true }
	case ast.Equal.Name:
		return func(a, b ast.Value) (bool, bool) { return compare(a, b) == 0, true }
	case ast.NotEqual.Name:
		return func(a, b ast.Value) (bool, bool) { return compare(a, b) != 0, true }
	case ast.StartsWith.Name:
		return func(a, b ast.Value) (bool, bool) {
			x, isText := a.(ast.String)
			y, bothAre := b.(ast.String)
			return isText && bothAre && strings.HasPrefix(string(x), string(y)), isText && bothAre
		}
	case ast.EndsWith.Name:
		return func(a, b ast.Value) (bool, bool) {
			x, isText := a.(ast.String)
			y, bothAre := b.(ast.String)
			return isText && bothAre && strings.HasSuffix(string(x), string(y)), isText && bothAre
		}
	}
	return nil
}

// compare is ast.Value.Compare, quicker for short whole numbers.
func compare(a, b ast.Value) int {
	if x, ok := whole(a); ok {
		if y, ok := whole(b); ok {
			return cmp.Compare(x, y)
		}
	}
	return a.Compare(b)
}

func whole(v ast.Value) (int64, bool) {
	n, ok := v.(ast.Number)
	if !ok || len(n) > 15 {
		return 0, false
	}
	x, err := strconv.ParseInt(string(n), 10, 64)
	return x, err == nil
}

func quickOf(quick func(a, b ast.Value) (yes, known bool), a, b operand, to ir.Local) step {
	return func(f *frame) flow {
		x, y := f.value(a), f.value(b)
		if x == nil || y == nil {
			return f.fail()
		}
		yes, known := quick(x.Value, y.Value)
		if !known {
			return f.fail()
		}
		f.locals[to] = ast.InternedTerm(yes)
		return next
	}
}
