package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// maxUnfolded bounds, in bytes, what the tables of one snapshot may stand for if all their
// objects were written in full: as much as may be written in full.
const maxUnfolded = maxDocument

// isTable recognises what claims to be a Table, of whatever version.
func isTable(fields map[string]any) bool {
	version, _ := fields["apiVersion"].(string)
	return strings.HasPrefix(version, TableGroup+"/")
}

// table hands the objects of a table on; to a reader that is in a hurry the table itself.
func (d *reading) table(node *yaml.Node, base int, fields map[string]any) bool {
	at := Document{Source: d.source, Line: base + node.Line, node: node, base: base}
	t, p := tableOf(fields)
	if p == nil {
		p = d.purse.spend(t)
	}
	if p != nil {
		p.Source, p.Line = d.source, at.Line
		return d.fail(p)
	}
	if d.quick {
		at.Object, at.table = &unstructured.Unstructured{Object: t.Like}, t
		return d.yield(at, nil)
	}
	for _, o := range t.objects() {
		at.Object = o
		if !d.yield(at, nil) {
			return false
		}
	}
	return true
}

// purse is how much of maxUnfolded the tables of a stream have used up.
type purse struct{ spent int }

func (p *purse) spend(t *Table) *Problem {
	text, err := t.head()
	if err != nil {
		return &Problem{Have: "like: " + err.Error(), Want: "what the objects share"}
	}
	if p.spent += len(text) * len(t.Rows); p.spent > maxUnfolded {
		return &Problem{Have: fmt.Sprintf("the tables up to here stand for more than %d MiB", maxUnfolded>>20), Want: "a snapshot of one cluster"}
	}
	return nil
}

// tableOf reads a table strictly. Its problem has no place yet.
func tableOf(fields map[string]any) (*Table, *Problem) {
	version, kind := fields["apiVersion"], fields["kind"]
	if version != TableVersion || kind != TableKind {
		return nil, &Problem{Have: fmt.Sprintf("%v of %v", kind, version), Want: TableKind + " of " + TableVersion + " (was the snapshot taken by a newer signalbox?)"}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"apiVersion", "kind", "like", "columns", "rows"}, name) {
			return nil, &Problem{Have: fmt.Sprintf("a table with the field %q", name), Want: "like, columns and rows"}
		}
	}
	t := &Table{}
	var ok bool
	if t.Like, ok = fields["like"].(map[string]any); !ok || isTable(t.Like) || isList(t.Like) {
		return nil, &Problem{Have: "like is " + written(fields["like"]), Want: "what the objects share"}
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if s, ok := t.Like[name].(string); !ok || s == "" {
			return nil, &Problem{Have: fmt.Sprintf("like.%s is %s", name, written(t.Like[name])), Want: "the " + name + " of the objects"}
		}
	}
	if p := t.readColumns(fields["columns"]); p != nil {
		return nil, p
	}
	return t, t.readRows(fields["rows"])
}

func (t *Table) readColumns(v any) *Problem {
	columns, ok := v.([]any)
	if !ok {
		return &Problem{Have: "columns is " + written(v), Want: "a list of paths, such as metadata.name"}
	}
	for i, c := range columns {
		path, _ := c.(string)
		column := job.Path(path)
		if now, err := column.Resolve(t.Like); path == "" || err != nil || now != nil || slices.Contains(t.Columns, column) {
			return &Problem{Have: fmt.Sprintf("columns[%d] is %s", i, written(c)), Want: "the path to a null in like, each once"}
		}
		t.Columns = append(t.Columns, column)
	}
	return nil
}

func (t *Table) readRows(v any) *Problem {
	rows, ok := v.([]any)
	if !ok {
		return &Problem{Have: "rows is " + written(v), Want: "a list of rows"}
	}
	t.Rows = make([][]any, len(rows))
	for i, r := range rows {
		row, ok := r.([]any)
		if !ok || len(row) > len(t.Columns) {
			return &Problem{Have: fmt.Sprintf("rows[%d] is %s", i, written(r)), Want: fmt.Sprintf("a list of at most %s", words.Count(len(t.Columns), "value", "values"))}
		}
		for j, v := range row {
			switch v.(type) {
			case map[string]any, []any:
				return &Problem{Have: fmt.Sprintf("rows[%d][%d] is %s", i, j, written(v)), Want: "text, a number, true, false, or null for what the row above says"}
			}
		}
		if i == 0 && (len(row) < len(t.Columns) || slices.Contains(row, nil)) {
			return &Problem{Have: fmt.Sprintf("rows[0] is %s", written(r)), Want: fmt.Sprintf("a first row of %s, none of them null", words.Count(len(t.Columns), "value", "values"))}
		}
		t.Rows[i] = row
	}
	return nil
}

// read goes through the rows with nothing left out. The values are overwritten by the
// next row; changed are the columns in which a row differs from the one above.
func (t *Table) read(do func(values []any, changed []int) error) error {
	values := make([]any, len(t.Columns))
	changed := make([]int, 0, len(t.Columns))
	for _, row := range t.Rows {
		changed = changed[:0]
		for i, v := range row {
			if v != nil {
				values[i], changed = v, append(changed, i)
			}
		}
		if err := do(values, changed); err != nil {
			return err
		}
	}
	return nil
}

// object is an object with the values of a row.
func (t *Table) object(values []any) *unstructured.Unstructured {
	fields := runtime.DeepCopyJSON(t.Like)
	for i, c := range t.Columns {
		_ = c.Replace(fields, values[i]) // readColumns found the place
	}
	return &unstructured.Unstructured{Object: fields}
}

// objects are all of them.
func (t *Table) objects() []*unstructured.Unstructured {
	out := make([]*unstructured.Unstructured, 0, len(t.Rows))
	_ = t.read(func(values []any, _ []int) error { // it returns none
		out = append(out, t.object(values))
		return nil
	})
	return out
}
