package check

import (
	"fmt"
	"strconv"
	"strings"
)

const didYouMean = "; did you mean "

// Suggestion is "; did you mean X?", or nothing.
type Suggestion string

// Name is the name that is suggested; empty: none is.
func (s Suggestion) Name() string {
	name, err := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(string(s), didYouMean), "?"))
	if err != nil {
		return ""
	}
	return name
}

// DidYouMean is "; did you mean X?" for the name that a typing slip is closest to, or
// nothing where no name is close. The first of equally close names wins.
func DidYouMean(name string, names []string) Suggestion {
	best, at := len([]rune(name))/3+2, -1
	for i, n := range names {
		if d := distance(name, n); d < best {
			best, at = d, i
		}
	}
	if at < 0 {
		return ""
	}
	return Suggestion(fmt.Sprintf(didYouMean+"%q?", names[at]))
}

// Nearest is the name that at most so many slips of the pen are between; empty: none is. The
// first of equally near names wins.
func Nearest(name string, names []string, slips int) string {
	best := ""
	for _, n := range names {
		if d := distance(name, n); d > 0 && d <= slips {
			best, slips = n, d-1
		}
	}
	return best
}

// distance is Levenshtein's: the fewest runes to insert, delete or replace. O(len·len).
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}
