package policies

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// mostAnswer is how many bytes one call of a built-in function may answer with. A call cannot be stopped, and
// some answer with many times what they are given; what many calls make is watched (see watcher).
const mostAnswer = 32 << 20

// mostDigits is how long numbers may be, and those together that are multiplied: each square is twice as long as what it is of.
const mostDigits = 1 << 16

// perElement is about what an element of a list takes.
const perElement = 32

var (
	errAnswer = fmt.Errorf("the answer would have more than %d MiB", mostAnswer>>20)
	errDigits = fmt.Errorf("a number, or those that are multiplied together, would have more than %d digits", mostDigits)
)

// tooManyDigits is what is said of numbers that are too long.
const tooManyDigits = math.MaxInt64

// boundAnswers puts the bound in front of OPA's built-in functions, of which there is one table per process.
var boundAnswers = sync.OnceFunc(func() {
	names := slices.AppendSeq(slices.Collect(maps.Keys(answers)), maps.Keys(steps))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		run := topdown.GetBuiltin(name) // a test asks each; what is not there cannot be called either
		topdown.RegisterBuiltinFunc(name, func(ctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
			if err := bounded(name, operands); err != nil {
				return err
			}
			return run(ctx, operands, iter)
		})
	}
})

// unbounded are the built-in functions whose time is not bounded by what they are given.
var unbounded = []string{"graph.reachable_paths", "regex.globs_match", "strings.render_template"}

// answers are those whose answer can be far larger than what they are given, with about how many bytes it has.
// What is of another type than they take is theirs to refuse.
var answers = map[string]func(operands []*ast.Term) int64{
	ast.Concat.Name: func(o []*ast.Term) int64 {
		n, length := int64(0), int64(0)
		eachOf(o[1], func(e *ast.Term) { n, length = n+1, length+int64(len(textOf(e))) })
		return length + n*int64(len(textOf(o[0])))
	},
	ast.Replace.Name: func(o []*ast.Term) int64 {
		return replaced(textOf(o[0]), textOf(o[1]), textOf(o[2]))
	},
	ast.ReplaceN.Name: func(o []*ast.Term) int64 {
		in, sum := textOf(o[1]), int64(0)
		if patterns, ok := o[0].Value.(ast.Object); ok {
			patterns.Foreach(func(old, with *ast.Term) { sum += replaced(in, textOf(old), textOf(with)) })
		}
		return sum
	},
	ast.RegexReplace.Name: func(o []*ast.Term) int64 { // of as many matches as there may be
		in := int64(len(textOf(o[0])))
		return in + (in+1)*int64(len(textOf(o[2])))
	},
	ast.Sprintf.Name:      func(o []*ast.Term) int64 { return printed(textOf(o[0]), o[1]) },
	ast.NumbersRange.Name: func(o []*ast.Term) int64 { return between(o[0], o[1]) },
	ast.NumbersRangeStep.Name: func(o []*ast.Term) int64 {
		step, _ := numberOf(o[2])
		return between(o[0], o[1]) / max(1, step)
	},
	ast.ArrayConcat.Name: func(o []*ast.Term) int64 { return elements(o[0]) + elements(o[1]) },
	ast.Split.Name:       func(o []*ast.Term) int64 { return pieces(textOf(o[0]), textOf(o[1])) },
	ast.IndexOfN.Name:    func(o []*ast.Term) int64 { return pieces(textOf(o[0]), textOf(o[1])) },
	ast.RegexSplit.Name:  func(o []*ast.Term) int64 { return pieces(textOf(o[1]), "") },
	ast.RegexFind.Name:   func(o []*ast.Term) int64 { return pieces(textOf(o[1]), "") },
	ast.RegexFindAllStringSubmatch.Name: func(o []*ast.Term) int64 { // of each match a list of its groups
		return pieces(textOf(o[1]), "") * int64(1+strings.Count(textOf(o[0]), "("))
	},
	ast.JSONUnmarshal.Name: valuesOf,
	ast.JSONIsValid.Name:   valuesOf,
	ast.YAMLUnmarshal.Name: linesOf,
	ast.YAMLIsValid.Name:   linesOf,
	ast.ToNumber.Name:      number,
	// A copy may be of all that there is, each time.
	ast.JSONPatch.Name: func(o []*ast.Term) int64 {
		sum := sizeOf(o[0], mostAnswer) + sizeOf(o[1], mostAnswer)
		eachOf(o[1], func(op *ast.Term) {
			if of, ok := op.Value.(ast.Object); ok && of.Get(ast.InternedTerm("op")) != nil && textOf(of.Get(ast.InternedTerm("op"))) == "copy" {
				sum = min(2*sum, 1<<40)
			}
		})
		return sum
	},
	ast.Multiply.Name: func(o []*ast.Term) int64 { return digits(o...) },
	ast.Product.Name: func(o []*ast.Term) int64 {
		var all []*ast.Term
		eachOf(o[0], func(e *ast.Term) { all = append(all, e) })
		return digits(all...)
	},
	// Texts within texts: each quote costs as much again, each time.
	ast.JSONMarshal.Name:            escaped,
	ast.JSONMarshalWithOptions.Name: escaped,
	ast.YAMLMarshal.Name:            escaped,
	ast.URLQueryEncode.Name:         escaped,
	ast.HexEncode.Name:              escaped,
	ast.Base64Encode.Name:           escaped,
	ast.Base64UrlEncode.Name:        escaped,
}

