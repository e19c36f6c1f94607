package get

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// jobsSchema names the JSON of get jobs.
const jobsSchema = "signalbox.dev/jobs/v1"

// render prints jobs; all: each with its namespace.
func (f *Flags) render(sh *shell.Shell, rows []JobRow, all, first bool, paint terminal.Painter) error {
	if f.groupBy.Value != "" {
		return f.renderGroups(sh, rows)
	}
	switch f.output.Value {
	case "json", "yaml":
		return shell.RenderDocument(sh.Out, f.output.Value, struct {
			Schema   string   `json:"schema"`
			Jobs     []JobRow `json:"jobs"`
			Unlisted []string `json:"unlisted,omitempty"`
		}{jobsSchema, rows, f.missing.Failed})
	case "name":
		var b strings.Builder
		for _, r := range rows {
			// The name is kubectl's. The namespace, which kubectl leaves out, stands behind it, because without it the
			// name is of no use: a line is what xargs -L1 hands to diagnose, or to kubectl.
			word := func(name string) string { return words.ShellWord(words.VisibleLine(name)) } // xargs reads quotes
			b.WriteString(word(fmt.Sprintf("%s/%s", schema.FromAPIVersionAndKind(r.APIVersion, strings.ToLower(r.Kind)).GroupKind(), r.Name)))
			if f.all {
				b.WriteString(" -n " + word(r.Namespace))
			}
			if f.several {
				b.WriteString(" --context " + word(r.Context))
			}
			b.WriteString("\n")
		}
		_, err := io.WriteString(sh.Out, b.String())
		return err
	}
	if f.output.Value == "html" {
		return sh.WriteHTML("Training jobs", JobsSection(rows, f.notes, sh.Now(), false))
	}
	if len(rows) == 0 {
		return nil
	}
	if f.output.Value == "md" {
		_, err := io.WriteString(sh.Out, terminal.MarkdownTable(f.cells(sh, rows, all, true, terminal.Painter{})))
		return err
	}
	_, err := io.WriteString(sh.Out, terminal.Plainly(f.table(sh, rows, all, first, paint), os.Getenv))
	return err
}

// cells are the table of jobs, its head first: short for a terminal, or wide. all: each with its namespace.
func (f *Flags) cells(sh *shell.Shell, rows []JobRow, all, wide bool, paint terminal.Painter) [][]string {
	dash := func(s string) string { return cmp.Or(words.VisibleLine(s), "-") }
	head := []string{"KIND", "NAME", "AGE", "STATE", "HEALTHY", "CATEGORY", "FIRST POD", "DEVICES"}
	if wide {
		head = append(head, "SINCE", "OWNER", "NODE", "QUEUE", "SAYS")
	} else {
		head = append(head, "WAITS FOR")
	}
	if all {
		head = append([]string{"NAMESPACE"}, head...)
	}
	if f.several {
		head = append([]string{"CONTEXT"}, head...)
	}
	table := [][]string{head}
	for _, r := range rows {
		row := []string{
			r.Kind, words.VisibleLine(r.Name), r.age(sh.Now()), r.State,
			paint.Word(dash(r.Healthy)), dash(r.cause()), dash(r.Pod), r.devices(),
		}
		if wide {
			row = append(row, r.since(sh.Now()), dash(r.Owner), dash(r.where()), dash(r.Queue), dash(cmp.Or(r.Waiting, r.Error)))
		} else {
			row = append(row, dash(fewWords(r.Waiting)))
		}
		if all {
			row = append([]string{words.VisibleLine(r.Namespace)}, row...)
		}
		if f.several {
			row = append([]string{words.VisibleLine(r.Context)}, row...)
		}
		table = append(table, row)
	}
	return table
}

func (f *Flags) table(sh *shell.Shell, rows []JobRow, all, heading bool, paint terminal.Painter) string {
	wide := f.output.Value == "wide"
	table := f.cells(sh, rows, all, wide, paint)
	var spare, tight []int
	if !wide {
		spare, tight = append(f.filtered(), 7, 6), []int{3, 0, 2, 5}
		if f.sortBy.Value == "age" { // what it is sorted by stays
			tight = []int{3, 0, 5}
		}
	}
	for _, before := range []bool{all, f.several} {
		if !before {
			continue
		}
		for i := range spare {
			spare[i]++
		}
		for i := range tight {
			tight[i]++
		}
	}
	if !wide {
		kept := func(i int) bool { return f.sortBy.Value == "age" && table[0][i] == "AGE" }
		spare = slices.Concat(slices.DeleteFunc(saysNothing(table), kept), spare)
	}
	p := terminal.NewPage(sh.Out)
	p.Tight, p.Short = tight, !wide // a row is a line: what is cut is the matter of -o wide
	if f.watch {                    // later rows stand below those of the first print, with room for longer names
		const room = 4
		if f.widths == nil {
			f.widths = terminal.WidthsOf(table)
			for i := range f.widths {
				f.widths[i] += room
			}
		}
		for i, n := range terminal.WidthsOf(table) {
			f.widths[i] = max(f.widths[i], n)
		}
		p.Least = f.widths[:len(f.widths)-1]
	}
	names := p.LeftOut(table, spare...)
	if slices.Contains(names, "CATEGORY") && causesLast(table, rows) {
		names = slices.DeleteFunc(p.LeftOut(table, spare...), func(name string) bool { return name == "CATEGORY" })
	}
	if len(names) > 0 && heading {
		sh.Tell("no room for %s; -o wide shows them", terminal.Few(names))
	}
	text := p.Table(table, spare...)
	if !heading {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// causesLast has the last column say, beside what a job waits for, the cause of one that waits for nothing: where there is no room
// for both columns. It is false where there is no cause to say.
func causesLast(table [][]string, rows []JobRow) (some bool) {
	for i, r := range rows {
		if last := &table[i+1][len(table[i+1])-1]; *last == "-" && r.cause() != "" {
			*last, some = words.VisibleLine(r.cause()), true
		}
	}
	if some {
		table[0][len(table[0])-1] = "CAUSE"
	}
	return some
}

// filtered are the columns, by their place in a row without a namespace, of which a filter says what stands there.
func (f *Flags) filtered() (columns []int) {
	if f.healthy != nil && f.healthy.Value != "" {
		columns = append(columns, 4)
	}
	if f.state != nil && f.state.Value != "" {
		columns = append(columns, 3)
	}
	if f.kind != "" {
		columns = append(columns, 0)
	}
	return columns
}

// saysNothing are the columns, but for the last, that hold nothing but dashes: a narrow terminal gets the others first.
func saysNothing(table [][]string) (columns []int) {
	for i := range len(table[0]) - 1 {
		if len(table) > 1 && !slices.ContainsFunc(table[1:], func(row []string) bool { return row[i] != "-" }) {
			columns = append(columns, i)
		}
	}
	return columns
}
