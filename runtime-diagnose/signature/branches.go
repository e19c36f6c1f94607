package signature

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// matcher tries only those alternatives of a pattern whose literals were found: a signature
// may list twenty wordings, and a line holds one. What it finds is what the whole pattern
// finds: the leftmost match, of those the first alternative's. Alternatives are taken apart
// and compiled when the first line asks for them: most signatures meet none in a log.
type matcher struct {
	pattern  string
	needs    [][]string // by alternative: each of its matches holds one
	literals []int32    // all of them
	once     sync.Once
	branches []branch
}

// branch is one alternative. Its expressions are compiled when they are first tried.
type branch struct {
	parts  [][]factor // besides one of its literals each match holds one of each of these sets, in order; see factorsOf
	begins []factor   // each match begins with one of these; none: with what, the expression does not say
	starts *starts    // the expression is tried at the beginning of a text alone, and matches none that begins otherwise
	re     func() *regexp.Regexp
	atHead func() *regexp.Regexp // re at the beginning of a text
	behind func() *regexp.Regexp // re behind the first character of one
	// loose matches whatever re does, and more, in less time; nil: re is fast enough.
	loose func() *regexp.Regexp
	short *branch // the same for texts of so many bytes, in less time; nil: there is none
	most  int
}

// may says that a folded text, in which a literal of one of the alternatives stands, holds what that one needs
// besides.
func (m *matcher) may(line *folded, alternative int32) bool {
	m.once.Do(m.prepare)
	return line.holdsAll(m.branches[alternative].parts)
}

// find looks for those alternatives of the pattern, in their order, of which a text holds a literal.
func (m *matcher) find(text string, line *folded, among []owner) (*regexp.Regexp, []int) {
	m.once.Do(m.prepare)
	var best []int
	var by *regexp.Regexp
	for _, o := range among {
		if re, at := m.branches[o.alternative].tried(text, line); at != nil && (best == nil || at[0] < best[0]) {
			best, by = at, re
		}
	}
	return by, best
}

// tried is find where the line holds what the branch needs.
func (b *branch) tried(text string, line *folded) (*regexp.Regexp, []int) {
	if !line.holdsAll(b.parts) {
		return nil, nil
	}
	return b.find(text, line)
}

// find is the leftmost match in a text, which begins where a text stands that all matches begin with: between those
// places the expression is not tried. Beyond ASCII letters have more than two forms.
func (b *branch) find(text string, line *folded) (*regexp.Regexp, []int) {
	if b.starts != nil && text != "" && !b.starts[foldASCII(text[0])] {
		return nil, nil
	}
	if b.short != nil && len(text) <= b.most {
		b = b.short
	}
	if b.loose != nil && !b.loose().MatchString(text) {
		return nil, nil
	}
	if len(b.begins) == 0 || line.beyond {
		re := b.re()
		return re, re.FindStringSubmatchIndex(text)
	}
	for from, tries := 0, 0; ; from++ {
		next := line.next(b.begins, from)
		if next < 0 {
			return nil, nil
		}
		if tries++; tries > mostTries {
			re := b.re()
			return re, re.FindStringSubmatchIndex(text)
		}
		from = next
		if from == 0 {
			if at := b.atHead().FindStringSubmatchIndex(text); at != nil {
				return b.atHead(), at
			}
			continue
		}
		if at := b.behind().FindStringSubmatchIndex(text[from-1:]); at != nil {
			for i := range at {
				if at[i] >= 0 {
					at[i] += from - 1
				}
			}
			at[0] = from
			return b.behind(), at
		}
	}
}

// mostTries bounds at how many places an expression is tried one by one: each may take it to the end of the text, which it
// reads once where it looks for the places itself.
const mostTries = 32

func (m *matcher) prepare() {
	for i, source := range alternatives(m.pattern) {
		m.branches = append(m.branches, newBranch(source, m.needs[i]))
	}
}

