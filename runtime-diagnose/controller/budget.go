package controller

import (
	"fmt"
	"strings"
	"unicode/utf8"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// Budget is how many bytes, keys and values, Signalbox puts on one job. All annotations of an
// object may have 256 KiB (apimachinery validation.TotalAnnotationSizeLimitB); kubectl users
// scroll long before that.
const Budget = 8 << 10

// size is what annotations take.
func size(m map[string]string) int {
	n := 0
	for k, v := range m {
		n += len(k) + len(v)
	}
	return n
}

// shorten keeps the first most bytes of a text and says where the rest is.
func shorten(text string, most int, r diagnose.Result) string {
	if len(text) <= most {
		return text
	}
	rest := " … (%d bytes left out; signalbox diagnose %s/%s -n %s)"
	room := most - len(fmt.Sprintf(rest, len(text), r.Job.Kind, r.Job.Name, r.Job.Namespace))
	kept := cut(text, max(0, room))
	return cut(kept+fmt.Sprintf(rest, len(text)-len(kept), strings.ToLower(r.Job.Kind), r.Job.Name, r.Job.Namespace), most)
}

// cut keeps at most n bytes and never half a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// whole keeps whole lines up to most bytes: half of a grounded sentence has lost its citation.
func whole(text string, most int) string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if most -= len(line) + 1; most < 0 {
			break
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// steps numbers the steps of a solution, one a line.
func steps(all []string) string {
	if len(all) == 1 {
		return all[0]
	}
	lines := make([]string, len(all))
	for i, s := range all {
		lines[i] = fmt.Sprintf("%d. %s", i+1, s)
	}
	return strings.Join(lines, "\n")
}
