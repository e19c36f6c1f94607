package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// bigList is the size from which the items of a list are read one by one, so that a
// snapshot of 50 MB never becomes one tree of nodes (about 20 times its text).
const bigList = 1 << 20

// Documents are the objects of the source in their order, lists taken apart. What cannot
// be read comes as a *Problem in its place, and reading goes on with the next document.
func (s Source) Documents() iter.Seq2[Document, error] { return s.documents(false) }

func (s Source) documents(quick bool) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		r, err := s.open()
		if err != nil {
			yield(Document{}, &Problem{Source: s.Name, Have: cause(err), Want: "a readable file"})
			return
		}
		defer func() { _ = r.Close() }() // only read from
		read(s.Name, r, quick)(yield)
	}
}

// Read are the objects of a stream; see Source.Documents.
func Read(name string, r io.Reader) iter.Seq2[Document, error] { return read(name, r, false) }

// read is Read; where no lines within an object are asked for, items of big lists that are
// JSON are read without a tree of nodes, in a tenth of the time.
func read(name string, r io.Reader, quick bool) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		d := &reading{source: name, yield: yield, quick: quick}
		split, err := newSplitter(r)
		if err != nil {
			yield(Document{}, &Problem{Source: name, Have: cause(err), Want: "YAML or JSON, plain or compressed with gzip"})
			return
		}
		for {
			c, err := split.chunk()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				p := &Problem{Source: name, Line: split.line, Have: cause(err), Want: "a whole stream of YAML or JSON"}
				if errors.Is(err, io.ErrUnexpectedEOF) {
					p.Have, p.Want = "the compressed stream ends too early", "all of it (was the file cut off?)"
				}
				yield(Document{}, p)
				return
			}
			if !d.document(c) {
				return
			}
		}
	}
}

// reading hands the documents of one stream on.
type reading struct {
	source string
	yield  func(Document, error) bool
	quick  bool // lines within objects are not asked for, and tables are welcome
	purse  purse
}

func (d *reading) document(c chunk) bool {
	if blank(c.text) {
		return true
	}
	if i := bytes.IndexByte(c.text, 0); i >= 0 {
		line := c.line + bytes.Count(c.text[:i], []byte{'\n'})
		d.fail(&Problem{Source: d.source, Line: line, Have: "a zero byte: this is not text", Want: "YAML or JSON"})
		return false // the rest of such a file says nothing else
	}
	if first := bytes.TrimSpace(c.text); first[0] == '{' && (d.isJSON() || likeJSON(first)) {
		return d.json(c)
	}
	if len(c.text) >= bigList {
		if frame, items, ok := yamlList(c); ok {
			if done, on := d.yamlItems(frame, items); done {
				return on
			}
		}
	}
	node, err := parseYAML(d.source, c)
	if err == nil {
		return d.tree(node, c.line-1)
	}
	if chunks := dedent(c); chunks != nil {
		if on, ok := d.dedented(chunks); ok {
			return on
		}
	}
	return d.fail(err)
}

func (d *reading) isJSON() bool {
	return strings.HasSuffix(strings.TrimSuffix(d.source, ".gz"), ".json")
}

// likeJSON tells JSON from YAML in flow style: the first key is in double quotes.
func likeJSON(text []byte) bool {
	rest := bytes.TrimSpace(text[1:])
	return len(rest) == 0 || rest[0] == '"'
}

// dedented reads a stream whose lines, markers too, are all indented.
func (d *reading) dedented(chunks []chunk) (on, ok bool) {
	var nodes []*yaml.Node
	for _, c := range chunks {
		node, err := parseYAML(d.source, c)
		if err != nil {
			return true, false
		}
		nodes = append(nodes, node)
	}
	for i, node := range nodes {
		if !d.tree(node, chunks[i].line-1) {
			return false, true
		}
	}
	return true, true
}

func (d *reading) json(c chunk) bool {
	if len(c.text) >= bigList {
		if frame, items, ok := jsonList(c.text); ok {
			return d.jsonItems(c, frame, items)
		}
		// No list, or none to its end: that is found out before a tree is made of it.
		if err := newJSONTree(d.source, c.text, c.line-1, 0).walk(); err != nil {
			return d.fail(err)
		}
		if err := tooLarge(d.source, c); err != nil {
			return d.fail(err)
		}
	}
	t := newJSONTree(d.source, c.text, c.line-1, 0)
	for {
		node, err := t.next()
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil {
			return d.fail(err)
		}
		if !d.tree(node, c.line-1) {
			return false
		}
	}
}

