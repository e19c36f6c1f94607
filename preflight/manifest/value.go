package manifest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth bounds nesting. No Kubernetes type comes near it; the API server's own JSON
	// decoder stops at 10000 (k8s.io/apimachinery/pkg/util/json, maxDepth, v0.37).
	maxDepth = 1000
	// maxAliased bounds what anchors may multiply one document into.
	maxAliased = 200_000
	// maxBytes and maxValues bound one object, and a list that cannot be cut at its elements: a
	// tree of nodes needs a few hundred bytes for each value. The API server takes no request of
	// more than 3 MiB (k8s.io/apiserver/pkg/server, MaxRequestBodyBytes, v0.37).
	maxBytes  = 64 << 20
	maxValues = 4_000_000
)

// tooLarge says, before it is parsed, that a text would fill the memory as one object. What
// separates values is counted: lines, commas, brackets and dashes.
func tooLarge(source string, c chunk) error {
	p := &Problem{Source: source, Line: c.line, Want: "Kubernetes objects, each in a document or an element of a List of its own"}
	if len(c.text) > maxBytes {
		p.Have = fmt.Sprintf("one object of %d MiB", len(c.text)>>20)
		return p
	}
	if len(c.text) < maxValues {
		return nil
	}
	values := 0
	for _, mark := range []string{"\n", ",", "[", "{", "- "} {
		values += bytes.Count(c.text, []byte(mark))
	}
	if values > maxValues {
		p.Have = fmt.Sprintf("one object of more than %d values", maxValues)
		return p
	}
	return nil
}

// values turns nodes into what unstructured objects hold: map[string]any, []any, string,
// int64, float64, bool and nil.
type values struct {
	source  string
	base    int          // lines before the nodes' line 1
	aliased int          // nodes made through aliases so far
	open    []*yaml.Node // aliases being followed
	depth   int
}

func (v *values) problem(line int, have, want string) error {
	return &Problem{Source: v.source, Line: v.base + line, Have: have, Want: want}
}

func (v *values) of(n *yaml.Node) (any, error) {
	if len(v.open) > 0 {
		if v.aliased++; v.aliased > maxAliased {
			return nil, v.problem(v.open[0].Line, fmt.Sprintf("aliases multiply the document into more than %d values", maxAliased), "anchors that stand for a few lines")
		}
	}
	if v.depth++; v.depth > maxDepth {
		return nil, v.problem(n.Line, fmt.Sprintf("nested more than %d levels deep", maxDepth), "a Kubernetes object")
	}
	defer func() { v.depth-- }()
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil
		}
		return v.of(n.Content[0])
	case yaml.AliasNode:
		return v.alias(n)
	case yaml.MappingNode:
		return v.mapping(n)
	case yaml.SequenceNode:
		return v.list(n)
	default:
		return v.scalar(n)
	}
}

func (v *values) alias(n *yaml.Node) (any, error) {
	if slices.ContainsFunc(v.open, func(o *yaml.Node) bool { return o.Alias == n.Alias }) {
		return nil, v.problem(n.Line, fmt.Sprintf("anchor %q contains itself", n.Value), "an anchor that ends before it is used")
	}
	v.open = append(v.open, n)
	defer func() { v.open = v.open[:len(v.open)-1] }()
	return v.of(n.Alias)
}

func (v *values) list(n *yaml.Node) (any, error) {
	out := make([]any, 0, len(n.Content))
	for _, c := range n.Content {
		value, err := v.of(c)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}

func (v *values) mapping(n *yaml.Node) (any, error) {
	out := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, c := n.Content[i], n.Content[i+1]
		if isMerge(k) {
			continue
		}
		name, err := v.key(k)
		if err != nil {
			return nil, err
		}
		if out[name], err = v.of(c); err != nil {
			return nil, err
		}
	}
	return out, v.merge(n, out)
}

// merge adds what merge keys bring, behind what is written out; the first one named wins.
func (v *values) merge(n *yaml.Node, out map[string]any) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		sources := []*yaml.Node{n.Content[i+1]}
		if s := follow(n.Content[i+1]); s.Kind == yaml.SequenceNode {
			sources = s.Content
		}
		for _, s := range sources {
			value, err := v.of(s)
			if err != nil {
				return err
			}
			m, ok := value.(map[string]any)
			if !ok {
				return v.problem(s.Line, "the merge key << brings something that is not a mapping", "an alias of a mapping")
			}
			for name, add := range m {
				if _, have := out[name]; !have {
					out[name] = add
				}
			}
		}
	}
	return nil
}

// key is a mapping key as JSON has it: numbers and booleans become text.
func (v *values) key(k *yaml.Node) (string, error) {
	if k = follow(k); k.Kind == yaml.ScalarNode {
		value, err := v.scalar(k)
		if err != nil {
			return "", err
		}
		switch value.(type) {
		case nil:
			return "", v.problem(k.Line, "a key is empty", "a word before the colon")
		case string:
			return k.Value, nil
		default:
			return fmt.Sprint(value), nil
		}
	}
	return "", v.problem(k.Line, "a key is itself a mapping or a list", "a word before the colon (a {{…}} that no template engine has filled in reads like this)")
}

// oldBooleans are plain words that kubectl's decoder takes for booleans (sigs.k8s.io/yaml
// follows YAML 1.1: https://yaml.org/type/bool.html); yaml.v3 alone would say string.
var oldBooleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// fromJSON marks scalars that were JSON: there 2.0 stays a fraction, as in the API server.
const fromJSON = yaml.FlowStyle

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

func (v *values) scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		b, known := oldBooleans[n.Value]
		return b || !known && strings.EqualFold(n.Value, "true"), nil
	case "!!int":
		return v.integer(n)
	case "!!float":
		return v.float(n)
	case "!!binary":
		b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(n.Value), ""))
		if err != nil {
			return nil, v.problem(n.Line, "a !!binary value is not base64", "base64")
		}
		return string(b), nil
	default:
		if b, known := oldBooleans[n.Value]; known && n.Style&(quoted|yaml.TaggedStyle) == 0 {
			return b, nil
		}
		return n.Value, nil
	}
}

func (v *values) integer(n *yaml.Node) (any, error) {
	plain := strings.ReplaceAll(n.Value, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return i, nil
	}
	var i int64
	if err := n.Decode(&i); err == nil {
		return i, nil
	}
	return v.float(n)
}

func (v *values) float(n *yaml.Node) (any, error) {
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, v.problem(n.Line, fmt.Sprintf("%s is not a number that JSON can hold", n.Value), "a finite number, or quotes around it")
	}
	if n.Style&fromJSON != 0 {
		return f, nil
	}
	// kubectl goes through JSON, where 2.0 is written 2 and read back as an integer.
	if b, err := json.Marshal(f); err == nil {
		if i, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return i, nil
		}
	}
	return f, nil
}
