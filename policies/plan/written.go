package plan

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
)

// writer makes a term of a value of one type.
type writer func(reflect.Value) (*ast.Term, error)

// Tree is a value that makes the tree of its JSON itself, of maps, lists, texts, numbers and truths: no text has to be
// written and read between. Its MarshalJSON writes the same tree.
type Tree interface{ Tree() (any, error) }

// Parted is such a value with the fields of a struct, each of which it can make by itself.
type Parted interface {
	Tree
	Of() any                                                       // a pointer to the struct; else only the tree is there
	Part(name string, field any) (tree any, there bool, err error) // of one field, which JSON does not leave out
}

func viaTree(v reflect.Value) (*ast.Term, error) {
	tree, err := v.Interface().(Tree).Tree() //nolint:forcetypeassert // by its type
	if err != nil {
		return nil, err
	}
	return branch(tree)
}

// branch makes a term of a part of a tree.
func branch(v any) (*ast.Term, error) {
	switch v := v.(type) {
	case nil:
		return ast.NullTerm(), nil
	case bool:
		return ast.InternedTerm(v), nil
	case int64:
		return wholeTerm(v), nil
	case string:
		return ast.InternedTerm(spelled(v)), nil
	case []any:
		out := make([]*ast.Term, len(v))
		for i := range v {
			var err error
			if out[i], err = branch(v[i]); err != nil {
				return nil, err
			}
		}
		return ast.ArrayTerm(out...), nil
	case map[string]any:
		pairs := make([][2]*ast.Term, 0, len(v))
		for key, value := range v {
			if !utf8.ValidString(key) {
				return viaJSON(reflect.ValueOf(v))
			}
			of, err := branch(value)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, [2]*ast.Term{ast.InternedTerm(key), of})
		}
		return ast.ObjectTerm(pairs...), nil
	}
	return viaJSON(reflect.ValueOf(v)) // fractions as JSON spells them
}

// viaJSON is how all else is written.
func viaJSON(v reflect.Value) (*ast.Term, error) {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, err
	}
	value, err := ast.ValueFromReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return ast.NewTerm(value), nil
}

// writerOf makes the writer of a type. Types that write their JSON themselves are let.
func writerOf(t reflect.Type) writer {
	if t.Implements(reflect.TypeFor[Tree]()) {
		return viaTree
	}
	if writesItself(t) {
		return viaJSON
	}
	switch t.Kind() {
	case reflect.String:
		return writeText
	case reflect.Bool:
		return func(v reflect.Value) (*ast.Term, error) { return ast.InternedTerm(v.Bool()), nil }
	case reflect.Int, reflect.Int32, reflect.Int64:
		return func(v reflect.Value) (*ast.Term, error) { return wholeTerm(v.Int()), nil }
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are base64
			return listOf(writerOf(t.Elem()))
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !t.Key().Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return mapOf(writerOf(t.Elem()))
		}
	case reflect.Struct:
		return structOf(t)
	case reflect.Pointer:
		return pointerTo(t.Elem())
	default:
	}
	return viaJSON
}

func writeText(v reflect.Value) (*ast.Term, error) { return ast.InternedTerm(spelled(v.String())), nil }

// spelled is a text as JSON has it: U+FFFD for every byte that is no text.
func spelled(s string) string {
	if !utf8.ValidString(s) {
		return string([]rune(s))
	}
	return s
}

func writesItself(t reflect.Type) bool {
	return slices.ContainsFunc([]reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()}, func(own reflect.Type) bool {
		return t.Implements(own) || reflect.PointerTo(t).Implements(own)
	})
}

// pointerTo reads its type when it is met: types may hold themselves.
func pointerTo(t reflect.Type) writer {
	of := sync.OnceValue(func() writer { return writerOf(t) })
	return func(v reflect.Value) (*ast.Term, error) {
		if v.IsNil() {
			return ast.NullTerm(), nil
		}
		return of()(v.Elem())
	}
}

func listOf(element writer) writer {
	return func(v reflect.Value) (*ast.Term, error) {
		if v.IsNil() {
			return ast.NullTerm(), nil
		}
		out := make([]*ast.Term, v.Len())
		for i := range out {
			var err error
			if out[i], err = element(v.Index(i)); err != nil {
				return nil, err
			}
		}
		return ast.ArrayTerm(out...), nil
	}
}

func mapOf(element writer) writer {
	return func(v reflect.Value) (*ast.Term, error) {
		if v.IsNil() {
			return ast.NullTerm(), nil
		}
		out := ast.NewObjectWithCapacity(v.Len())
		for all := v.MapRange(); all.Next(); {
			key, err := writeText(all.Key())
			if err != nil {
				return nil, err
			}
			value, err := element(all.Value())
			if err != nil {
				return nil, err
			}
			out.Insert(key, value)
		}
		return ast.NewTerm(out), nil
	}
}

// structField is a field of a struct, as JSON has it.
type structField struct {
	at    int
	name  string
	key   *ast.Term
	write writer
	of    reflect.Type
	empty func(reflect.Value) bool // left out; nil: never
}

// fieldsOf are the fields of a struct that are plain; false: it embeds others, or has options that
// are left to JSON.
func fieldsOf(t reflect.Type) (fields []structField, plain bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous || options != "" && options != "omitempty" && options != "omitzero":
			return nil, false
		case !f.IsExported() || name == "-":
			continue
		case name == "":
			name = f.Name
		}
		field := structField{at: i, name: name, key: ast.StringTerm(name), write: writerOf(f.Type), of: f.Type}
		switch options {
		case "omitempty":
			field.empty = emptyJSON
		case "omitzero":
			if _, own := f.Type.MethodByName("IsZero"); own {
				return nil, false
			}
			field.empty = reflect.Value.IsZero
		}
		fields = append(fields, field)
	}
	return fields, true
}

func structOf(t reflect.Type) writer {
	fields, plain := fieldsOf(t)
	if !plain {
		return viaJSON
	}
	return func(v reflect.Value) (*ast.Term, error) {
		out := ast.NewObjectWithCapacity(len(fields))
		for i := range fields {
			f := &fields[i]
			of := v.Field(f.at)
			if f.empty != nil && f.empty(of) {
				continue
			}
			value, err := f.write(of)
			if err != nil {
				return nil, err
			}
			out.Insert(f.key, value)
		}
		return ast.NewTerm(out), nil
	}
}

// emptyJSON is what omitempty leaves out (encoding/json).
func emptyJSON(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
