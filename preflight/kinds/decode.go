package kinds

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// place is where the decoder is: a chain on the stack, so that a path is spelled out
// only for what goes wrong. A loop moves one place on, or each would leave the stack.
type place struct {
	above *place
	key   string
	index int // -1: a key
}

func (p *place) path() job.Path {
	switch {
	case p == nil:
		return ""
	case p.index >= 0:
		return p.above.path().Index(p.index)
	default:
		return p.above.path().Key(strings.Clone(p.key)) // of a copy: places whose words were kept would leave the stack
	}
}

// inSpec says whether a key below the place is part of the object's spec.
func (p *place) inSpec(key string) bool {
	for ; p != nil; p = p.above {
		key = p.key
	}
	return key == "spec"
}

// decode fills a Go value from decoded JSON the way the API server would, but goes on
// after a mistake: nulls are absent, what has the wrong type is a problem and stays
// zero, fields that the type does not have are noted as unread. It returns whether the
// value was read; problems inside of it do not count.
func (r *reader) decode(at *place, in any, out reflect.Value) bool {
	if in == nil {
		return false
	}
	if read, special := r.decodeSpecial(at, in, out); special {
		return read
	}
	switch out.Kind() {
	case reflect.Pointer:
		to := reflect.New(out.Type().Elem())
		if !r.decode(at, in, to.Elem()) {
			return false
		}
		out.Set(to)
		return true
	case reflect.Struct:
		return r.decodeStruct(at, in, out)
	case reflect.Map:
		return r.decodeMap(at, in, out)
	case reflect.Slice:
		return r.decodeSlice(at, in, out)
	case reflect.Interface:
		out.Set(reflect.ValueOf(in)) // as it is, for others to look into
		return true
	default:
		return r.decodeScalar(at, in, out)
	}
}

func (r *reader) decodeStruct(at *place, in any, out reflect.Value) bool {
	m, ok := in.(map[string]any)
	if !ok {
		r.wrong(at.path(), in, "an object")
		return false
	}
	shape, here := shapeOf(out.Type()), &place{above: at, index: -1}
	defer r.forget(len(r.keys))
	for _, key := range r.sorted(m) {
		here.key = key
		index, known := shape.fields[key]
		if !known && len(r.unread) < mostRemarks && (r.crd == nil || !at.inSpec(key)) {
			kind, args := shape.unknown(key)
			r.skip(here.path(), kind, args...)
		}
		if !known {
			continue
		}
		r.decode(here, m[key], out.FieldByIndex(index))
	}
	return true
}

func (r *reader) decodeMap(at *place, in any, out reflect.Value) bool {
	m, ok := in.(map[string]any)
	if !ok {
		r.wrong(at.path(), in, "an object")
		return false
	}
	t := out.Type()
	made := reflect.MakeMapWithSize(t, len(m))
	var value reflect.Value // filled again for each key: the map has copies
	texts, isText := reflect.TypeAssert[map[string]string](made)
	here := &place{above: at, index: -1}
	defer r.forget(len(r.keys))
	for _, key := range r.sorted(m) {
		if text, ok := m[key].(string); ok && isText { // most maps of pods are such
			texts[key] = text
			continue
		}
		here.key = key
		if m[key] == nil {
			if t.Elem() == reflect.TypeFor[resource.Quantity]() {
				r.skip(here.path(), job.AmountMissing)
			}
			continue // other nulls are simply absent
		}
		if !value.IsValid() {
			value = reflect.New(t.Elem()).Elem()
		}
		value.SetZero()
		if r.decode(here, m[key], value) {
			made.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), value)
		}
	}
	out.Set(made)
	return true
}

