package policies

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
)

// mostSteps is how many steps one call of a built-in function may take, of those that take as many as the product of two
// sizes: one to ten seconds. A call cannot be stopped (see mostAnswer), and an author's job may be one of the sizes.
const mostSteps = 1 << 28

var errSteps = fmt.Errorf("the call would take more than %d steps", mostSteps)

// What is read as JSON or YAML takes far more than its text has: the smallest objects of JSON some hundred times as
// much, and YAML some fifty microseconds for each value.
const (
	perJSONValue = 128
	perYAMLValue = 2048
)

// steps are functions whose time is not bounded by what they are given and answer with, with about how many steps they take.
var steps = map[string]func(operands []*ast.Term) int64{
	ast.Trim.Name:      func(o []*ast.Term) int64 { return each(textOf(o[0]), textOf(o[1])) },
	ast.TrimLeft.Name:  func(o []*ast.Term) int64 { return each(textOf(o[0]), textOf(o[1])) },
	ast.TrimRight.Name: func(o []*ast.Term) int64 { return each(textOf(o[0]), textOf(o[1])) },
	ast.IndexOf.Name:   func(o []*ast.Term) int64 { return seeking(textOf(o[0]), textOf(o[1])) },
	ast.IndexOfN.Name:  func(o []*ast.Term) int64 { return seeking(textOf(o[0]), textOf(o[1])) },
	// Each operation makes the list anew in which it changes something.
	ast.JSONPatch.Name: func(o []*ast.Term) int64 {
		operations := int64(0)
		eachOf(o[1], func(*ast.Term) { operations++ })
		return sizeOf(o[0], mostSteps) * min(operations, mostSteps)
	},
	ast.RegexMatch.Name:                 func(o []*ast.Term) int64 { return matching(textOf(o[0]), textOf(o[1])) },
	ast.RegexMatchDeprecated.Name:       func(o []*ast.Term) int64 { return matching(textOf(o[0]), textOf(o[1])) },
	ast.RegexReplace.Name:               func(o []*ast.Term) int64 { return matching(textOf(o[1]), textOf(o[0])) },
	ast.RegexSplit.Name:                 func(o []*ast.Term) int64 { return matching(textOf(o[0]), textOf(o[1])) },
	ast.RegexFind.Name:                  func(o []*ast.Term) int64 { return matching(textOf(o[0]), textOf(o[1])) },
	ast.RegexFindAllStringSubmatch.Name: func(o []*ast.Term) int64 { return matching(textOf(o[0]), textOf(o[1])) },
}

// each is how many steps it takes to look for each character of one text in another.
func each(in, of string) int64 { return int64(len(in)) * int64(len(of)) }

// seeking is how many steps it takes to look for one text in another: OPA does so in order, and where all is ASCII, Go does.
func seeking(in, of string) int64 {
	if ascii(in) && ascii(of) {
		return int64(len(in))
	}
	return each(in, of)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// matching is how many steps a pattern takes at most: each of its instructions for each byte of the text
// (https://swtch.com/~rsc/regexp/regexp2.html). Few patterns keep all of themselves busy, and one of less than ninety instructions
// is not refused for any text that a job holds.
func matching(pattern, text string) int64 {
	most := each(pattern, text)
	if strings.ContainsRune(pattern, '{') {
		most *= 1000 // the largest count that may stand there (regexp/syntax, maxRepeat)
	}
	if most <= mostSteps {
		return most
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0 // it is refused
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return int64(len(program.Inst)) * int64(len(text))
}

// valuesOf is what the values of a JSON text take, or tooManyDigits. One stands behind each comma and each bracket that opens.
func valuesOf(o []*ast.Term) int64 {
	text := textOf(o[0])
	if longNumber(text) {
		return tooManyDigits
	}
	return perJSONValue * int64(strings.Count(text, ",")+strings.Count(text, "{")+strings.Count(text, "["))
}

// linesOf is the same of a YAML text, in which one may stand on each line as well.
func linesOf(o []*ast.Term) int64 {
	text := textOf(o[0])
	if longNumber(text) {
		return tooManyDigits
	}
	return perYAMLValue * int64(strings.Count(text, "\n")+strings.Count(text, ",")+strings.Count(text, "{")+strings.Count(text, "["))
}

// number is the text of one, or tooManyDigits.
func number(o []*ast.Term) int64 {
	if longNumber(textOf(o[0])) {
		return tooManyDigits
	}
	return 0
}

// longNumber says whether more digits stand in a row than a number may have: each time that one is compared, it is read anew.
func longNumber(text string) bool {
	if len(text) <= mostDigits {
		return false
	}
	digits := 0
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', c == '_': // which YAML reads over
			if digits++; digits > mostDigits {
				return true
			}
		case c != '.': // a fraction goes on
			digits = 0
		}
	}
	return false
}

// bounded is why a call of a function is not made; nil: it is.
func bounded(name string, operands []*ast.Term) error {
	if takes := steps[name]; takes != nil && takes(operands) > mostSteps {
		return errSteps
	}
	if size := answers[name]; size != nil {
		switch n := size(operands); {
		case n == tooManyDigits:
			return errDigits
		case n > mostAnswer:
			return errAnswer
		}
	}
	return nil
}
