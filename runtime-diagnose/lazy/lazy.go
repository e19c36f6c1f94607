// Package lazy holds regular expressions that are compiled when they are first asked: a program that starts to answer one
// question does not pay for all others. What was found out about a text a moment ago is not found out again, either.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression; its methods are those of [regexp.Regexp].
type Regexp struct{ compiled func() *compiled }

// compiled is an expression, and what it requires of a text.
type compiled struct {
	*regexp.Regexp
	required
}

// longPrefix is how long what every match begins with must be for package regexp to look for it by itself, fast.
const longPrefix = 3

var (
	lock sync.Mutex
	made []*Regexp
)

// MustCompile is the expression that text is, for a variable of a package; it panics, when first asked, if it is none.
func MustCompile(text string) *Regexp {
	r := &Regexp{sync.OnceValue(func() *compiled {
		c := &compiled{Regexp: regexp.MustCompile(text)}
		if prefix, _ := c.LiteralPrefix(); len(prefix) < longPrefix {
			c.required = requiredBy(text)
		}
		return c
	})}
	lock.Lock()
	defer lock.Unlock()
	made = append(made, r)
	return r
}

// CompileAll compiles all that were made, and panics at one that is none: for a test of the program that holds them.
func CompileAll() (expressions int) {
	lock.Lock()
	defer lock.Unlock()
	for _, r := range made {
		r.compiled()
	}
	return len(made)
}

// MatchString is [regexp.Regexp.MatchString].
func (r *Regexp) MatchString(s string) bool {
	c := r.compiled()
	return c.in(s) && c.Regexp.MatchString(s)
}

// FindString is [regexp.Regexp.FindString].
func (r *Regexp) FindString(s string) string {
	c := r.compiled()
	if !c.in(s) {
		return ""
	}
	return c.FindString(s)
}

// FindStringIndex is [regexp.Regexp.FindStringIndex].
func (r *Regexp) FindStringIndex(s string) []int {
	c := r.compiled()
	if !c.in(s) {
		return nil
	}
	return c.FindStringIndex(s)
}

// FindStringSubmatch is [regexp.Regexp.FindStringSubmatch].
func (r *Regexp) FindStringSubmatch(s string) []string {
	c := r.compiled()
	if !c.in(s) {
		return nil
	}
	return c.FindStringSubmatch(s)
}

// FindStringSubmatchIndex is [regexp.Regexp.FindStringSubmatchIndex].
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	c := r.compiled()
	if !c.in(s) {
		return nil
	}
	return c.FindStringSubmatchIndex(s)
}

// FindAllString is [regexp.Regexp.FindAllString].
func (r *Regexp) FindAllString(s string, n int) []string {
	c := r.compiled()
	if !c.in(s) {
		return nil
	}
	return c.FindAllString(s, n)
}

// FindAllStringIndex is [regexp.Regexp.FindAllStringIndex].
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	c := r.compiled()
	if !c.in(s) {
		return nil
	}
	return c.FindAllStringIndex(s, n)
}

// FindAllStringSubmatch is [regexp.Regexp.FindAllStringSubmatch].
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	c := r.compiled()
	if !c.in(s) {
		return nil
	}
	return c.FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is [regexp.Regexp.FindAllStringSubmatchIndex].
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	c := r.compiled()
	if !c.in(s) {
		return nil
	}
	return c.FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString is [regexp.Regexp.ReplaceAllString].
func (r *Regexp) ReplaceAllString(src, repl string) string {
	c := r.compiled()
	if !c.in(src) {
		return src
	}
	return c.ReplaceAllString(src, repl)
}

// ReplaceAllStringFunc is [regexp.Regexp.ReplaceAllStringFunc].
func (r *Regexp) ReplaceAllStringFunc(src string, repl func(string) string) string {
	c := r.compiled()
	if !c.in(src) {
		return src
	}
	return c.ReplaceAllStringFunc(src, repl)
}

// Split is [regexp.Regexp.Split].
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }
