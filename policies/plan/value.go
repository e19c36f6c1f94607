package plan

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Value is what a plan computes with: a term of OPA's, or a part of an input that is read when a
// rule looks at it. The parts of an input are kept as they are read: it is asked about by one
// goroutine at a time.
type Value struct {
	kind kind
	n    int64     // whole: the number; boolean: 1 is true; text: its hash, 0: not made yet
	text string    // text
	term *ast.Term // as OPA has it; nil: not made yet
	more *more     // what is not one word
}

type kind uint8

const (
	unread     kind = iota
	absent          // a field that is left out
	broken          // what could not be read
	null            //
	boolean         //
	whole           // a number of at most 15 digits, without a fraction
	text            //
	number          // any other number
	composite       // a term that is an array, an object or a set
	record          // a Go struct
	list            // a Go slice
	dictionary      // a Go map
	growing         // an array or set that is being made
)

// more is what a composite value holds that is no term yet.
type more struct {
	arena   *arena        // of an input
	from    reflect.Value // record, list, dictionary: what it is read from
	write   writer
	form    *form   // record
	parted  Parted  // record that makes its fields itself
	parts   []Value // record: its fields; list: its elements
	texts   map[string]string
	numbers map[string]int64
	amounts job.Resources
	grown   *grown
}

// Term is a value as a plan takes it. Nothing of it is made later: several may ask about it at once.
func Term(t *ast.Term) *Value {
	v := &Value{}
	if v.hold(t); v.kind == text {
		hash(v)
	}
	return v
}

// hold makes the value that of a term.
func (v *Value) hold(t *ast.Term) {
	v.term = t
	switch x := t.Value.(type) {
	case ast.String:
		v.kind, v.text = text, string(x)
	case ast.Number:
		v.kind = number
		if len(x) <= 15 {
			if n, err := strconv.ParseInt(string(x), 10, 64); err == nil {
				v.kind, v.n = whole, n
			}
		}
	case ast.Boolean:
		v.kind = boolean
		if x {
			v.n = 1
		}
	case ast.Null:
		v.kind = null
	default:
		v.kind = composite
	}
}

// asTerm is the value as OPA has it; nil: it cannot be read.
func (v *Value) asTerm() *ast.Term {
	if v.term != nil {
		return v.term
	}
	switch v.kind {
	case null:
		v.term = ast.NullTerm()
	case boolean:
		v.term = ast.InternedTerm(v.n == 1)
	case whole:
		v.term = wholeTerm(v.n)
	case text:
		v.term = ast.InternedTerm(v.text)
	case growing:
		v.settle()
	case record, list, dictionary:
		if t, err := v.more.write(v.more.from); err == nil {
			v.term = t
		}
	default:
	}
	return v.term
}

// settle makes the term of what was being made: what is read stays.
func (v *Value) settle() {
	g := v.more.grown
	if g.set {
		out := ast.NewSet()
		for _, item := range g.items {
			out.Add(item.asTerm())
		}
		v.term = ast.NewTerm(out)
	} else {
		terms := make([]*ast.Term, len(g.items))
		for i, item := range g.items {
			terms[i] = item.asTerm()
		}
		v.term = ast.ArrayTerm(terms...)
	}
	v.kind, v.more = composite, nil
}

func wholeTerm(n int64) *ast.Term {
	if n >= 0 && n < interned {
		return ast.InternedTerm(int(n))
	}
	return ast.NumberTerm(json.Number(strconv.FormatInt(n, 10)))
}

// interned is how many whole numbers are made once, as OPA does.
const interned = 512

var (
	smallWholes   = makeSmallWholes()
	yesVal, noVal = Value{kind: boolean, n: 1, term: ast.BooleanTerm(true)}, Value{kind: boolean, term: ast.BooleanTerm(false)}
)

func makeSmallWholes() *[interned]Value {
	var out [interned]Value
	for i := range out {
		out[i] = Value{kind: whole, n: int64(i), term: wholeTerm(int64(i))}
	}
	return &out
}

func truth(yes bool) *Value {
	if yes {
		return &yesVal
	}
	return &noVal
}

// simple says whether a value is one word: two of them are equal where kind and word are.
func (v *Value) simple() bool { return v.kind >= null && v.kind <= text }