// jsonItems reads the items of a big list one after the other.
func (d *reading) jsonItems(c chunk, fields map[string]json.RawMessage, items [][2]int) bool {
	var frame map[string]any
	whole, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(whole, &frame)
	}
	if err != nil {
		return d.fail(&Problem{Source: d.source, Line: c.line, Have: cause(err), Want: "a list"})
	}
	from := cursor{line: c.line - 1}
	for _, span := range items {
		from.to(c.text, span[0])
		line := from.line
		if err := tooLarge(d.source, chunk{c.text[span[0]:span[1]], line + 1}); err != nil {
			if !d.fail(err) {
				return false
			}
			continue
		}
		if fields, ok := d.quickly(c.text[span[0]:span[1]]); ok {
			inherit(fields, frame)
			if !d.object(&yaml.Node{Kind: yaml.MappingNode, Line: 1}, line, fields, 1) {
				return false
			}
			continue
		}
		t := newJSONTree(d.source, c.text[span[0]:span[1]], line, from.column)
		node, err := t.next()
		if err != nil {
			if !d.fail(err) {
				return false
			}
			continue
		}
		if !d.item(node, line, frame) {
			return false
		}
	}
	return d.frame(Document{Line: c.line}, frame)
}

// laborious finds amounts that take minutes to read (1e-2147483648), and now and then a
// name that looks like one.
var laborious = regexp.MustCompile(`[0-9.][eE][+-]?[0-9]{3}|[0-9]{64}`)

// pod reads a pod that is written in JSON and says so, in half the time; ok is false for
// everything else, and for what the long way may have something to say of.
func (d *reading) pod(text []byte) (p *corev1.Pod, ok bool) {
	const kind = `"Pod"`
	if text = bytes.TrimSpace(text); !d.quick || len(text) == 0 || text[0] != '{' || !bytes.Contains(text, []byte(kind)) || bytes.IndexByte(text, 0) >= 0 || laborious.Match(text) {
		return nil, false
	}
	p = &corev1.Pod{}
	if utiljson.Unmarshal(text, p) != nil || p.GroupVersionKind() != podKind {
		return nil, false
	}
	return p, true
}

// quickly reads an object that is written in JSON; ok is false for any other, and where
// the slow way knows better what to say of it.
func (d *reading) quickly(text []byte) (fields map[string]any, ok bool) {
	if text = bytes.TrimSpace(text); !d.quick || len(text) == 0 || text[0] != '{' || bytes.IndexByte(text, 0) >= 0 {
		return nil, false
	}
	if utiljson.Unmarshal(text, &fields) != nil || fields == nil {
		return nil, false
	}
	return fields, true
}

// yamlItems reads the items of a big list one after the other. done is false when the
// cut was wrong somewhere and nothing was handed on yet.
func (d *reading) yamlItems(frame chunk, items []chunk) (done, on bool) {
	node, err := parseYAML(d.source, frame)
	if err != nil {
		return false, true
	}
	v := &values{source: d.source, base: frame.line - 1}
	value, err := v.of(node)
	fields, ok := value.(map[string]any)
	if err != nil || !ok || !isList(fields) {
		return false, true
	}
	for i, c := range items {
		if pod, ok := d.pod(bytes.TrimPrefix(bytes.TrimLeft(c.text, " "), []byte("- "))); ok {
			if !d.yield(Document{Source: d.source, Line: c.line, pod: pod}, nil) {
				return true, false
			}
			continue
		}
		if value, ok := d.quickly(bytes.TrimPrefix(bytes.TrimLeft(c.text, " "), []byte("- "))); ok {
			inherit(value, fields)
			if !d.object(&yaml.Node{Kind: yaml.MappingNode, Line: 1}, c.line-1, value, 1) {
				return true, false
			}
			continue
		}
		node, err := parseYAML(d.source, c)
		if err != nil && i == 0 {
			return false, true
		}
		if err != nil {
			if !d.fail(err) {
				return true, false
			}
			continue
		}
		seq := node
		if seq.Kind == yaml.DocumentNode && len(seq.Content) == 1 {
			seq = seq.Content[0]
		}
		for _, n := range seq.Content {
			if !d.item(n, c.line-1, fields) {
				return true, false
			}
		}
	}
	at := node.Content[0]
	return true, d.frame(Document{Line: frame.line - 1 + at.Line, node: at, base: frame.line - 1}, fields)
}

// tree hands one parsed document on.
func (d *reading) tree(node *yaml.Node, base int) bool {
	if node.Kind == yaml.DocumentNode {
		if len(node.Content) == 0 {
			return true
		}
		node = node.Content[0]
	}
	v := &values{source: d.source, base: base}
	value, err := v.of(node)
	if err != nil {
		return d.fail(err)
	}
	return d.object(node, base, value, 0)
}

