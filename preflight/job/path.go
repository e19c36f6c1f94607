package job

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Path is a place in an object, as a person would write it:
//
//	spec.replicatedJobs[name=worker].template.spec.containers[0].resources.limits["nvidia.com/gpu"]
//
// Child, Key, Index and Named build it; Resolve walks it. The empty path is the object itself.
type Path string

// Child appends field names that need no quoting.
func (p Path) Child(names ...string) Path {
	length := len(p)
	for _, n := range names {
		if !plain(n) {
			length = -1
			break
		}
		length += len(n) + 1
	}
	if length < 0 || len(names) < 2 {
		for _, n := range names {
			p = p.Key(n)
		}
		return p
	}
	var out strings.Builder // in one piece: jobs of many roles are read by thousands of paths
	out.Grow(length)
	out.WriteString(string(p))
	for _, n := range names {
		if out.Len() > 0 {
			out.WriteByte('.')
		}
		out.WriteString(n)
	}
	return Path(out.String())
}

// Key appends a map key, quoted where it is not a plain word.
func (p Path) Key(key string) Path {
	switch {
	case !plain(key):
		return p + Path("["+strconv.Quote(key)+"]")
	case p == "":
		return Path(key)
	default:
		return p + "." + Path(key)
	}
}

// Index appends a position in a list.
func (p Path) Index(i int) Path { return p + "[" + Path(strconv.Itoa(i)) + "]" }

// Named appends the element of a list whose field "name" has this value, quoted where
// it is not a plain word.
func (p Path) Named(name string) Path {
	if !plain(name) {
		name = strconv.Quote(name)
	}
	return p + Path("[name="+name+"]")
}

// Join appends a relative path.
func (p Path) Join(rel Path) Path {
	if rel == "" {
		return p
	}
	if p == "" || rel[0] == '[' {
		return p + rel
	}
	return p + "." + rel
}

// Compare orders paths by their text, but positions in lists by number: containers[2] comes
// before containers[10].
func (p Path) Compare(q Path) int {
	for i := 0; i < len(p) && i < len(q); i++ {
		if p[i] == q[i] {
			continue
		}
		from := strings.LastIndexByte(string(p[:i]), '[') + 1
		m, n := digits(p[from:]), digits(q[from:])
		if from > 0 && from+m >= i && from+n >= i && m > 0 && n > 0 {
			if order := cmp.Or(cmp.Compare(m, n), cmp.Compare(p[from:from+m], q[from:from+n])); order != 0 {
				return order
			}
		}
		return cmp.Compare(p[i:], q[i:])
	}
	return cmp.Compare(len(p), len(q))
}

// digits is the length of the number that a text begins with.
func digits(p Path) int {
	n := 0
	for n < len(p) && p[n] >= '0' && p[n] <= '9' {
		n++
	}
	return n
}

// Within says whether p is q or lies below it.
func (p Path) Within(q Path) bool {
	if q == "" {
		return true
	}
	if !strings.HasPrefix(string(p), string(q)) {
		return false
	}
	return len(p) == len(q) || p[len(q)] == '.' || p[len(q)] == '['
}

// After is p relative to q, which must contain it.
func (p Path) After(q Path) Path {
	return Path(strings.TrimPrefix(string(p[len(q):]), "."))
}

// Parent is the path without its last step; the empty path is its own parent.
func (p Path) Parent() Path {
	last := 0
	for i := 0; i < len(p); {
		st, end, err := p.step(i)
		if err != nil {
			return ""
		}
		last, i = st.start, end
	}
	return p[:last]
}

// Valid says whether the path is written as paths are.
func (p Path) Valid() bool {
	return p.parse() == nil
}

// Resolve finds the value at the path in an object decoded from JSON.
func (p Path) Resolve(object any) (any, error) {
	at := object
	for i := 0; i < len(p); {
		st, end, err := p.step(i)
		if err != nil {
			return nil, err
		}
		next, ok := st.take(at)
		if !ok {
			for k := end; k < len(p); { // a path with an error is told, wherever it breaks
				if _, k, err = p.step(k); err != nil {
					return nil, err
				}
			}
			return nil, &unresolved{path: p, at: p[:end]}
		}
		at, i = next, end
	}
	return at, nil
}

