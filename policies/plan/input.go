package plan

import (
	"hash/maphash"
	"reflect"
	"sync"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// InputOf makes a reader of values of a Go type: what a rule finds in them is what
// ast.InterfaceToValue makes of their JSON, and what no rule looks at is not read. What is read must
// not change until the last question about it, and is gone when the machine forgets it.
func InputOf[T any]() func(*Machine, *T) *Value {
	read := readerOf(reflect.TypeFor[T]())
	return func(m *Machine, from *T) *Value {
		v := &m.input.parts(1)[0]
		read(&m.input, reflect.ValueOf(from).Elem(), v)
		return v
	}
}

// Forget frees the memory of all inputs that were read with the machine.
func (m *Machine) Forget() { m.input.free() }

// AsOPA is the whole value as OPA has it.
func (v *Value) AsOPA() (ast.Value, error) {
	if v.more != nil && v.more.write != nil && v.term == nil {
		t, err := v.more.write(v.more.from)
		if err != nil {
			return nil, err
		}
		v.term = t
	}
	if t := v.asTerm(); t != nil {
		return t.Value, nil
	}
	return nil, ErrUnplanned
}

// Field is a field of a Go struct; nil: it is left out, or cannot be read.
func (v *Value) Field(name string) *Value {
	if v.kind != record {
		return nil
	}
	at, there := v.more.form.index[name]
	if !there {
		return nil
	}
	if f := v.more.field(at); f != nil && f.kind != broken {
		return f
	}
	return nil
}

// reader reads a Go value of one type.
type reader func(a *arena, from reflect.Value, into *Value)

// form is how a struct is read.
type form struct {
	index  map[string]int
	fields []formField
}

type formField struct {
	structField
	read func() reader // types may hold themselves
}

// readerOf makes the reader of a type. What is rare is written as a whole.
func readerOf(t reflect.Type) reader {
	write := writerOf(t)
	as := func(_ *arena, from reflect.Value, into *Value) {
		term, err := write(from)
		if err != nil {
			into.kind = broken
			return
		}
		into.hold(term)
	}
	if of, parted := reflect.TypeAssert[interface{ As() reflect.Type }](reflect.Zero(t)); parted && t.Implements(reflect.TypeFor[Parted]()) {
		return partedReader(of.As(), as)
	}
	if writesItself(t) {
		return as
	}
	switch t.Kind() {
	case reflect.String:
		return func(_ *arena, from reflect.Value, into *Value) { into.kind, into.text = text, spelled(from.String()) }
	case reflect.Bool:
		return func(_ *arena, from reflect.Value, into *Value) { *into = *truth(from.Bool()) }
	case reflect.Int, reflect.Int32, reflect.Int64:
		return func(_ *arena, from reflect.Value, into *Value) { into.count(from.Int()) }
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return listReader(readerOf(t.Elem()), write)
		}
	case reflect.Map:
		return mapReader(write, as)
	case reflect.Struct:
		if fields, plain := fieldsOf(t); plain {
			return recordReader(fields, write)
		}
	case reflect.Pointer:
		read := sync.OnceValue(func() reader { return readerOf(t.Elem()) })
		return func(a *arena, from reflect.Value, into *Value) {
			if into.kind = null; !from.IsNil() {
				read()(a, from.Elem(), into)
			}
		}
	default:
	}
	return as
}

// mostWhole is the greatest number of 15 digits.
const mostWhole = 999_999_999_999_999

func (v *Value) count(n int64) {
	if v.kind, v.n = whole, n; n > mostWhole || n < -mostWhole/10 {
		v.hold(wholeTerm(n))
	}
}

func recordReader(fields []structField, write writer) reader {
	f := &form{index: map[string]int{}}
	for i, field := range fields {
		f.index[field.name] = i
		f.fields = append(f.fields, formField{field, sync.OnceValue(func() reader { return readerOf(field.of) })})
	}
	return func(a *arena, from reflect.Value, into *Value) {
		into.kind, into.more = record, a.more(more{from: from, write: write, form: f})
	}
}

// partedReader makes a record of a value that makes its fields itself: of a pod a rule reads one or two.
func partedReader(of reflect.Type, as reader) reader {
	fields, plain := fieldsOf(of)
	if !plain {
		return as
	}
	f := &form{index: map[string]int{}}
	for i, field := range fields {
		f.index[field.name] = i
		f.fields = append(f.fields, formField{structField: field})
	}
	return func(a *arena, from reflect.Value, into *Value) {
		parted, _ := reflect.TypeAssert[Parted](from)
		at := reflect.ValueOf(parted.Of())
		if at.Kind() != reflect.Pointer || at.IsNil() || at.Type().Elem() != of {
			as(a, from, into)
			return
		}
		whole := func(reflect.Value) (*ast.Term, error) { return viaTree(from) }
		into.kind, into.more = record, a.more(more{from: at.Elem(), write: whole, form: f, parted: parted})
	}
}

// part reads a field of a value that makes it itself.
func (v *Value) part(of Parted, name string, field reflect.Value) {
	tree, there, err := of.Part(name, field.Interface())
	if !there && err == nil {
		v.kind = absent
		return
	}
	term, wrong := branch(tree)
	if err != nil || wrong != nil {
		v.kind = broken
		return
	}
	v.hold(term)
}

func listReader(element reader, write writer) reader {
	return func(a *arena, from reflect.Value, into *Value) {
		if from.IsNil() {
			into.kind = null
			return
		}
		parts := a.parts(from.Len())
		for i := range parts {
			element(a, from.Index(i), &parts[i])
		}
		into.kind, into.more = list, a.more(more{from: from, write: write, parts: parts})
	}
}

// mapReader reads maps of texts and of numbers in their place; others, and such whose keys JSON
// would spell otherwise, as a whole.
func mapReader(write writer, as reader) reader {
	return func(a *arena, from reflect.Value, into *Value) {
		m, plain := more{from: from, write: write}, false
		switch all := from.Interface().(type) {
		case map[string]string:
			m.texts, plain = all, spelledKeys(all)
		case map[string]int64:
			m.numbers, plain = all, spelledKeys(all)
		case job.Resources:
			m.amounts, plain = all, spelledKeys(all)
		}
		if from.IsNil() || !plain {
			as(a, from, into)
			return
		}
		into.kind, into.more = dictionary, a.more(m)
	}
}

// spelledKeys says whether JSON spells all keys as they are.
func spelledKeys[K ~string, V any](all map[K]V) bool {
	for key := range all {
		if !utf8.ValidString(string(key)) {
			return false
		}
	}
	return true
}

// field is a field of a record; nil: it is left out.
func (m *more) field(at int) *Value {
	if m.parts == nil {
		m.parts = m.arena.parts(len(m.form.fields))
	}
	v := &m.parts[at]
	if v.kind == unread {
		f := &m.form.fields[at]
		switch of := m.from.Field(f.at); {
		case f.empty != nil && f.empty(of):
			v.kind = absent
		case m.parted != nil:
			v.part(m.parted, f.name, of)
		default:
			f.read()(m.arena, of, v)
		}
	}
	if v.kind == absent {
		return nil
	}
	return v
}

// seed of the hashes of sets: the author of a job does not know it, and cannot make them collide.
var seed = maphash.MakeSeed()

// hash is made once for a text: roles are put into a set by every rule that finds them wrong.
func hash(v *Value) uint64 {
	if v.kind == text {
		if v.n == 0 {
			v.n = int64(maphash.String(seed, v.text) | 1)
		}
		return uint64(v.n)
	}
	return maphash.Comparable(seed, v.n<<3|int64(v.kind))
}
