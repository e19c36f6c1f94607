package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// What is written for programs keeps each character of what it names: it is data, and kubectl keeps it, too
// (https://github.com/kubernetes/kubernetes/pull/112553 escapes what is for people, in JSON and YAML controls alone). A terminal, a pager and the page of a diff
// show the same text, and a mark of direction turns around the line that stands there. So such characters are written as
// escapes, which every reader of these formats takes for the character itself (RFC 8259, section 7; YAML 1.2.2, section 5.7;
// XML 1.0, section 4.1).

// hidden says whether a character that may stand in such a format is not seen where it stands, or obeyed.
func hidden(r rune) bool { return r >= 0x7f && words.Hidden(r) }

// escapeHidden writes hidden characters as escapes.
func escapeHidden(text []byte, escape func(to []byte, r rune) []byte) []byte {
	if bytes.IndexFunc(text, hidden) < 0 {
		return text
	}
	out := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if hidden(r) {
			out = escape(out, r)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	return out
}

// inJSON is an escape in a string of JSON, outside of which nothing stands beyond ASCII.
func inJSON(to []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(to, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(to, `\u%04x`, r)
}

func inYAML(to []byte, r rune) []byte { return fmt.Appendf(to, `\U%08x`, r) }

func inXML(to []byte, r rune) []byte { return fmt.Appendf(to, `&#x%X;`, r) }

// EscapeXML is an XML document with its hidden characters as references.
func EscapeXML(text []byte) []byte { return escapeHidden(text, inXML) }

// EscapeJSON is a JSON document, or lines of them, with its hidden characters as escapes.
func EscapeJSON(text []byte) []byte { return escapeHidden(text, inJSON) }

// asYAML is what stands in JSON, as YAML.
func asYAML(js []byte) ([]byte, error) {
	text, err := yaml.JSONToYAML(js)
	if err != nil || bytes.IndexFunc(js, hidden) < 0 && bytes.IndexFunc(text, hidden) < 0 {
		return text, err
	}
	// Only between double quotes there are escapes, and there YAML knows those of JSON.
	var doc yamlnode.Node
	if err := yamlnode.Unmarshal(escapeHidden(js, inYAML), &doc); err != nil {
		return nil, err
	}
	quoteHidden(&doc)
	var b bytes.Buffer
	e := yamlnode.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(&doc); err != nil {
		return nil, err
	}
	return escapeHidden(b.Bytes(), inYAML), nil
}

// quoteHidden lays out what was read of JSON as it is where nothing is hidden: in blocks, sorted, and of texts in quotes only those that
// need them.
func quoteHidden(n *yamlnode.Node) {
	if n.Kind != yamlnode.ScalarNode {
		n.Style = 0
	} else if text, err := yaml.Marshal(n.Value); err == nil && string(text) == n.Value+"\n" && !strings.ContainsFunc(n.Value, hidden) {
		n.Style = 0
	}
	for _, of := range n.Content {
		quoteHidden(of)
	}
	if n.Kind == yamlnode.MappingNode {
		pairs := slices.Collect(slices.Chunk(n.Content, 2))
		slices.SortFunc(pairs, func(a, b []*yamlnode.Node) int { return strings.Compare(a[0].Value, b[0].Value) })
		n.Content = slices.Concat(pairs...)
	}
}
