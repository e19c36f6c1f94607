package plan

import (
	"hash/maphash"
	"reflect"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
)

// InputOf makes a reader of values of a Go type: what a rule finds in them is what
// ast.InterfaceToValue makes of their JSON, and what no rule looks at is not read. What is read must
// not change until the last question about it.
func InputOf[T any]() func(*T) *Value {
	read := readerOf(reflect.TypeFor[T]())
	return func(from *T) *Value {
		v := &Value{}
		read(reflect.ValueOf(from).Elem(), v)
		return v
	}
}

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
type reader func(from reflect.Value, into *Value)

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
	as := func(from reflect.Value, into *Value) {
		term, err := write(from)
		if err != nil {
			into.kind = broken
			return
		}
		into.hold(term)
	}
	if writesItself(t) {
		return as
	}
	switch t.Kind() {
	case reflect.String:
		return func(from reflect.Value, into *Value) { into.kind, into.text = text, spelled(from.String()) }
	case reflect.Bool:
		return func(from reflect.Value, into *Value) { *into = *truth(from.Bool()) }
	case reflect.Int, reflect.Int32, reflect.Int64:
		return func(from reflect.Value, into *Value) { into.count(from.Int()) }
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
		return func(from reflect.Value, into *Value) {
			if into.kind = null; !from.IsNil() {
				read()(from.Elem(), into)
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
	return func(from reflect.Value, into *Value) {
		into.kind, into.more = record, &more{from: from, write: write, form: f}
	}
}

func listReader(element reader, write writer) reader {
	return func(from reflect.Value, into *Value) {
		if from.IsNil() {
			into.kind = null
			return
		}
		parts := make([]Value, from.Len())
		for i := range parts {
			element(from.Index(i), &parts[i])
		}
		into.kind, into.more = list, &more{from: from, write: write, parts: parts}
	}
}

// mapReader reads maps of texts and of numbers in their place; others, and such whose keys JSON
// would spell otherwise, as a whole.
func mapReader(write writer, as reader) reader {
	return func(from reflect.Value, into *Value) {
		m := &more{from: from, write: write}
		switch all := from.Interface().(type) {
		case map[string]string:
			m.texts = all
			for key := range all {
				if key != spelled(key) {
					as(from, into)
					return
				}
			}
		case map[string]int64:
			m.numbers = all
			for key := range all {
				if key != spelled(key) {
					as(from, into)
					return
				}
			}
		}
		if m.texts == nil && m.numbers == nil {
			as(from, into)
			return
		}
		into.kind, into.more = dictionary, m
	}
}

// field is a field of a record; nil: it is left out.
func (m *more) field(at int) *Value {
	if m.parts == nil {
		m.parts = make([]Value, len(m.form.fields))
	}
	v := &m.parts[at]
	if v.kind == unread {
		f := &m.form.fields[at]
		if of := m.from.Field(f.at); f.empty != nil && f.empty(of) {
			v.kind = absent
		} else {
			f.read()(of, v)
		}
	}
	if v.kind == absent {
		return nil
	}
	return v
}

// seed of the hashes of sets: who writes a job does not know it, and cannot make them collide.
var seed = maphash.MakeSeed()

func hash(v *Value) uint64 {
	if v.kind == text {
		return maphash.String(seed, v.text)
	}
	return maphash.Comparable(seed, v.n<<3|int64(v.kind))
}