func textOf(t *ast.Term) string {
	s, _ := t.Value.(ast.String)
	return string(s)
}

// numberOf is a number as far as an int64 goes; it may be written as 1e9.
func numberOf(t *ast.Term) (int64, bool) {
	n, ok := t.Value.(ast.Number)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, false
	}
	return int64(max(-1<<61, min(f, 1<<61))), true
}

func eachOf(t *ast.Term, yield func(*ast.Term)) {
	switch all := t.Value.(type) {
	case *ast.Array:
		all.Foreach(yield)
	case ast.Set:
		all.Foreach(yield)
	}
}

// digits is how many digits the product of numbers has at most, or tooManyDigits.
func digits(numbers ...*ast.Term) int64 {
	sum := 0
	for _, t := range numbers {
		if n, ok := t.Value.(ast.Number); ok {
			sum += len(n)
		}
	}
	if sum > mostDigits {
		return tooManyDigits
	}
	return int64(sum)
}

func elements(t *ast.Term) int64 {
	all, ok := t.Value.(*ast.Array)
	if !ok {
		return 0
	}
	return int64(all.Len()) * perElement
}

func pieces(in, at string) int64 { return int64(strings.Count(in, at)) * perElement }

func replaced(in, old, with string) int64 {
	return int64(len(in)) + int64(strings.Count(in, old))*int64(len(with))
}

// between is what the numbers from a to b take, in either direction.
func between(from, to *ast.Term) int64 {
	a, whole := numberOf(from)
	b, both := numberOf(to)
	if !whole || !both {
		return 0
	}
	return min(max(a-b, b-a), mostAnswer) * perElement // neither difference is beyond an int64
}

// escaped is what a text takes of which each character may need six, as \u0000 does.
func escaped(o []*ast.Term) int64 { return 6 * int64(len(textOf(o[0]))) }

// printed is what sprintf makes at most: each verb prints one operand, in a width that the format may give.
func printed(format string, operands *ast.Term) int64 {
	verbs, sum := int64(0), int64(len(format))
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		verbs++
		end := i + 1
		for end < len(format) && strings.IndexByte("+-# 0123456789.*[]", format[end]) >= 0 {
			end++
		}
		sum += widths(format[i+1 : end])
		i = end
	}
	largest := int64(0)
	if all, ok := operands.Value.(*ast.Array); ok {
		all.Foreach(func(e *ast.Term) {
			if s, ok := e.Value.(ast.String); ok {
				largest = max(largest, int64(len(s)))
			} else if verbs > 1 {
				largest = max(largest, sizeOf(e, mostAnswer))
			}
		})
	}
	if verbs > 0 && largest > mostAnswer/verbs {
		return mostAnswer + 1
	}
	return sum + verbs*largest
}

// widths are the width and the precision of a verb together; fmt takes a million of each at most.
func widths(flags string) (sum int64) {
	for _, digits := range strings.FieldsFunc(flags, func(r rune) bool { return (r < '0' || r > '9') && r != '*' }) {
		if n, err := strconv.ParseInt(strings.TrimLeft(digits, "*"), 10, 64); err == nil {
			sum += min(n, 1e6)
		} else {
			sum += 1e6
		}
	}
	return sum
}

// sizeOf is about how long a value is in print, up to a bound.
func sizeOf(t *ast.Term, most int64) int64 {
	n := int64(0)
	v := ast.NewGenericVisitor(func(x any) bool {
		n += 8
		if s, ok := x.(ast.String); ok {
			n += int64(len(s))
		}
		return n > most
	})
	v.Walk(t)
	return n
}
