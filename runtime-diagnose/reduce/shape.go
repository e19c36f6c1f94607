package reduce

import "strings"

// mostShape is how much of a line its shape shows, in bytes.
const mostShape = 120

// Shape is the beginning of a line with every number as one 0: lines of one statement of a program
// have one shape.
func Shape(line string) string {
	line = line[:min(len(line), mostShape)]
	if strings.IndexFunc(line, digit) < 0 {
		return strings.Clone(line)
	}
	var b strings.Builder
	within := false
	for _, c := range line {
		if digit(c) {
			if !within {
				b.WriteByte('0')
			}
			within = true
			continue
		}
		within = false
		b.WriteRune(c)
	}
	return b.String()
}

func digit(c rune) bool { return '0' <= c && c <= '9' }