// item hands one element of a list on; what a typed list (PodList) leaves out of its
// items is taken from the list.
func (d *reading) item(node *yaml.Node, base int, frame map[string]any) bool {
	v := &values{source: d.source, base: base}
	value, err := v.of(node)
	if err != nil {
		return d.fail(err)
	}
	if m, ok := value.(map[string]any); ok {
		inherit(m, frame)
	}
	return d.object(node, base, value, 1)
}

func (d *reading) object(node *yaml.Node, base int, value any, depth int) bool {
	line := base + node.Line
	fields, ok := value.(map[string]any)
	switch {
	case value == nil:
		return true
	case !ok:
		return d.fail(&Problem{Source: d.source, Line: line, Have: "a " + kindOf(value), Want: "a Kubernetes object with apiVersion and kind", NotObject: true})
	case isList(fields) && depth < 10:
		return d.list(node, base, fields, depth)
	case fields["kind"] == "List" && fields["apiVersion"] == "v1" && fields["items"] != nil && !isList(fields):
		return d.fail(&Problem{Source: d.source, Line: line, Have: "a List whose items are no list", Want: "a list of objects"})
	}
	if isProtocol(fields) {
		return d.protocol(node, base, fields)
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if s, ok := fields[name].(string); !ok || s == "" {
			key, _ := entry(follow(node), name)
			return d.fail(missing(d.source, line, base, key, name, fields))
		}
	}
	if isTable(fields) {
		return d.table(node, base, fields)
	}
	return d.yield(Document{Object: &unstructured.Unstructured{Object: fields}, Source: d.source, Line: line, node: node, base: base}, nil)
}

func missing(source string, line, base int, key *yaml.Node, name string, fields map[string]any) *Problem {
	p := &Problem{Source: source, Line: line, Have: name + " is missing", Want: "a Kubernetes object with apiVersion and kind"}
	p.NotObject = fields["apiVersion"] == nil && fields["kind"] == nil
	if key != nil {
		p.Line = base + key.Line
		p.Have = fmt.Sprintf("%s is %s", name, written(fields[name]))
		p.Want = "a word such as " + map[string]string{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"}[name]
	}
	return p
}

// list takes a list apart.
func (d *reading) list(node *yaml.Node, base int, fields map[string]any, depth int) bool {
	items, _ := fields["items"].([]any)
	_, seq := entry(follow(node), "items")
	seq = follow(seq)
	for i, value := range items {
		at := node
		if seq != nil && i < len(seq.Content) {
			at = seq.Content[i]
		}
		if m, ok := value.(map[string]any); ok {
			inherit(m, fields)
		}
		if !d.object(at, base, value, depth+1) {
			return false
		}
	}
	return d.frame(Document{Line: base + node.Line, node: node, base: base}, fields)
}

// frame hands on what a list says about itself.
func (d *reading) frame(at Document, fields map[string]any) bool {
	delete(fields, "items")
	at.Object, at.Source, at.List = &unstructured.Unstructured{Object: fields}, d.source, true
	return d.yield(at, nil)
}

func (d *reading) fail(err error) bool { return d.yield(Document{}, err) }

// isList recognises List, PodList … by kind and items: JobSetList is a list, PriceList
// without items is an object.
func isList(fields map[string]any) bool {
	kind, _ := fields["kind"].(string)
	items, have := fields["items"]
	_, seq := items.([]any)
	return strings.HasSuffix(kind, "List") && have && (seq || items == nil)
}

func inherit(item, list map[string]any) {
	kind, _ := list["kind"].(string)
	if single := strings.TrimSuffix(kind, "List"); single != "" && item["kind"] == nil && item["apiVersion"] == nil {
		item["kind"], item["apiVersion"] = single, list["apiVersion"]
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case []any:
		return "list"
	case string:
		return "single line of text"
	default:
		return "single value"
	}
}

// written is a value the way messages show it, cut short.
func written(v any) string {
	if v == nil {
		return "empty"
	}
	b, err := json.Marshal(v)
	if err != nil || len(b) > 60 {
		return "a " + kindOf(v)
	}
	return string(b)
}

// cause is an error without the words that repeat the file's name.
func cause(err error) string {
	var path interface{ Unwrap() error }
	if errors.As(err, &path) && path.Unwrap() != nil {
		return path.Unwrap().Error()
	}
	return filepath.ToSlash(err.Error())
}
