package plan

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ir"
)

// A plan looks a field up, puts it into a local, and the next statement reads it from there. Where nothing else reads
// it, that statement looks it up itself: a step less, and a pointer less that is written. While garbage is collected,
// each pointer that is written costs as much as the rest of the step.

// field is a field that is looked up by a name that stands in the rule.
type field struct {
	of   operand
	key  *Value
	look int // its place in Machine.found
}

func (l *linker) field(of operand, key *Value) *field {
	l.program.looks++
	return &field{of: of, key: key, look: l.program.looks - 1}
}

// dotted looks a field up; nil where it is not there, and then the block ends.
func (m *Machine) dotted(f *field) (*Value, flow) {
	from, on := m.look(&f.of)
	if on != next {
		return nil, on
	}
	var v *Value
	if from.kind == record {
		last := &m.found[f.look]
		if last.form != from.more.form {
			at, there := from.more.form.index[f.key.text]
			if !there {
				return nil, leave
			}
			*last = found{from.more.form, at}
		}
		v = from.more.field(last.at)
	} else {
		var known bool
		if v, known = m.lookup(from, f.key); !known {
			return nil, m.fail()
		}
	}
	switch {
	case v == nil:
		return nil, leave
	case v.kind == broken:
		return nil, m.fail()
	}
	return v, next
}

// look reads an operand that may be a field.
func (m *Machine) look(o *operand) (*Value, flow) {
	if o.field != nil {
		return m.dotted(o.field)
	}
	if v := m.read(*o); v != nil {
		return v, next
	}
	return nil, m.fail()
}

func (m *Machine) both(a, b *operand) (x, y *Value, on flow) {
	if x, on = m.look(a); on == next {
		y, on = m.look(b)
	}
	return x, y, on
}

// unkept stands for a local that nothing reads.
const unkept ir.Local = -1

// kept is the local, or unkept: nothing reads it, or what is only another name of it.
func (l *linker) kept(x ir.Local) ir.Local {
	if l.uses.dead(x) {
		return unkept
	}
	return l.local(x)
}

// fuse leaves the look-up that statements begin with to the statement that reads it; false: it does not begin with one,
// or another statement reads it, too. Between the two there are only other look-ups, and names.
func (l *linker) fuse(statements []ir.Stmt) bool {
	dot, ok := statements[0].(*ir.DotStmt)
	if !ok || !l.uses.once(dot.Target) || !named(dot) {
		return false
	}
	of := l.operand(dot.Source)
	if of.constant != nil {
		return false
	}
	name := dot.Target
	for i, statement := range statements[1:] {
		if assign, ok := statement.(*ir.AssignVarStmt); ok && assign.Source.Value == ir.Val(name) {
			if name = assign.Target; !l.uses.once(name) {
				return false
			}
			continue
		}
		if l.takes(statements[1+i:], name) {
			l.names[dot.Target] = operand{field: l.field(of, l.operand(dot.Key).constant)}
			return true
		}
		if !l.pure(statement) {
			return false
		}
	}
	return false
}

// named says whether a field is looked up by a name that stands in the rule.
func named(dot *ir.DotStmt) bool {
	_, text := dot.Key.Value.(ir.StringIndex)
	return text
}

// takes says whether the first of the statements reads a local as one that may be a field.
func (l *linker) takes(statements []ir.Stmt, name ir.Local) bool {
	is := func(o ir.Operand) bool { return o.Value == ir.Val(name) }
	switch s := statements[0].(type) {
	case *ir.DotStmt:
		return is(s.Source) && named(s)
	case *ir.ScanStmt:
		return s.Source == name
	case *ir.SetAddStmt:
		return is(s.Value)
	case *ir.EqualStmt:
		return is(s.A) || is(s.B)
	case *ir.NotEqualStmt:
		return is(s.A) || is(s.B)
	case *ir.CallStmt:
		return len(statements) > 1 && slices.ContainsFunc(s.Args, is) && l.question(s, statements[1]) != nil
	}
	return false
}

// pure says whether a statement does nothing but fill a local that is filled nowhere else, or end the block.
func (l *linker) pure(statement ir.Stmt) bool {
	switch s := statement.(type) {
	case *ir.DotStmt:
		return l.uses.single(s.Target)
	case *ir.AssignVarStmt:
		return l.uses.single(s.Target)
	}
	to, value, err := l.valueOf(statement)
	return err == nil && value != nil && l.uses.single(to)
}
