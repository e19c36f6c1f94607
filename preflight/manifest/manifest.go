// Package manifest reads Kubernetes objects from files: YAML and JSON streams, lists,
// folders, standard input, and snapshots of a cluster. It remembers where everything
// was written, so that a finding can point at file and line.
//
// It reads what kubectl reads, by kubectl's rules for booleans, numbers and merge keys: of
// a key that is written twice the last one counts, and Document.DuplicateKeys says what was lost.
// It does not validate against schemas and it fetches no URL.
//
// Start reading at Source.Documents; Snapshot is next.
package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Document is one object and the place where it was written.
type Document struct {
	Object *unstructured.Unstructured
	Source string // the file's name as the user gave it; "-" is standard input
	Line   int    // of the object's first key, from 1
	// List says that the object is the frame of a list whose items came as documents of
	// their own: kind and metadata, no items.
	List bool

	origins []origin // where its parts were written, if the object was made of another form
	remarks []remark // what its author may not expect of that
	node    *yaml.Node
	base    int         // lines before the node's line 1
	table   *Table      // many objects; Object is what they share
	pod     *corev1.Pod // instead of Object
}

// count is how many objects the document stands for.
func (d Document) count() int {
	if d.table != nil {
		return len(d.table.Rows)
	}
	return 1
}

// Where is "job.yaml:12", where the object begins.
func (d Document) Where() string { return place(d.Source, d.Line) }

// Position is the line, from 1, where a path was written; for a path that is not in the
// object (a default, something missing) it is the line of its nearest ancestor that is.
func (d Document) Position(path job.Path) int {
	line, _, _ := d.Place(path)
	return line
}

// Problem is a place that could not be read, what is there and what was expected.
type Problem struct {
	Source     string
	Line       int // 0: no single line
	Have, Want string
	NotObject  bool // readable, but nothing that claims to be a Kubernetes object
}

// Error is one line: "job.yaml:12: … ; expected …".
func (p *Problem) Error() string {
	s := place(p.Source, p.Line) + ": " + p.Have
	if p.Want != "" {
		s += "; expected " + p.Want
	}
	return s
}

// Where is the file and, where one is known, the line.
func (p *Problem) Where() string { return place(p.Source, p.Line) }

// Text is the problem without its place.
func (p *Problem) Text() string {
	return strings.TrimPrefix(p.Error(), p.Where()+": ")
}

func place(source string, line int) string {
	if source == "-" {
		source = "standard input"
	}
	if line == 0 {
		return source
	}
	return fmt.Sprintf("%s:%d", source, line)
}

// steps are the prefixes' last parts, outermost first: spec, containers, [0].
func steps(path job.Path) []job.Path {
	var out []job.Path
	for path != "" {
		parent := path.Parent()
		if parent == path {
			return nil // no path of an object
		}
		out = append(out, path.After(parent))
		path = parent
	}
	slices.Reverse(out)
	return out
}

// take finds one step below a node: the node that shows the line, and the value.
func take(at *yaml.Node, step job.Path) (key, value *yaml.Node) {
	inner, bracket := strings.CutPrefix(strings.TrimSuffix(string(step), "]"), "[")
	switch {
	case at == nil:
		return nil, nil
	case !bracket:
		return entry(at, string(step))
	case strings.HasPrefix(inner, `"`):
		word, err := strconv.Unquote(inner)
		if err != nil {
			return nil, nil
		}
		return entry(at, word)
	case at.Kind != yaml.SequenceNode:
		return nil, nil
	}
	if name, ok := strings.CutPrefix(inner, "name="); ok {
		for _, element := range at.Content {
			if _, v := entry(follow(element), "name"); v != nil && v.Value == name {
				return element, element
			}
		}
		return nil, nil
	}
	i, err := strconv.Atoi(inner)
	if err != nil || i < 0 || i >= len(at.Content) {
		return nil, nil
	}
	return at.Content[i], at.Content[i]
}

// entry finds a key of a mapping, of two that are the same the last one; a key that came by
// a merge is found where it is written.
func entry(at *yaml.Node, name string) (key, value *yaml.Node) {
	if at == nil || at.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := len(at.Content)&^1 - 2; i >= 0; i -= 2 {
		if at.Content[i].Value == name && !isMerge(at.Content[i]) {
			return at.Content[i], at.Content[i+1]
		}
	}
	for i := 0; i+1 < len(at.Content); i += 2 {
		if !isMerge(at.Content[i]) {
			continue
		}
		for _, from := range merged(at.Content[i+1]) {
			if from == at {
				continue
			}
			if k, v := entry(from, name); v != nil {
				return k, v
			}
		}
	}
	return nil, nil
}

// merged are the mappings that a merge key's value names.
func merged(value *yaml.Node) []*yaml.Node {
	value = follow(value)
	if value == nil || value.Kind != yaml.SequenceNode {
		return []*yaml.Node{value}
	}
	var out []*yaml.Node
	for _, v := range value.Content {
		out = append(out, follow(v))
	}
	return out
}

func follow(n *yaml.Node) *yaml.Node {
	for hops := 0; n != nil && n.Kind == yaml.AliasNode && hops < 100; hops++ {
		n = n.Alias
	}
	return n
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" }

// Inside is where a line, from 1, of a text of several stands that is written as it is (|), and what stands on it; ok is false
// where the text is written otherwise, or has no such line, or an empty one.
func (d Document) Inside(path job.Path, line int) (at int, text string, ok bool) {
	node := d.node
	for _, step := range steps(d.Written(path)) {
		if _, node = take(follow(node), step); node == nil {
			return 0, "", false
		}
	}
	if node == nil || node.Kind != yaml.ScalarNode || node.Style&yaml.LiteralStyle == 0 {
		return 0, "", false
	}
	lines := strings.Split(node.Value, "\n")
	if line < 1 || line > len(lines) {
		return 0, "", false
	}
	text = strings.TrimSpace(lines[line-1])
	return node.Line + d.base + line, text, text != ""
}

// Place is where a path was written: the line as Position has it, and the column, from 1, and the
// text of its value where that is a word on the line, else of its key. The column is 0 where only
// the object's place is known.
func (d Document) Place(path job.Path) (line, column int, word string) {
	path = d.Written(path)
	line, node := d.Line, d.node
	for _, step := range steps(path) {
		key, value := take(follow(node), step)
		if value == nil {
			break
		}
		line, column, word, node = key.Line+d.base, key.Column, key.Value, value
		if value.Kind == yaml.ScalarNode && value.Line == key.Line && !strings.Contains(value.Value, "\n") && value.Value != "" {
			column, word = value.Column, value.Value
		}
	}
	return line, column, word
}
