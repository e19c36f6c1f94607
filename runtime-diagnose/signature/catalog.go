package signature

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed catalog/*.yaml
var catalogFiles embed.FS

// Catalog is a fixed set of signatures, ready to match. It is immutable and safe for
// concurrent use.
type Catalog struct {
	all      []*Signature // by ID
	matchers []*matcher
	literals *finder
	calm     func() *finder       // without the literals of nothing but signs that training advances
	places   map[*Signature]int32 // in all
	owners   [][]owner            // literal → what it is looked for
	advances []bool               // by literal: it is looked for only as a sign that training advances
	counts   int32                // the literal CountsNodes
}

// owner is an alternative of a signature's pattern.
type owner struct{ signature, alternative int32 }

// CountsNodes is in every message of the scheduler that counts nodes. No signature reads those, but what reads
// logs does, and looks for it with everything else.
const CountsNodes = " nodes are "

// Match is one signature found in one text.
type Match struct {
	Signature *Signature
	Facts     map[string]string // named groups that matched something; digits at the end of a name are dropped
	Start     int               // byte offset of the match in the text
}

// Builtin is the catalog that ships with the program. Its signatures are proven valid by the
// tests of this package, not again at every start: the proofs take longer than the reading. It is read once, and must not
// be changed; With makes another one.
func Builtin() (*Catalog, error) { return builtin() }

var builtin = sync.OnceValues(func() (*Catalog, error) { return shipped(catalogFiles) })

// shipped is the catalog of files that tests have proven.
func shipped(files fs.FS) (*Catalog, error) {
	all, err := read(decode, files)
	if err != nil {
		return nil, err
	}
	return assemble(all)
}

// Load reads every *.yaml of the given file systems (at any depth one folder down, or at
// the top) into one catalog. Two signatures of one ID are an error.
func Load(systems ...fs.FS) (*Catalog, error) {
	all, err := read(Decode, systems...)
	if err != nil {
		return nil, err
	}
	return assemble(all)
}

func read(decode func([]byte) (*Signature, error), systems ...fs.FS) ([]*Signature, error) {
	var all []*Signature
	for _, fsys := range systems {
		for _, pattern := range []string{"*.yaml", "*/*.yaml"} {
			names, err := fs.Glob(fsys, pattern)
			if err != nil {
				return nil, fmt.Errorf("list signatures: %w", err)
			}
			for _, name := range names {
				s, err := readFile(decode, fsys, name)
				if err != nil {
					return nil, err
				}
				all = append(all, s)
			}
		}
	}
	return all, nil
}

func readFile(decode func([]byte) (*Signature, error), fsys fs.FS, name string) (*Signature, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read signature %s: %w", name, err)
	}
	s, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read signature %s: %w", name, err)
	}
	if want := strings.TrimSuffix(path.Base(name), ".yaml"); s.ID != want {
		return nil, fmt.Errorf("read signature %s: id is %q; a file is named after its id", name, s.ID)
	}
	return s, nil
}

// New makes a catalog of valid signatures.
func New(signatures ...*Signature) (*Catalog, error) {
	for _, s := range signatures {
		if err := s.Validate(); err != nil {
			return nil, err
		}
	}
	return assemble(signatures)
}

// assemble makes a catalog of signatures that are valid by themselves.
func assemble(signatures []*Signature) (*Catalog, error) {
	c := &Catalog{all: slices.Clone(signatures)}
	slices.SortFunc(c.all, func(a, b *Signature) int { return strings.Compare(a.ID, b.ID) })
	known := map[string]bool{}
	for _, s := range c.all {
		if known[s.ID] {
			return nil, fmt.Errorf("signature %q is there twice", s.ID)
		}
		known[s.ID] = true
	}
	c.places = make(map[*Signature]int32, len(c.all))
	index := map[string]int32{} // literal, as the finder compares it
	var literals []string
	literal := func(text string) int32 {
		at, ok := index[text]
		if !ok {
			at = int32(len(literals))
			index[text] = at
			literals = append(literals, text)
			c.owners = append(c.owners, nil)
		}
		return at
	}
	for i, s := range c.all {
		c.places[s] = int32(i)
		m := &matcher{pattern: s.Pattern}
		var err error
		if m.needs, err = literalsOf(s.Pattern); err != nil {
			return nil, fmt.Errorf("signature %q: %w", s.ID, err)
		}
		for alternative, set := range m.needs {
			for _, lit := range set {
				at := literal(lit)
				if !slices.Contains(m.literals, at) {
					m.literals = append(m.literals, at)
				}
				c.owners[at] = append(c.owners[at], owner{int32(i), int32(alternative)})
			}
		}
		c.matchers = append(c.matchers, m)
	}
	c.counts = literal(CountsNodes)
	c.literals = newFinder(literals, func(int32) bool { return false })
	for lit, of := range c.owners {
		c.advances = append(c.advances, int32(lit) != c.counts && !slices.ContainsFunc(of, func(o owner) bool { return !c.all[o.signature].advance() }))
	}
	c.calm = sync.OnceValue(func() *finder { return newFinder(literals, func(lit int32) bool { return c.advances[lit] }) })
	return c, nil
}