func compiled(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// expressions is a branch with nothing but its expressions.
func expressions(source string) branch {
	return branch{re: compiled(source), atHead: compiled(`\A(?:` + source + `)`), behind: compiled(`\A(?s:.)(?:` + source + `)`)}
}

func newBranch(source string, needs []string) branch {
	b := expressions(source)
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return b
	}
	if parts := factorsOf(re); len(parts) != 1 || !slices.Equal(parts[0], needs) { // else it is known already
		b.parts = factorsIn(parts)
	}
	b.begins, b.starts = beginsOf(re), startsOf(re)
	if steps(re) <= mostSteps {
		return b
	}
	if most := unbounded(re); most > 0 && steps(re) <= mostSteps {
		short := expressions(re.String())
		short.begins = b.begins
		b.short, b.most = &short, most
	}
	b.loose = compiled(loosened(re).String())
	return b
}

// steps is how long the program of an expression is.
func steps(re *syntax.Regexp) int {
	program, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// mostSteps is how long a program may be that package regexp runs by backtracking
// (https://github.com/golang/go/blob/master/src/regexp/backtrack.go, maxBacktrackProg). What is longer takes ten
// times as long: a bound such as {1,200} is written out in it.
const mostSteps = 500

// leastBound is the least bound on characters in a row that is taken away for short texts: most lines are no longer.
const leastBound = 100

// unbounded takes large bounds from an expression, in place, and says for texts of how many bytes it is the same: what
// takes a character each time is not there more often than the text has bytes. 0: it had none.
func unbounded(re *syntax.Regexp) (most int) {
	if re.Op == syntax.OpRepeat && re.Max >= leastBound && re.Min < leastBound && !new(starts).add(re.Sub[0]) {
		most, re.Max = re.Max, -1
	}
	for _, sub := range re.Sub {
		if n := unbounded(sub); n > 0 && (most == 0 || n < most) {
			most = n
		}
	}
	return most
}

// loosened is an expression, changed in place, that matches what it did and has no large bounds.
func loosened(re *syntax.Regexp) *syntax.Regexp {
	if re.Op == syntax.OpRepeat && (max(re.Min, re.Max) > 8 || re.Max < 0) {
		re.Min, re.Max = min(re.Min, 1), -1
	}
	for _, sub := range re.Sub {
		loosened(sub)
	}
	return re
}

// alternatives takes a pattern apart at the bars that stand in no group. A flag in force
// from the beginning of an alternative holds for those after it, as in the whole pattern; a
// pattern with a flag in the middle of one stays whole.
func alternatives(pattern string) []string {
	if strings.Contains(pattern, `\Q`) {
		return []string{pattern}
	}
	var out []string
	flags, depth, start := "", 0, 0
	for i := 0; i <= len(pattern); i++ {
		if i == len(pattern) || pattern[i] == '|' && depth == 0 {
			out = append(out, flags+pattern[start:i])
			start = i + 1
			continue
		}
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i += classEnd(pattern[i:])
		case ')':
			depth--
		case '(':
			own := leadingFlags(pattern[i:])
			switch {
			case own == "" || depth > 0:
				depth++
			case i > start:
				return []string{pattern}
			default:
				flags, start, i = flags+own, i+len(own), i+len(own)-1
			}
		}
	}
	return out
}

// classEnd is where the bracket that closes a class stands.
func classEnd(s string) int {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		i++
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "[:"):
			if n := strings.Index(s[i:], ":]"); n > 0 {
				i += n + 1
			}
		case s[i] == ']':
			return i
		}
	}
	return len(s) - 1
}

// leadingFlags are groups such as (?i) at the beginning.
func leadingFlags(s string) string {
	end := 0
	for strings.HasPrefix(s[end:], "(?") {
		n := strings.IndexByte(s[end:], ')')
		if n < 0 || strings.Trim(s[end+2:end+n], "imsU-") != "" {
			break
		}
		end += n + 1
	}
	return s[:end]
}
