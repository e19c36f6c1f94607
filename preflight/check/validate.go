package check

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/preflight/finding"
)

const (
	longestTitle = 72 // runes: one line of a list beside the name
	longestName  = 40 // runes: leaves room for the message in a warning of 120
)

var slug = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Validate proof-reads checks: what the documentation, the configuration and the tests
// rely on. The error lists every broken promise.
func Validate(checks ...*Check) error {
	var errs []error
	byName := map[string]*Check{}
	for i, c := range checks {
		if c == nil {
			errs = append(errs, fmt.Errorf("check %d is nil", i))
			continue
		}
		for _, broken := range promises(c) {
			errs = append(errs, fmt.Errorf("check %q: %s", c.Name, broken))
		}
		if byName[c.Name] != nil {
			errs = append(errs, fmt.Errorf("check %q: two checks have this name", c.Name))
		}
		byName[c.Name] = c
	}
	for _, c := range checks {
		if c == nil {
			continue
		}
		for _, name := range c.Eclipses {
			if byName[name] == nil {
				errs = append(errs, fmt.Errorf("check %q: eclipses %q, which is not in the set", c.Name, name))
			}
		}
		if loop := eclipseLoop(c, byName, nil); loop != nil {
			errs = append(errs, fmt.Errorf("check %q: eclipses itself: %s", c.Name, strings.Join(loop, " → ")))
		}
	}
	return errors.Join(errs...)
}

func promises(c *Check) (broken []string) {
	require := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	require(slug.MatchString(c.Name) && len(c.Name) <= longestName, "the name must be a slug of at most %d characters", longestName)
	first, _ := utf8.DecodeRuneInString(c.Title)
	n := utf8.RuneCountInString(c.Title)
	require(c.Title != "", "no title")
	require(!unicode.IsUpper(first) || acronym(c.Title), "the title %q begins with a capital", c.Title)
	require(!strings.HasSuffix(c.Title, "."), "the title %q ends with a full stop", c.Title)
	require(n <= longestTitle, "the title has %d runes; at most %d fit", n, longestTitle)
	first, _ = utf8.DecodeRuneInString(c.Remedy)
	require(unicode.IsUpper(first) && strings.HasSuffix(c.Remedy, "."), "the remedy %q is not a sentence with a full stop", c.Remedy)
	require(c.Since != "", "no Since")
	require(c.Severity >= finding.Note && c.Severity <= finding.Error, "severity %d is not note (1), warning (2) or error (3)", int(c.Severity))
	require(c.Run != nil, "no Run")
	require(c.Params == nil || c.Params() != nil, "Params returns nil")
	require(c.Needs < 1<<5, "needs something that does not exist")
	require(len(c.Kinds) == len(slices.Compact(slices.Sorted(slices.Values(c.Kinds)))), "a kind is named twice")
	return broken
}

// acronym says whether the first word may begin with a capital: GPU, MPI, XGBoost, PyTorch.
func acronym(title string) bool {
	word, _, _ := strings.Cut(title, " ")
	capitals := 0
	for _, r := range word {
		if unicode.IsUpper(r) {
			capitals++
		}
	}
	return capitals > 1
}

// eclipseLoop is the way from a check back to itself, nil if there is none.
func eclipseLoop(c *Check, byName map[string]*Check, way []string) []string {
	if len(way) > 0 && way[0] == c.Name {
		return append(slices.Clone(way), c.Name)
	}
	if slices.Contains(way, c.Name) {
		return nil // another check's loop; reported there
	}
	for _, name := range c.Eclipses {
		if next := byName[name]; next != nil {
			if loop := eclipseLoop(next, byName, append(slices.Clone(way), c.Name)); loop != nil {
				return loop
			}
		}
	}
	return nil
}