// decodeSlice keeps the positions: an element that could not be read stays zero, so
// that an index in the Go value is the index in the source.
func (r *reader) decodeSlice(at *place, in any, out reflect.Value) bool {
	if out.Type().Elem().Kind() == reflect.Uint8 {
		return r.decodeBytes(at, in, out)
	}
	l, ok := in.([]any)
	if !ok {
		r.wrong(at.path(), in, "a list")
		return false
	}
	made := reflect.MakeSlice(out.Type(), len(l), len(l))
	here := &place{above: at}
	for i, e := range l {
		here.index = i
		if e == nil {
			r.problem(here.path(), "null", "an element of the list")
			continue
		}
		r.decode(here, e, made.Index(i))
	}
	out.Set(made)
	return true
}

func (r *reader) decodeBytes(at *place, in any, out reflect.Value) bool {
	text, ok := in.(string)
	if !ok {
		r.wrong(at.path(), in, "a text in base64")
		return false
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		r.wrong(at.path(), in, "a text in base64")
		return false
	}
	out.SetBytes(b)
	return true
}

// decodeSpecial reads the types of the API that are not what they look like in Go.
func (r *reader) decodeSpecial(at *place, in any, out reflect.Value) (read, special bool) {
	if !out.CanAddr() {
		return false, false
	}
	switch to := out.Addr().Interface().(type) {
	case *resource.Quantity:
		return r.quantity(at, in, to), true
	case *intstr.IntOrString:
		return r.intOrString(at, in, to), true
	case *metav1.Time:
		return r.timestamp(at, in, &to.Time), true
	case *metav1.MicroTime:
		return r.timestamp(at, in, &to.Time), true
	case *[]metav1.ManagedFieldsEntry:
		return true, true // large, and not looked at here
	default:
		return false, false
	}
}

func (r *reader) decodeScalar(at *place, in any, out reflect.Value) bool {
	switch out.Kind() {
	case reflect.String:
		return r.text(at, in, out)
	case reflect.Bool:
		b, ok := in.(bool)
		if !ok {
			r.wrong(at.path(), in, "true or false")
			return false
		}
		out.SetBool(b)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := job.Whole(in)
		if !ok {
			r.wrong(at.path(), in, "an integer")
			return false
		}
		if out.OverflowInt(n) {
			r.wrong(at.path(), in, "an integer "+span(out.Type().Bits()))
			return false
		}
		out.SetInt(n)
	default: // no field that is read is of another kind
		return false
	}
	return true
}

// text reads a string. A number or a boolean without quotes is a problem, but what it
// says is kept: no check is to report an empty value as well.
func (r *reader) text(at *place, in any, out reflect.Value) bool {
	if text, ok := in.(string); ok {
		out.SetString(text)
		return true
	}
	r.wrong(at.path(), in, "a text (in quotes)")
	switch in.(type) {
	case map[string]any, []any:
		return false
	}
	out.SetString(fmt.Sprint(in))
	return true
}

func span(bits int) string {
	if bits == 32 {
		return "from -2147483648 to 2147483647"
	}
	return "that fits in " + words.Count(bits, "bit", "bits")
}

func (r *reader) timestamp(at *place, in any, to *time.Time) bool {
	text, ok := in.(string)
	if !ok {
		r.wrong(at.path(), in, "a time such as 2026-01-31T12:00:00Z")
		return false
	}
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.wrong(at.path(), in, "a time such as 2026-01-31T12:00:00Z")
		return false
	}
	*to = parsed
	return true
}

func (r *reader) intOrString(at *place, in any, to *intstr.IntOrString) bool {
	if text, ok := in.(string); ok {
		*to = intstr.FromString(text)
		return true
	}
	n, ok := job.Whole(in)
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		r.wrong(at.path(), in, "an integer or a text")
		return false
	}
	*to = intstr.FromInt32(int32(n))
	return true
}

// sorted are the keys of a map in their order, until they are forgotten. They lie in the reader's memory, one map's
// behind those of the map around it: a job of many roles has thousands of maps.
func (r *reader) sorted(m map[string]any) []string {
	from := len(r.keys)
	for key := range m {
		r.keys = append(r.keys, key)
	}
	slices.Sort(r.keys[from:])
	return r.keys[from:]
}

// forget gives back the memory of all keys but the first ones.
func (r *reader) forget(all int) { r.keys = r.keys[:all] }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
