package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// visible is a text without what a terminal would obey, marks of direction among it: manifests and files come
// from strangers, and names of jobs, roles, nodes and logs are printed.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// visibleLine is visible, in one line.
func visibleLine(s string) string { return strings.ReplaceAll(visible(s), "\n", " ") }

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// orList is "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// mostNames is how many checks that need a cluster are named where there is none.
const mostNames = 4

// few is a list of names that does not fill the screen.
func few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// hasWord says whether a text has a word, bounded by what is no letter; case does not matter.
func hasWord(text, word string) bool {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.Contains(parts, strings.ToLower(word))
}
