// Package promises holds what the documents ask of Signalbox, one row each: where it is asked, how
// to see it, and what holds it. The rows are in promises.tsv; docs/reference/promises.md is made of
// them, and a test of cmd/signalbox runs the commands.
//
// bundles, jobs and cluster are what the commands read: saved evidence of jobs, manifests as users
// write them, and the snapshot of a cluster.
package promises

//go:generate go run ./write

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

//go:embed promises.tsv
var table string

// State is whether a promise is kept.
type State string

// The states of a promise.
const (
	Kept    State = "yes"
	Open    State = "no"  // Why says what is missing, or why it stays so
	Outside State = "n/a" // Why says whose it is
)

// Row is one promise.
type Row struct {
	Number   int
	Document string // whose
	About    string // the part of it
	Promise  string
	State    State
	See      string   // a command, run at the root of the repository
	Shows    []string // in its output; with a ! before it: not in it
	Tests    []string // "package.Test"
	Why      string
}

// Rows are all promises in their order. An error names the line and what is wrong with it.
func Rows() ([]Row, error) { return read(table) }

func read(text string) ([]Row, error) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if want := "row\tdocument\tabout\tpromise\tstate\tsee\tshows\ttest\twhy"; lines[0] != want {
		return nil, fmt.Errorf("promises.tsv:1: the columns are %q; expected %q", lines[0], want)
	}
	var out []Row
	for i, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != 9 {
			return nil, fmt.Errorf("promises.tsv:%d: %d cells; expected 9", i+2, len(cells))
		}
		n, err := strconv.Atoi(cells[0])
		if err != nil || n != i+1 {
			return nil, fmt.Errorf("promises.tsv:%d: row %q; expected %d", i+2, cells[0], i+1)
		}
		r := Row{
			Number: n, Document: cells[1], About: cells[2], Promise: cells[3], State: State(cells[4]), See: cells[5],
			Shows: split(cells[6], " && "), Tests: split(cells[7], " "), Why: cells[8],
		}
		if problem := r.problem(); problem != "" {
			return nil, fmt.Errorf("promises.tsv:%d: %s", i+2, problem)
		}
		out = append(out, r)
	}
	return out, nil
}

func split(cell, by string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(cell, by)
}

// problem is what a row lacks.
func (r Row) problem() string {
	switch {
	case !slices.Contains([]State{Kept, Open, Outside}, r.State):
		return fmt.Sprintf("state is %q; expected yes, no or n/a", r.State)
	case r.Promise == "" || r.Document == "":
		return "document and promise are empty"
	case r.State == Kept && (r.See == "" || len(r.Shows)+len(r.Tests) == 0):
		return "a promise that is kept names a command, and what it shows or a test"
	case r.State != Kept && r.Why == "":
		return "a promise that is not kept says why"
	}
	return ""
}

// Runs says that the command needs nothing but this repository, so that a test can run it.
func (r Row) Runs() bool { return len(r.Shows) > 0 && strings.HasPrefix(r.See, "signalbox ") }

// Page is docs/reference/promises.md.
func Page(rows []Row) string {
	var b strings.Builder
	count := map[State]int{}
	for _, r := range rows {
		count[r.State]++
	}
	b.WriteString("# Promises\n\nWhat the documents that Signalbox was made for ask of it, row by row: the Aegis manual of PyTorchJob diagnosis, OpenPAI's\nguide to debugging jobs, the questions about Kubeflow Trainer, the manual of T9k's ColossalAIJob, and the design.\n\n")
	fmt.Fprintf(&b, "Of %d rows %d hold, %d do not and say why, and %d are not for Signalbox to keep. Where a row names what its command shows, a test\nruns the command; the other tests are named.\n\n", len(rows), count[Kept], count[Open], count[Outside])
	b.WriteString("Written from `test/promises/promises.tsv` by `go generate ./test/promises`; do not edit.\n")
	document, about := "", ""
	for _, r := range rows {
		if r.Document != document {
			fmt.Fprintf(&b, "\n## %s\n", r.Document)
			document, about = r.Document, "-"
		}
		if r.About != about {
			if r.About != "" {
				fmt.Fprintf(&b, "\n### %s\n", r.About)
			}
			b.WriteString("\n| | the document says | does it? | see it | held by |\n|---|---|---|---|---|\n")
			about = r.About
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s |\n", r.Number, cell(r.Promise), r.answer(), r.how(), r.held())
	}
	return b.String()
}

func (r Row) answer() string {
	if r.Why == "" {
		return string(r.State)
	}
	return string(r.State) + ": " + cell(r.Why)
}

func (r Row) how() string {
	if r.See == "" {
		return ""
	}
	var out strings.Builder
	out.WriteString("`" + cell(r.See) + "`")
	for i, s := range r.Shows {
		word := " shows "
		if i > 0 {
			word = ", "
		}
		if not, ok := strings.CutPrefix(s, "!"); ok {
			word, s = strings.Replace(word, "shows ", "does not show ", 1), not
		}
		out.WriteString(word + "`" + cell(s) + "`")
	}
	return out.String()
}

func (r Row) held() string {
	tests := slices.Clone(r.Tests)
	if r.Runs() {
		tests = append([]string{fmt.Sprintf("main.TestEveryPromiseIsKept/%d", r.Number)}, tests...)
	}
	return strings.Join(tests, ", ")
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