// Replace puts a value where the path leads in an object decoded from JSON. The place must
// be there, as Resolve finds it, and cannot be the object itself.
func (p Path) Replace(object, value any) error {
	if p == "" {
		return errors.New("replace: the path is empty")
	}
	if _, err := p.Resolve(object); err != nil {
		return err
	}
	parent := p.Parent()
	at, err := parent.Resolve(object)
	if err != nil {
		return err
	}
	last, _, err := p.step(len(parent))
	if err != nil {
		return err
	}
	switch in := at.(type) {
	case map[string]any:
		in[last.key] = value
	case []any:
		i := last.index
		if i < 0 {
			i = slices.IndexFunc(in, func(e any) bool { m, ok := e.(map[string]any); return ok && m["name"] == last.name })
		}
		in[i] = value
	}
	return nil
}

// unresolved is a place that an object does not have. Its text is made only where it
// is read: asking for fields that are not there is what checks do most.
type unresolved struct{ path, at Path }

func (e *unresolved) Error() string { return fmt.Sprintf("resolve %s: nothing at %s", e.path, e.at) }

type step struct {
	key        string // a map key, when list is false
	name       string // a list element's name, when list is true and index is -1
	index      int
	list       bool
	start, end int // byte span in the path
}

func (s step) take(at any) (any, bool) {
	if !s.list {
		m, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		v, ok := m[s.key]
		return v, ok
	}
	l, ok := at.([]any)
	if !ok {
		return nil, false
	}
	if s.index >= 0 {
		if s.index >= len(l) {
			return nil, false
		}
		return l[s.index], true
	}
	for _, e := range l {
		if m, ok := e.(map[string]any); ok && m["name"] == s.name {
			return e, true
		}
	}
	return nil, false
}

// parse says whether the path is one. The grammar is the one the builders write: words joined
// by dots, and brackets with a number, name=value or a quoted key.
func (p Path) parse() error {
	for i := 0; i < len(p); {
		_, end, err := p.step(i)
		if err != nil {
			return err
		}
		i = end
	}
	return nil
}

// step parses the step that begins at a byte and says where it ends.
func (p Path) step(i int) (step, int, error) {
	s, start := string(p), i
	if s[i] == '[' {
		st, end, err := bracket(s, i)
		st.start, st.end = start, end
		return st, end, err
	}
	if s[i] == '.' {
		i++
	}
	end := i
	for end < len(s) && s[end] != '.' && s[end] != '[' {
		end++
	}
	if end == i {
		return step{}, 0, fmt.Errorf("parse path %q: empty name at byte %d", s, i)
	}
	return step{key: s[i:end], start: start, end: end}, end, nil
}

func bracket(s string, i int) (step, int, error) {
	switch {
	case strings.HasPrefix(s[i:], `["`):
		key, end, err := quoted(s, i+1)
		return step{key: key}, end, err
	case strings.HasPrefix(s[i:], `[name="`):
		name, end, err := quoted(s, i+len("[name="))
		return step{name: name, index: -1, list: true}, end, err
	}
	n := strings.IndexByte(s[i:], ']')
	if n < 0 {
		return step{}, 0, fmt.Errorf("parse path %q: no ] after byte %d", s, i)
	}
	inner, end := s[i+1:i+n], i+n+1
	if name, ok := strings.CutPrefix(inner, "name="); ok {
		return step{name: name, index: -1, list: true}, end, nil
	}
	index, err := strconv.Atoi(inner)
	if err != nil || index < 0 {
		return step{}, 0, fmt.Errorf("parse path %q: %q is neither an index, a name nor a quoted key", s, inner)
	}
	return step{index: index, list: true}, end, nil
}

// quoted reads a quoted word and the ] behind it.
func quoted(s string, i int) (string, int, error) {
	word, err := strconv.QuotedPrefix(s[i:])
	if err != nil {
		return "", 0, fmt.Errorf("parse path %q: unclosed quote at byte %d", s, i)
	}
	end := i + len(word)
	if end >= len(s) || s[end] != ']' {
		return "", 0, fmt.Errorf("parse path %q: no ] at byte %d", s, end)
	}
	key, err := strconv.Unquote(word)
	return key, end + 1, err
}

func plain(key string) bool {
	for _, r := range key {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return key != ""
}
