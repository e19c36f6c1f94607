package terminal

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// OneLine is a text in one line, with one space between words.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Count is a number with its noun: 1 job, 2 jobs.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// OrList is "a, b or c".
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// MostNames is how many checks that need a cluster are named where there is none.
const MostNames = 4

// Few is a list of names that does not fill the screen.
func Few(names []string) string {
	const most = 5
	if len(names) <= most+1 { // "and 1 more" is no shorter than its name
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// HasWord says whether a text has a word, bounded by what is no letter; case does not matter.
func HasWord(text, word string) bool {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.Contains(parts, strings.ToLower(word))
}

// FileName is a file's name as it is printed: a hostile name may hold sequences that a terminal obeys.
func FileName(name string) string {
	if name == "-" {
		return "stdin"
	}
	return words.VisibleLine(filepath.ToSlash(name))
}
