// Package browser writes what the commands found as one HTML file: no script, nothing from a network, readable on a
// telephone, in light and dark and on paper. It lays out; what it shows was decided elsewhere, and is text of
// strangers: nothing of it is obeyed.
//
// Start reading at Write.
package browser

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Page is one file.
type Page struct {
	Title    string
	Links    []Cell // to other pages; none: it is a file by itself
	Version  string // of the program
	Made     time.Time
	Sections []Section
}

// Section is one job, or one sum over jobs. What is empty is left out.
type Section struct {
	Title   string
	Word    string // what it amounts to, "not healthy"
	State   State
	Lead    string // the answer in one sentence
	Line    string // the decisive line, as it was printed
	Facts   [][2]string
	Steps   []string // what to do, in order
	Text    string   // why; [1] leads to the first of Cited
	Cited   []string // what the numbers stand for, each beginning with its own
	Notes   []string
	Chart   *Chart
	Pools   []Pool
	NoJob   bool // the pools are as they are, and not as a job sees them
	Tables  []Table
	Details []Detail
}

// State is how a word looks, besides what it says.
type State string

// The states.
const (
	Good State = "good"
	Bad  State = "bad"
	Busy State = "busy" // not now, or a warning
	Dim  State = "dim"  // unknown
)

// Chart is a timeline.
type Chart struct {
	Caption string
	Ticks   []Tick
	Lanes   []Lane
}

// Tick is a word on the axis; At is in per cent of it, as all places here.
type Tick struct {
	At   float64
	Text string
}

// Lane is a bar from From to To, of which the part to Steps trained.
type Lane struct {
	Name, Node, Says string
	From, Steps, To  float64
	Marks            []Mark
	Waits            bool
}

// Mark is a sign on a bar, told by its shape and its title.
type Mark struct {
	At    float64
	Shape string // first, failed, well, runs, sign
	Title string
}

// Pool is a bar of what nodes have, with a row for those that are alike.
type Pool struct {
	Name, Text, More string
	Parts            []Part
	Rows             []Row
}

// Row is nodes that are alike.
type Row struct {
	Names, Note string
	Parts       []Part
}

// Part is a piece of a bar, From and Width in per cent.
type Part struct {
	From, Width float64
	Like        string // used, ours, free, closed, broken, hidden
	Title       string
}

// Table is rows below a head.
type Table struct {
	Title string
	Head  []string
	Rows  [][]Cell
}

// Cell is a text, which may lead to another page of ours.
type Cell struct {
	Text, To string
}

// Cells are texts that lead nowhere.
func Cells(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}

// Detail is what opens on demand.
type Detail struct {
	Title string
	Lines []string
}

//go:embed page.gohtml
var pageText string

//go:embed style.css
var style string

// Write writes the page. It is whole before the first byte leaves.
func Write(to io.Writer, p Page) error {
	var b strings.Builder
	if err := pageTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) }, //nolint:gosec // our own file
	"pc":    func(at float64) string { return fmt.Sprintf("%.2f%%", min(max(at, 0), 100)) },
	"cite":  cite,
	"plain": words.Visible,
	"utc":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
	"add":   func(i int) int { return i + 1 },
	"sub":   func(a, b float64) float64 { return a - b },
}).Parse(pageText))

var numbers = regexp.MustCompile(`\[(\d+)\]`)

// cite makes the numbers of a text links to what they stand for in its section, which cites so many.
func cite(section, cited int, text string) template.HTML {
	escaped := template.HTMLEscapeString(words.Visible(text))
	return template.HTML(numbers.ReplaceAllStringFunc(escaped, func(number string) string { //nolint:gosec // escaped, and the numbers are digits
		n, err := strconv.Atoi(number[1 : len(number)-1])
		if err != nil || n < 1 || n > cited {
			return number // of a log
		}
		return fmt.Sprintf(`<a href="#s%d-%d">%s</a>`, section, n, number)
	}))
}