// same says whether two values are equal, as OPA has it. False as the second answer: it cannot be
// told.
func same(a, b *Value) (yes, known bool) {
	switch {
	case a == b:
		return true, true
	case a.simple() && b.simple():
		return alike(a, b), true
	}
	x, y := a.asTerm(), b.asTerm()
	if x == nil || y == nil {
		return false, false
	}
	return x.Equal(y), true
}

// compare orders two values, as OPA has it. False: it cannot be told.
func compare(a, b *Value) (order int, known bool) {
	switch {
	case a.kind == whole && b.kind == whole:
		return cmp.Compare(a.n, b.n), true
	case a.kind == text && b.kind == text:
		return strings.Compare(a.text, b.text), true
	}
	x, y := a.asTerm(), b.asTerm()
	if x == nil || y == nil {
		return 0, false
	}
	return x.Value.Compare(y.Value), true
}

// length is how many elements a composite has; false: it is none, or cannot be read.
func (v *Value) length() (int, bool) {
	switch v.kind {
	case list:
		return len(v.more.parts), true
	case dictionary:
		return len(v.more.texts) + len(v.more.numbers) + len(v.more.amounts), true // two of them are nil
	case growing:
		return len(v.more.grown.items), true
	case record, composite:
	default:
		return 0, false
	}
	t := v.asTerm()
	if t == nil {
		return 0, false
	}
	switch x := t.Value.(type) {
	case *ast.Array:
		return x.Len(), true
	case ast.Object:
		return x.Len(), true
	case ast.Set:
		return x.Len(), true
	}
	return 0, false
}

// isArray, isObject and isSet say what a value is.
func (v *Value) isArray() bool {
	if v.term != nil {
		_, yes := v.term.Value.(*ast.Array)
		return yes
	}
	return v.kind == list || v.kind == growing && !v.more.grown.set
}

func (v *Value) isObject() bool {
	if v.term != nil {
		_, yes := v.term.Value.(ast.Object)
		return yes
	}
	return v.kind == record || v.kind == dictionary
}

func (v *Value) isSet() bool {
	if v.term != nil {
		_, yes := v.term.Value.(ast.Set)
		return yes
	}
	return v.kind == growing && v.more.grown.set
}

// grown are the elements of an array or a set that is being made: OPA's own array is copied with
// every element, and its set is a map.
type grown struct {
	set   bool
	items []*Value
	table []int32 // of a set of more than few: places of items by hash, plus one; 0: free
}

// mostElements is how many elements an array or a set may have had that is filled again.
const mostElements = 512

// empty makes room for another one.
func (g *grown) empty() {
	if len(g.items) > mostElements || cap(g.items) > 2*mostElements {
		*g = grown{}
		return
	}
	clear(g.items)
	clear(g.table)
	g.items, g.table = g.items[:0], g.table[:0]
}

// few is up to how many elements of a set are looked at one by one.
const few = 8

// add puts a simple value into a set.
func (g *grown) add(v *Value) {
	if len(g.items) < few {
		if !slices.ContainsFunc(g.items, func(have *Value) bool { return have == v || alike(have, v) }) {
			g.items = append(g.items, v)
		}
		return
	}
	if 2*(len(g.items)+1) > len(g.table) {
		size := max(8*few, 2*len(g.table))
		g.table = slices.Grow(g.table[:0], size)[:size]
		clear(g.table)
		for i, item := range g.items {
			g.table[g.place(item)] = int32(i + 1)
		}
	}
	if at := g.place(v); g.table[at] == 0 {
		g.items = append(g.items, v)
		g.table[at] = int32(len(g.items))
	}
}

// place is where in the table a value is, or would be.
func (g *grown) place(v *Value) int {
	mask := len(g.table) - 1
	at := int(hash(v)) & mask
	for g.table[at] != 0 && !alike(g.items[g.table[at]-1], v) {
		at = (at + 1) & mask
	}
	return at
}

// alike says whether two simple values are equal.
func alike(a, b *Value) bool {
	if a.kind == text {
		return b.kind == text && a.text == b.text
	}
	return a.kind == b.kind && a.n == b.n
}
