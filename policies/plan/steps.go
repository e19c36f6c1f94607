package plan

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	corev1 "k8s.io/api/core/v1"
)

// blocks runs blocks one after the other: one that ends early, ends alone.
func blocks(m *Machine, all [][]step) flow {
	for _, b := range all {
		switch to := block(m, b); {
		case to == returned:
			return returned
		case to > leave:
			return to - 1
		}
	}
	return next
}

func block(m *Machine, steps []step) flow {
	for _, s := range steps {
		if to := s(m); to != next {
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
func (m *Machine) fail() flow {
	if m.err == nil {
		m.err = ErrUnplanned
	}
	return returned
}

// read reads an operand; nil: it is undefined.
func (m *Machine) read(o operand) *Value {
	if o.constant != nil {
		return o.constant
	}
	return m.locals[o.local]
}

// set fills a local. A plan reads no local that nothing was put into, and tells the two apart: that
// is an end of the run.
func (m *Machine) set(to ir.Local, value *Value) flow {
	if value == nil {
		return m.fail()
	}
	m.locals[to] = value
	return next
}

func (m *Machine) push(to ir.Local, value *Value) flow {
	v := m.locals[to]
	if v == nil || value == nil {
		return m.fail()
	}
	if v.kind == growing && !v.more.grown.set && value.kind != growing {
		if value.asTerm() == nil {
			return m.fail()
		}
		v.more.grown.items = append(v.more.grown.items, value)
		return next
	}
	t, what := v.asTerm(), value.asTerm()
	if t == nil || what == nil {
		return m.fail()
	}
	array, ok := t.Value.(*ast.Array)
	if !ok {
		return m.fail()
	}
	m.locals[to] = m.hold(ast.NewTerm(array.Append(what))) // it was read; what was read stays
	return next
}

func (m *Machine) add(to ir.Local, value *Value) flow {
	v := m.locals[to]
	if v == nil || value == nil {
		return m.fail()
	}
	if v.kind == growing && v.more.grown.set && value.simple() {
		v.more.grown.add(value)
		return next
	}
	t, what := v.asTerm(), value.asTerm()
	if t == nil || what == nil {
		return m.fail()
	}
	set, ok := t.Value.(ast.Set)
	if !ok {
		return m.fail()
	}
	set.Add(what)
	return next
}

// insert puts a value under a key; once: two values for one key are no answer.
func (m *Machine) insert(to ir.Local, key, value *Value, once bool) flow {
	v := m.locals[to]
	if v == nil || key == nil || value == nil {
		return m.fail()
	}
	t, under, what := v.asTerm(), key.asTerm(), value.asTerm()
	if t == nil || under == nil || what == nil {
		return m.fail()
	}
	object, ok := t.Value.(ast.Object)
	if !ok {
		return m.fail()
	}
	if have := object.Get(under); once && have != nil {
		if !have.Equal(what) {
			return m.fail()
		}
		return next
	}
	object.Insert(under, what)
	return next
}

// once fills a local that has no other value yet.
func once(from operand, to ir.Local) step {
	return func(m *Machine) flow {
		value := m.read(from)
		if value == nil {
			return m.fail()
		}
		if have := m.locals[to]; have != nil {
			if yes, known := same(have, value); !yes || !known {
				return m.fail()
			}
		}
		m.locals[to] = value
		return next
	}
}

func (m *Machine) length(of *Value, to ir.Local) flow {
	if of == nil {
		return m.fail()
	}
	n, ok := of.length()
	if !ok {
		return m.fail()
	}
	m.locals[to] = m.whole(n)
	return next
}

func (m *Machine) whole(n int) *Value {
	if n >= 0 && n < interned {
		return &smallWholes[n]
	}
	v := m.value()
	v.count(int64(n))
	return v
}

func equal(a, b operand, want bool) step {
	return func(m *Machine) flow {
		x, y, on := m.both(&a, &b)
		if on != next {
			return on
		}
		if x.simple() && y.simple() {
			return holds(alike(x, y) == want)
		}
		yes, known := same(x, y)
		if !known {
			return m.fail()
		}
		return holds(yes == want)
	}
}

// dot looks something up in a composite; undefined where it is not there.
func (l *linker) dot(of, key operand, to ir.Local) step {
	if key.constant != nil && key.constant.kind == text && of.constant == nil {
		f, to := l.field(of, key.constant), l.kept(to)
		return func(m *Machine) flow {
			v, on := m.dotted(f)
			if to != unkept {
				m.locals[to] = v
			}
			return on
		}
	}
	return func(m *Machine) flow {
		from, k := m.read(of), m.read(key)
		if from == nil || k == nil {
			return m.fail()
		}
		return m.put(to, from, k)
	}
}

// put fills a local with what a composite has under a key.
func (m *Machine) put(to ir.Local, from, key *Value) flow {
	v, known := m.lookup(from, key)
	switch {
	case !known || v != nil && v.kind == broken:
		return m.fail()
	case v == nil:
		m.locals[to] = nil
		return leave
	}
	m.locals[to] = v
	return next
}

// lookup is what a composite has under a key; nil: nothing. False: only OPA knows.
func (m *Machine) lookup(from, k *Value) (v *Value, known bool) {
	switch {
	case from.kind == record && k.kind == text:
		if at, there := from.more.form.index[k.text]; there {
			return from.more.field(at), true
		}
		return nil, true
	case from.kind == list && k.kind == whole:
		if k.n >= 0 && k.n < int64(len(from.more.parts)) {
			return &from.more.parts[k.n], true
		}
		return nil, true
	case from.kind == dictionary && k.kind == text:
		return m.entry(from.more, k.text), true
	case from.simple() || from.kind == number:
		return nil, true
	}
	t, key := from.asTerm(), k.asTerm()
	if t == nil || key == nil {
		return nil, false
	}
	var term *ast.Term
	switch of := t.Value.(type) {
	case ast.Object:
		term = of.Get(key)
		if term == nil && (k.kind == whole || k.kind == number) {
			return nil, false // OPA finds data.x[1] under "1", where the object is of the data
		}
	case *ast.Array:
		term = of.Get(key)
	case ast.Set:
		if of.Contains(key) {
			return k, true
		}
	}
	if term == nil {
		return nil, true
	}
	return m.hold(term), true
}

func (m *Machine) entry(of *more, key string) *Value {
	if s, there := of.texts[key]; there {
		v := m.value()
		v.kind, v.text = text, spelled(s)
		return v
	}
	n, there := of.numbers[key]
	if !there {
		n, there = of.amounts[corev1.ResourceName(key)]
	}
	if there {
		v := m.value()
		v.count(n)
		return v
	}
	return nil
}

func not(inner []step) step {
	return func(m *Machine) flow {
		switch to := block(m, inner); {
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
func scan(of operand, key, value ir.Local, inner []step) step {
	return func(m *Machine) flow {
		from, on := m.look(&of)
		switch {
		case on != next:
			return on
		case from.kind == broken:
			return m.fail()
		case from.simple() || from.kind == number:
			return next
		case from.kind == list:
			parts := from.more.parts
			for i := range parts {
				var at *Value
				if key != unkept {
					at = m.whole(i)
				}
				if out, more := m.turn(key, value, at, &parts[i], inner); !more {
					return out
				}
			}
			return next
		}
		t := from.asTerm()
		if t == nil {
			return m.fail()
		}
		return m.scanTerm(t, key, value, inner)
	}
}

func (m *Machine) scanTerm(t *ast.Term, key, value ir.Local, inner []step) (out flow) {
	out = next
	turn := func(k, v *Value) (end bool) {
		var on bool
		out, on = m.turn(key, value, k, v, inner)
		return !on
	}
	switch v := t.Value.(type) {
	case *ast.Array:
		for i := range v.Len() {
			if turn(m.whole(i), m.hold(v.Elem(i))) {
				break
			}
		}
	case ast.Object:
		v.Until(func(k, v *ast.Term) bool { return turn(m.hold(k), m.hold(v)) })
	case ast.Set:
		v.Until(func(t *ast.Term) bool { held := m.hold(t); return turn(held, held) })
	}
	return out
}

// turn runs the steps of a loop for one element; false: there is no other turn.
func (m *Machine) turn(key, value ir.Local, k, v *Value, inner []step) (out flow, more bool) {
	if v.kind == broken {
		return m.fail(), false
	}
	if m.tick() {
		return returned, false
	}
	if m.locals[value] = v; key != unkept {
		m.locals[key] = k
	}
	switch to := block(m, inner); {
	case to <= leave:
		return next, true
	case to == returned:
		return returned, false
	default: // the loop is two blocks: itself, and what it leaves
		return to - 2, false
	}
}
