package signature

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// starts are the bytes, letters small, that a text may begin with.
type starts [256]bool

// startsOf are those of the texts that an expression matches at their beginning; nil: it may match elsewhere, or any text.
// Most expressions of lines with a level are such, and most lines begin otherwise.
func startsOf(re *syntax.Regexp) *starts {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op != syntax.OpConcat || re.Sub[0].Op != syntax.OpBeginText {
		return nil
	}
	h := &starts{}
	for _, part := range re.Sub {
		if !h.add(part) {
			return h
		}
	}
	return nil
}

// add adds what a part of an expression may begin with, and says that it may be empty.
func (h *starts) add(re *syntax.Regexp) (empty bool) {
	switch re.Op {
	case syntax.OpLiteral:
		h.addRune(re.Rune[0])
		if re.Flags&syntax.FoldCase != 0 {
			for r := unicode.SimpleFold(re.Rune[0]); r != re.Rune[0]; r = unicode.SimpleFold(r) {
				h.addRune(r)
			}
		}
		return false
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= min(re.Rune[i+1], utf8.RuneSelf); r++ {
				h.addRune(r)
			}
			h.addRune(re.Rune[i+1])
		}
		return false
	case syntax.OpCapture, syntax.OpPlus:
		return h.add(re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		h.add(re.Sub[0])
		return true
	case syntax.OpRepeat:
		return h.add(re.Sub[0]) || re.Min == 0
	case syntax.OpConcat:
		for _, part := range re.Sub {
			if !h.add(part) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, part := range re.Sub {
			empty = h.add(part) || empty
		}
		return empty
	case syntax.OpNoMatch:
		return false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for b := range h {
			h[b] = true
		}
		return false
	default: // a place, not a character
		return true
	}
}

func (h *starts) addRune(r rune) {
	if r < utf8.RuneSelf {
		h[foldASCII(byte(r))] = true
		return
	}
	for b := utf8.RuneSelf; b < len(h); b++ { // which of them its bytes are does not matter
		h[b] = true
	}
}
