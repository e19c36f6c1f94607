package manifest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Form is how a view is written.
type Form struct {
	JSON  bool // else YAML, with items in flow style: a third of the size of block style
	Plain bool // every object in full; else kinds of which there are very many as tables
}

// manyObjects is how many objects of a kind are too many to write each of them in full:
// with fewer, a snapshot is what kubectl prints.
const manyObjects = 1000

// Write writes the view as a List, one object a line, or one row of a Table. A big cluster
// never stands in memory as text.
func (v View) Write(to io.Writer, form Form) error {
	w := bufio.NewWriterSize(to, 1<<16)
	lines, err := v.lines(form)
	if err != nil {
		return err
	}
	head, err := v.head(form, len(lines))
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	before, between, end := "- ", "", ""
	if form.JSON {
		before, between, end = "", ",", "]}\n"
	}
	for i, l := range lines {
		after := between
		if i == len(lines)-1 {
			after = ""
		}
		if err := l.write(w, before, after); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(w, end); err != nil {
		return err
	}
	return w.Flush()
}

// line is an item of the List that is written.
type line interface {
	write(w io.Writer, before, after string) error
}

// whole is an object that is written in full.
type whole struct{ *unstructured.Unstructured }

func (o whole) write(w io.Writer, before, after string) error {
	text, err := plainJSON(o.Object)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s%s\n", before, text, after)
	return err
}

// lines are the items: objects that follow each other and are of one kind may become tables.
func (v View) lines(form Form) ([]line, error) {
	if len(v.Pods) > 0 {
		return nil, fmt.Errorf("write %s: of pods only what counts was kept", words.Count(len(v.Pods), "pod", "pods"))
	}
	var out []line
	for from := 0; from < len(v.Objects); {
		to := from + 1
		for to < len(v.Objects) && v.Objects[to].GroupVersionKind() == v.Objects[from].GroupVersionKind() {
			to++
		}
		rest := v.Objects[from:to]
		if !form.Plain && to-from >= manyObjects {
			var tables []Table
			tables, rest = Tables(rest)
			for _, t := range tables {
				out = append(out, t)
			}
		}
		for _, o := range rest {
			out = append(out, whole{o})
		}
		from = to
	}
	return out, nil
}

// head is what the List says of itself, up to its first item.
func (v View) head(form Form, items int) (string, error) {
	names := func(all []schema.GroupResource) string {
		out := make([]string, len(all))
		for i, r := range all {
			out[i] = strings.TrimSuffix(r.String(), ".")
		}
		return strings.Join(out, ",")
	}
	notes := map[string]any{
		CompleteAnnotation: names(v.Complete),
		ObjectsAnnotation:  strconv.Itoa(len(v.Objects)), // so that half a file is found out
	}
	if len(v.Unserved) > 0 {
		notes[UnservedAnnotation] = names(v.Unserved)
	}
	if !v.Taken.IsZero() {
		notes[TakenAnnotation] = v.Taken.UTC().Format("2006-01-02T15:04:05Z")
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"annotations": notes}}
	if form.JSON {
		text, err := plainJSON(list)
		return string(bytes.TrimSuffix(text, []byte("}"))) + ",\"items\":[\n", err
	}
	text, err := yaml.Marshal(list)
	if items == 0 {
		return string(text) + "items: []\n", err
	}
	return string(text) + "items:\n", err
}

// plainJSON is JSON without the escapes that only HTML needs.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
