package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// jsonTree builds nodes from JSON, because YAML readers disagree with JSON on escapes
// and tabs, and because only the tokens know where a truncated file was cut.
type jsonTree struct {
	source string
	dec    *json.Decoder
	text   []byte
	base   int // lines before the text
	cursor
	open []opened
}

// cursor is a place in a text: the bytes before it, and the line and column that they make, from 0, in characters.
type cursor struct{ at, line, column int }

// to goes forward to an offset.
func (c *cursor) to(text []byte, offset int) {
	if offset <= c.at {
		return
	}
	passed := text[c.at:offset]
	if last := bytes.LastIndexByte(passed, '\n'); last >= 0 {
		c.line, c.column = c.line+bytes.Count(passed, []byte{'\n'}), 0
		passed = passed[last+1:]
	}
	c.at, c.column = offset, c.column+utf8.RuneCount(passed)
}

type opened struct {
	line int
	kind json.Delim
}

// newJSONTree reads a text that begins in a column of its first line, from 0.
func newJSONTree(source string, text []byte, base, column int) *jsonTree {
	t := &jsonTree{source: source, dec: json.NewDecoder(bytes.NewReader(text)), text: text, base: base, cursor: cursor{column: column}}
	t.dec.UseNumber()
	return t
}

// next is the next value of the stream; io.EOF after the last.
func (t *jsonTree) next() (*yaml.Node, error) {
	tok, err := t.token()
	if errors.Is(err, io.EOF) && strings.TrimSpace(string(t.text[t.dec.InputOffset():])) == "" {
		return nil, io.EOF
	}
	if err != nil {
		return nil, t.problem(err)
	}
	return t.value(tok)
}

// token is the next word or bracket, and goes to where it begins: the decoder's offset stands before what separates it.
func (t *jsonTree) token() (json.Token, error) {
	if rest := bytes.TrimLeft(t.text[t.dec.InputOffset():], " \t\r\n,:"); len(rest) > 0 { // where JSON is cut, the end is no word
		t.to(t.text, len(t.text)-len(rest))
	}
	return t.dec.Token()
}

func (t *jsonTree) value(tok json.Token) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: t.line + 1, Column: t.column + 1, Style: fromJSON}
	switch tok := tok.(type) {
	case json.Delim:
		return n, t.container(n, tok)
	case string:
		n.Tag, n.Value, n.Style = "!!str", tok, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = "!!float", tok.String()
		if !strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!int"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(tok)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// container reads what stands between a bracket that was just read and its partner.
func (t *jsonTree) container(n *yaml.Node, bracket json.Delim) error {
	n.Kind, n.Tag = yaml.MappingNode, "!!map"
	if bracket == '[' {
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	}
	if t.open = append(t.open, opened{n.Line, bracket}); len(t.open) > maxDepth {
		return &Problem{Source: t.source, Line: t.base + n.Line, Have: fmt.Sprintf("nested more than %d levels deep", maxDepth), Want: "a Kubernetes object"}
	}
	for t.dec.More() {
		tok, err := t.token()
		if err != nil {
			return t.problem(err)
		}
		child, err := t.value(tok)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, child)
	}
	if _, err := t.dec.Token(); err != nil {
		return t.problem(err)
	}
	t.open = t.open[:len(t.open)-1]
	return nil
}

// walk goes through the stream without making anything of it, and returns what next would
// say of it.
func (t *jsonTree) walk() error {
	for {
		tok, err := t.dec.Token()
		if errors.Is(err, io.EOF) && len(t.open) == 0 {
			return nil
		}
		if err != nil {
			return t.problem(err)
		}
		bracket, ok := tok.(json.Delim)
		switch {
		case !ok:
		case bracket == '{' || bracket == '[':
			t.open = append(t.open, opened{t.lineAt(t.dec.InputOffset()), bracket})
			if len(t.open) > maxDepth {
				return &Problem{Source: t.source, Line: t.base + t.lineAt(t.dec.InputOffset()), Have: fmt.Sprintf("nested more than %d levels deep", maxDepth), Want: "a Kubernetes object"}
			}
		default:
			t.open = t.open[:len(t.open)-1]
		}
	}
}

