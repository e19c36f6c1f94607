package manifest

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// How a snapshot calls a Table: an item of its List like any other.
const (
	TableGroup   = "snapshot.signalbox.dev"
	TableVersion = TableGroup + "/v1"
	TableKind    = "Objects"
)

const (
	// tableRows is how many objects a table holds at most: a reader holds one table at a time.
	tableRows = 1000
	// fewRows are not worth a table: what they share is written once for each of them.
	fewRows = 4
)

// Table is objects of one kind that differ in few places. A hundred thousand pods repeat
// the same labels, owners and requests; in a table what they share is written once.
type Table struct {
	Like    map[string]any // the objects; null where a column belongs
	Columns []job.Path
	// Rows are the values of the columns, one object each. Null, and what a short row leaves
	// out, is as in the row above; so the first row says everything.
	Rows [][]any
}

// Tables writes objects as tables, those of the same outline together and in the order in
// which they came. rest are those that are better written in full.
func Tables(objects []*unstructured.Unstructured) (tables []Table, rest []*unstructured.Unstructured) {
	var drawers []*drawer
	by := map[string]*drawer{}
	var f flat
	for _, o := range objects {
		f.of(o.Object)
		if f.holes {
			rest = append(rest, o)
			continue
		}
		d := by[string(f.outline)]
		if d == nil {
			d = &drawer{paths: places(nil, o.Object, "")}
			by[string(f.outline)] = d
			drawers = append(drawers, d)
		}
		d.objects, d.values = append(d.objects, o), append(d.values, slices.Clone(f.values))
	}
	for _, d := range drawers {
		if len(d.objects) < fewRows {
			rest = append(rest, d.objects...)
			continue
		}
		tables = append(tables, d.tables()...)
	}
	return tables, rest
}

// drawer is objects that have values at the same places.
type drawer struct {
	paths   []job.Path
	objects []*unstructured.Unstructured
	values  [][]any // by object, in the order of the paths
}

// tables are the objects of the drawer. What its tables share is the same in all of them.
func (d *drawer) tables() []Table {
	columns := d.columns()
	like, paths := runtime.DeepCopyJSON(d.objects[0].Object), make([]job.Path, len(columns))
	for i, at := range columns {
		paths[i] = d.paths[at]
		_ = paths[i].Replace(like, nil) // it was found there
	}
	var out []Table
	for values := range slices.Chunk(d.values, tableRows) {
		t := Table{Like: like, Columns: paths, Rows: make([][]any, len(values))}
		for i := range values {
			row := make([]any, len(columns))
			said := 0
			for j, at := range columns {
				if v := values[i][at]; i == 0 || v != values[i-1][at] {
					row[j], said = v, j+1
				}
			}
			t.Rows[i] = row[:said]
		}
		out = append(out, t)
	}
	return out
}

// columns are the places at which the objects differ. What changes most often stands in
// front, so that most rows are short.
func (d *drawer) columns() []int {
	var out []int
	changes := make([]int, len(d.paths))
	for at := range d.paths {
		for i := 1; i < len(d.values); i++ {
			if d.values[i][at] != d.values[i-1][at] {
				changes[at]++
			}
		}
		if changes[at] > 0 {
			out = append(out, at)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return changes[b] - changes[a] })
	return out
}

// flat is an object as its outline and what stands at its places.
type flat struct {
	outline []byte // equal for objects with values at the same places
	values  []any  // string, bool, int64 or float64, in the order of places
	holes   bool   // something is null: a table could not tell it from a column
}

func (f *flat) of(object map[string]any) {
	f.outline, f.values, f.holes = f.outline[:0], f.values[:0], false
	f.add(object)
}

func (f *flat) add(v any) {
	switch v := v.(type) {
	case map[string]any:
		f.outline = append(f.outline, '{')
		for _, key := range slices.Sorted(maps.Keys(v)) {
			f.outline = append(strconv.AppendQuote(f.outline, key), ':')
			f.add(v[key])
		}
		f.outline = append(f.outline, '}')
	case []any:
		f.outline = append(f.outline, '[')
		for _, e := range v {
			f.add(e)
		}
		f.outline = append(f.outline, ']')
	case string, bool, int64, float64:
		f.outline = append(f.outline, '.')
		f.values = append(f.values, v)
	default:
		f.holes = true
	}
}

// places are the paths to the values of an object, in the order in which flat has them.
func places(to []job.Path, v any, at job.Path) []job.Path {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			to = places(to, v[key], at.Key(key))
		}
	case []any:
		for i, e := range v {
			to = places(to, e, at.Index(i))
		}
	default:
		to = append(to, at)
	}
	return to
}

// head is the table as JSON without its rows; two tables with the same head share everything
// but rows.
func (t Table) head() (string, error) {
	text, err := plainJSON(struct {
		Version string         `json:"apiVersion"`
		Kind    string         `json:"kind"`
		Like    map[string]any `json:"like"`
		Columns []job.Path     `json:"columns"`
	}{TableVersion, TableKind, t.Like, t.Columns})
	return strings.TrimSuffix(string(text), "}"), err
}

// write writes the table as JSON, a row on each line.
func (t Table) write(w io.Writer, before, after string) error {
	head, err := t.head()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s%s,\"rows\":[\n", before, head); err != nil {
		return err
	}
	for i, row := range t.Rows {
		text, err := plainJSON(row)
		if err != nil {
			return err
		}
		end := ",\n"
		if i == len(t.Rows)-1 {
			end = "]}" + after + "\n"
		}
		if _, err := fmt.Fprintf(w, "  %s%s", text, end); err != nil {
			return err
		}
	}
	return nil
}
