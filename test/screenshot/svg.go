// Package screenshot draws what a terminal shows as an SVG, for the pages of the project: a picture that is made of
// real output, can be read in a review as text, and is sharp at any size.
package screenshot

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The size of a character cell and the edge around them, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 19
	edge       = 16
)

// style follows the colours of the reader's system: the text has a contrast of 4.5 or more in both.
const style = `
.b{fill:#ffffff;stroke:#d1d9e0}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:#1f2328}
.s1{font-weight:700}.s2{fill:#59636e}
.s31{fill:#b3232c}.s32{fill:#136c2c}.s33{fill:#7d5200}.s34{fill:#0856b3}.s35{fill:#7438b8}.s36{fill:#0a6566}
@media(prefers-color-scheme:dark){
.b{fill:#0d1117;stroke:#30363d}
text{fill:#e6edf3}
.s2{fill:#9198a1}
.s31{fill:#ff8b82}.s32{fill:#5fcb70}.s33{fill:#dca83c}.s34{fill:#79b8ff}.s35{fill:#c8a2ff}.s36{fill:#56cfd2}
}
`

// sgr are the sequences that choose colours and weight (ECMA-48, 8.3.117).
var sgr = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// SVG draws a text as a terminal of so many columns shows it, colours among it. words say what the picture shows.
func SVG(text string, columns int, words string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for _, l := range lines {
		columns = max(columns, ansi.StringWidth(l))
	}
	width, height := 2*edge+int(float64(columns)*cellWidth+0.5), 2*edge+cellHeight*len(lines)
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", width, height, width, height, html.EscapeString(words))
	fmt.Fprintf(&b, "<style>%s</style>\n<rect class=\"b\" x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", style, width-1, height-1)
	on := map[string]bool{}
	for i, l := range lines {
		row(&b, l, edge+cellHeight*i+14, on)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// row draws one line. Every run of one style has its own place and length: what fonts a reader has moves nothing.
func row(b *strings.Builder, line string, y int, on map[string]bool) {
	column, from := 0, 0
	put := func(text string) {
		cells := ansi.StringWidth(text)
		if strings.TrimSpace(text) != "" {
			fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"%s>%s</text>\n",
				edge+float64(column)*cellWidth, y, float64(cells)*cellWidth, class(on), html.EscapeString(text))
		}
		column += cells
	}
	for _, at := range sgr.FindAllStringSubmatchIndex(line, -1) {
		put(line[from:at[0]])
		from = at[1]
		for code := range strings.SplitSeq(line[at[2]:at[3]], ";") {
			choose(on, code)
		}
	}
	put(line[from:])
}

// choose switches a style on or off.
func choose(on map[string]bool, code string) {
	switch code {
	case "", "0":
		clear(on)
	case "22":
		delete(on, "1")
		delete(on, "2")
	default:
		if len(code) == 2 && code[0] == '3' { // one colour at a time; 39 is that of the text
			for c := range on {
				if len(c) == 2 {
					delete(on, c)
				}
			}
		}
		on[code] = true
	}
}

func class(on map[string]bool) string {
	var names []string
	for _, code := range []string{"1", "2", "31", "32", "33", "34", "35", "36"} {
		if on[code] {
			names = append(names, "s"+code)
		}
	}
	if names == nil {
		return ""
	}
	return ` class="` + strings.Join(names, " ") + `"`
}
