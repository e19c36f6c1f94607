package reduce

import "strings"

// Most lines hold no secret, and asking each mask of each line takes as long as everything else that is
// done with it. So all gates are looked for in one pass: by a table of the first three bytes of each, and
// where one stands, by what has to follow.

// gate opens a mask: a text in lower case that each match of it contains, or begins with.
type gate struct {
	text string
	mask int               // index in masks
	next func(string) bool // of what follows the text, in lower case; false: there is no match here. nil: there may be
}

// gram is a hash of three bytes in lower case.
func gram(a, b, c byte) int {
	return (int(lower[a])<<10 ^ int(lower[b])<<5 ^ int(lower[c])) & (grams - 1)
}

const grams = 1 << 15

// lower is the lower case of ASCII letters; other bytes are themselves.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] |= 0x20
		}
	}
	return t
}()

// gates finds out which masks a line needs.
type gates struct {
	at  [grams]uint8 // gram → index in all; 0: no gate begins so
	all [][]gate
}

func newGates() *gates {
	g := &gates{all: [][]gate{nil}}
	for i, m := range masks {
		for _, text := range m.gates {
			h := gram(text[0], text[1], text[2])
			if g.at[h] == 0 {
				g.at[h] = uint8(len(g.all))
				g.all = append(g.all, nil)
			}
			g.all[g.at[h]] = append(g.all[g.at[h]], gate{text, i, m.next})
		}
	}
	return g
}

// open is the set of masks that may match, one bit each.
func (g *gates) open(text string) (set uint64) {
	for i := range len(text) {
		if text[i] >= 0x80 { // some letters beyond ASCII have one of ASCII as their lower case
			text = strings.ToLower(text)
			break
		}
	}
	for i := 0; i+2 < len(text); i++ {
		found := g.at[gram(text[i], text[i+1], text[i+2])]
		if found == 0 {
			continue
		}
		for _, one := range g.all[found] {
			if set&(1<<one.mask) == 0 && beginsWith(text[i:], one.text) && (one.next == nil || one.next(text[i+len(one.text):])) {
				set |= 1 << one.mask
			}
		}
	}
	return set
}

// beginsWith compares with a prefix in lower case.
func beginsWith(text, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower[text[i]] != prefix[i] {
			return false
		}
	}
	return true
}

// assigned says that a value may follow a name: a quote, white space, and "=" or ":".
func assigned(rest string) bool {
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		rest = rest[1:]
	}
	rest = strings.TrimLeft(rest, "\t\n\f\r ")
	return rest != "" && (rest[0] == '=' || rest[0] == ':')
}

// named is assigned, after the rest of a name.
func named(rest string) bool {
	i := 0
	for i < len(rest) && (rest[i] >= 0x80 || rest[i] == '-' || rest[i] == '_' || '0' <= rest[i] && rest[i] <= '9' || 'a' <= lower[rest[i]] && lower[rest[i]] <= 'z') {
		i++
	}
	return assigned(rest[i:])
}

// valued says that a value may follow an option.
func valued(rest string) bool { return rest != "" && (rest[0] == '=' || rest[0] == ' ') }

// blank says that a value may follow a word.
func blank(rest string) bool { return rest != "" && rest[0] == ' ' }

// userInfo says that a URL may hold a user and a password.
func userInfo(rest string) bool { return strings.Contains(rest, "@") }