// lineAt counts lines up to an offset, going forward only.
func (t *jsonTree) lineAt(offset int64) int {
	t.to(t.text, min(int(offset), len(t.text)))
	return t.line + 1
}

// problem says where JSON stopped being JSON, and what would have continued it.
func (t *jsonTree) problem(err error) error {
	var syntax *json.SyntaxError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &syntax) && strings.Contains(syntax.Error(), "unexpected end") {
		return t.truncated()
	}
	offset := t.dec.InputOffset()
	have := err.Error()
	if syntax != nil {
		offset = max(offset, syntax.Offset)
		have = syntax.Error()
	}
	// The decoder's offset stands before white space and the separator; the fault is behind.
	for offset < int64(len(t.text)) && strings.ContainsRune(" \t\r\n", rune(t.text[offset])) {
		offset++
	}
	p := &Problem{Source: t.source, Line: t.base + t.lineAt(offset), Have: "JSON: " + have, Want: t.wanted()}
	rest := bytes.TrimLeft(t.text[t.dec.InputOffset():], " \t\r\n,")
	before := bytes.TrimRight(t.text[:len(t.text)-len(rest)], " \t\r\n")
	if syntax != nil && bytes.HasSuffix(before, []byte(",")) && len(rest) > 0 && (rest[0] == '}' || rest[0] == ']') {
		p.Line, p.Have, p.Want = t.base+t.lineAt(int64(len(t.text)-len(rest))), fmt.Sprintf("JSON: a comma stands before %q", rest[:1]), "none after the last element"
	}
	return p
}

func (t *jsonTree) truncated() error {
	end := len(bytes.TrimRight(t.text, " \t\r\n"))
	p := &Problem{Source: t.source, Line: t.base + t.lineAt(int64(end)), Have: "JSON ends too early", Want: "a value"}
	if n := len(t.open); n > 0 {
		what, partner := "object", "}"
		if t.open[n-1].kind == '[' {
			what, partner = "list", "]"
		}
		p.Have = fmt.Sprintf("JSON ends inside the %s that begins at line %d", what, t.base+t.open[n-1].line)
		p.Want = fmt.Sprintf("%q (is the file whole?)", partner)
	}
	return p
}

func (t *jsonTree) wanted() string {
	if n := len(t.open); n > 0 {
		if t.open[n-1].kind == '[' {
			return `a value, "," or "]"`
		}
		return `"key": value pairs between "," and "}"`
	}
	return "one JSON object after the other"
}

// jsonList finds the items of a list without building anything: spans in the text, and
// the list's other fields. ok is false for whatever is not a whole list.
func jsonList(text []byte) (frame map[string]json.RawMessage, items [][2]int, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, nil, false
	}
	frame = map[string]json.RawMessage{}
	for dec.More() {
		tok, err := dec.Token()
		name, word := tok.(string)
		if err != nil || !word || frame[name] != nil {
			return nil, nil, false
		}
		if name != "items" {
			var raw json.RawMessage
			if dec.Decode(&raw) != nil {
				return nil, nil, false
			}
			frame[name] = raw
			continue
		}
		frame[name] = json.RawMessage("[]")
		if items, ok = jsonSpans(dec); !ok {
			return nil, nil, false
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, false
	}
	rest := text[dec.InputOffset():]
	return frame, items, items != nil && len(bytes.TrimSpace(rest)) == 0
}

func jsonSpans(dec *json.Decoder) ([][2]int, bool) {
	if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
		return nil, false
	}
	items := [][2]int{}
	for dec.More() {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil, false
		}
		end := int(dec.InputOffset())
		items = append(items, [2]int{end - len(raw), end})
	}
	_, err := dec.Token()
	return items, err == nil
}