// All lists the signatures by ID. The caller must not change them.
func (c *Catalog) All() []*Signature { return slices.Clone(c.all) }

// ByID finds a signature, nil if there is none.
func (c *Catalog) ByID(id string) *Signature {
	i, ok := slices.BinarySearchFunc(c.all, id, func(s *Signature, id string) int { return strings.Compare(s.ID, id) })
	if !ok {
		return nil
	}
	return c.all[i]
}

// Search adds the literals that stand in a text to those found, for View.Found: what it finds depends on the text alone,
// so that many texts can be searched at a time.
func (c *Catalog) Search(found []int32, text string) []int32 {
	c.literals.find(text, func(literal int32) bool {
		found = append(found, literal)
		return true
	})
	return found
}

// Suspects says whether any literal occurs in the text: the cheap question to ask of
// every line before the line is masked and matched.
func (c *Catalog) Suspects(text string) bool { return c.SuspectsWithout(nil, text) }

// SuspectsWithout is Suspects for a reader that has heard enough of some signatures.
func (c *Catalog) SuspectsWithout(skip func(*Signature) bool, text string) bool {
	found := false
	c.literals.find(text, func(literal int32) bool {
		found = slices.ContainsFunc(c.owners[literal], func(o owner) bool { return skip == nil || !skip(c.all[o.signature]) })
		return !found
	})
	return found
}

// Match finds every signature of one of the given kinds (none given: of any kind) in a
// text, ordered by ID.
func (c *Catalog) Match(text string, kinds ...Kind) []Match {
	return c.MatchWithout(nil, text, kinds...)
}

// MatchWithout is Match for a reader that has heard enough of some signatures: skip tells
// which are not tried again.
func (c *Catalog) MatchWithout(skip func(*Signature) bool, text string, kinds ...Kind) []Match {
	return c.match(func(i int32) bool { return skip != nil && skip(c.all[i]) }, text, kinds)
}

func (c *Catalog) match(skip func(int32) bool, text string, kinds []Kind) []Match {
	var found []int32
	c.literals.find(text, func(lit int32) bool {
		found = append(found, lit)
		return true
	})
	return c.matchAmong(c.candidates(nil, found), skip, text, nil, kinds)
}

// candidates are the alternatives that literals were looked for, in order.
func (c *Catalog) candidates(room []owner, found []int32) []owner {
	for _, lit := range found {
		room = append(room, c.owners[lit]...)
	}
	slices.SortFunc(room, func(a, b owner) int {
		return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.alternative, b.alternative))
	})
	return slices.Compact(room)
}

// matchAmong is match with the candidates known, and the folded text; nil: it is not folded yet.
func (c *Catalog) matchAmong(candidates []owner, skip func(int32) bool, text string, line *folded, kinds []Kind) []Match {
	var found []Match
	for len(candidates) > 0 {
		i, n := candidates[0].signature, 1
		for n < len(candidates) && candidates[n].signature == i {
			n++
		}
		among := candidates[:n]
		candidates = candidates[n:]
		s := c.all[i]
		if !ofKind(s, kinds) || skip(i) {
			continue
		}
		if line == nil {
			line = &folded{}
			line.set(text)
		}
		if re, m := c.matchers[i].find(text, line, among); m != nil {
			found = append(found, Match{Signature: s, Facts: facts(re, text, m), Start: m[0]})
		}
	}
	return found
}

func ofKind(s *Signature, kinds []Kind) bool {
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(k Kind) bool { return slices.Contains(s.Kinds, k) })
}

func facts(re *regexp.Regexp, text string, m []int) map[string]string {
	var out map[string]string
	for i, name := range re.SubexpNames() {
		if name == "" || m[2*i] < 0 || m[2*i] == m[2*i+1] {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		// Alternatives of one pattern cannot share a name: module2 is module.
		out[strings.TrimRight(name, "0123456789")] = text[m[2*i]:m[2*i+1]]
	}
	return out
}
