package manifest

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseYAML parses one document; lines in its nodes are relative to the chunk.
func parseYAML(source string, c chunk) (n *yaml.Node, err error) {
	// The parser is other people's code that reads strangers' files.
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, &Problem{Source: source, Line: c.line, Have: fmt.Sprintf("the YAML reader gave up: %v", r), Want: "YAML"}
		}
	}()
	if err := tooLarge(source, c); err != nil {
		return nil, err
	}
	n = new(yaml.Node)
	if err := yaml.Unmarshal(c.text, n); err != nil {
		return nil, explain(source, c, err)
	}
	return n, nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

// expectations say, for the parser's words, what would have been right.
var expectations = []struct{ words, want string }{
	{"mapping values are not allowed", "one \"key: value\" a line, indented like its neighbours; text with \": \" needs quotes"},
	{"did not find expected key", "a key that is indented like its neighbours"},
	{"did not find expected '-' indicator", "a list element that is indented like its neighbours"},
	{"could not find expected ':'", "a colon and a space after the key"},
	{"found unexpected end of stream", "a closing quote or bracket"},
	{"did not find expected node content", "a value, quoted where it begins with a special character, or the closing bracket"},
	{"did not find expected ',' or", "a comma or the closing bracket"},
	{"unknown anchor", "an anchor (&name) before the alias (*name) in the same document"},
	{"cannot start any token", "quotes around text that begins with a special character"},
	{"found unknown escape character", "a YAML escape, or single quotes"},
	{"control characters are not allowed", "plain text"},
	{"invalid leading UTF-8 octet", "UTF-8 text"},
}

// explain turns the parser's error into a place, what is there and what was expected.
func explain(source string, c chunk, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	if m == nil {
		return &Problem{Source: source, Line: c.line, Have: "YAML: " + err.Error(), Want: "YAML"}
	}
	line, _ := strconv.Atoi(m[1])
	line = guilty(c.text, line, m[2])
	p := &Problem{Source: source, Line: c.line + line - 1, Have: "YAML: " + strings.TrimSpace(m[2]), Want: "YAML"}
	for _, e := range expectations {
		if strings.Contains(m[2], e.words) {
			p.Want = e.want
			break
		}
	}
	if tab := tabbed(c.text, line); tab > 0 {
		p.Line, p.Have, p.Want = c.line+tab-1, "indented with a tab", "spaces, which YAML indents with"
	} else if t := template(c.text); t > 0 {
		p.Want += fmt.Sprintf(" (line %d holds {{…}} that no template engine has filled in)", c.line+t-1)
	} else if c.line == 1 && !claimsObject.Match(c.text) { // the file begins so
		p.Want = "a Kubernetes object with apiVersion and kind; of a log signalbox diagnose says what went wrong"
	}
	return p
}

// claimsObject is a line by which a text says that it is a Kubernetes object, or a List of them.
var claimsObject = regexp.MustCompile(`(?m)^[ {-]*["']?(?:apiVersion|kind|items)["']? *:|[{,] *["']?(?:apiVersion|kind)["']? *:`)

// guilty is the line at which the parser really stopped. It reports the line where the
// enclosing mapping begins, so the shortest beginning of the text with the same error is
// searched; what is left open to the end (quotes, brackets) began where it says.
func guilty(text []byte, reported int, words string) int {
	lines := bytes.SplitAfter(text, []byte{'\n'})
	last := max(1, len(bytes.Split(bytes.TrimRight(text, "\r\n"), []byte{'\n'})))
	reported = min(max(reported, 1), last)
	switch {
	case len(text) > 1<<20 || strings.Contains(words, "end of stream"):
		return reported
	case strings.Contains(words, "',' or"): // where the bracket opened; lines of such errors are counted from 0
		return min(reported+1, last)
	}
	fails := func(n int) bool {
		err := yaml.Unmarshal(bytes.Join(lines[:n], nil), new(yaml.Node))
		return err != nil && strings.HasSuffix(err.Error(), words)
	}
	low, high := 1, last // the shortest failing beginning lies between them
	for low < high {
		if half := (low + high) / 2; fails(half) {
			high = half
		} else {
			low = half + 1
		}
	}
	return low
}

// tabbed is the first line, up to shortly after the one the parser named, whose
// indentation holds a tab; 0 if there is none.
func tabbed(text []byte, upTo int) int {
	i := 0
	for line := range bytes.Lines(text) {
		i++
		if upTo > 0 && i > upTo+1 {
			return 0
		}
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if bytes.IndexByte(indent, '\t') >= 0 && len(bytes.TrimSpace(line)) > 0 {
			return i
		}
	}
	return 0
}

// template is the first line with an action of a template engine; 0 if there is none.
func template(text []byte) int {
	before, _, found := bytes.Cut(text, []byte("{{"))
	if !found {
		return 0
	}
	return bytes.Count(before, []byte{'\n'}) + 1
}

// dedent undoes the indentation of a whole document, whose markers are indented with
// it and so did not split; nil if the document is not indented.
func dedent(c chunk) []chunk {
	n := indent(c.text)
	if n == 0 {
		return nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(c.text) {
		spaces := len(line) - len(bytes.TrimLeft(line, " "))
		out.Write(line[min(n, spaces):])
	}
	split, err := newSplitter(&out)
	if err != nil {
		return nil
	}
	var chunks []chunk
	for {
		part, err := split.chunk()
		if err != nil {
			return chunks
		}
		part.line += c.line - 1
		if !blank(part.text) {
			chunks = append(chunks, part)
		}
	}
}

// indent is by how many spaces the first line that says something is indented.
func indent(text []byte) int {
	for line := range bytes.Lines(text) {
		word := bytes.TrimSpace(line)
		if len(word) > 0 && word[0] != '#' && !marker(line) {
			return len(line) - len(bytes.TrimLeft(line, " "))
		}
	}
	return 0
}

// yamlList cuts a list in block style at its elements, as kubectl prints it: "items:" at
// the margin, then elements at one indentation. ok is false for every other shape, and
// for documents with anchors, which may reach across elements.
func yamlList(c chunk) (frame chunk, items []chunk, ok bool) {
	if bytes.Contains(c.text, []byte("<<:")) {
		return frame, nil, false
	}
	var head bytes.Buffer
	inside, dash, n, at := false, -1, c.line-1, 0
	for line := range bytes.Lines(c.text) {
		n++
		begin := at
		at += len(line)
		spaces := len(line) - len(bytes.TrimLeft(line, " "))
		element := bytes.HasPrefix(line[spaces:], []byte("- "))
		switch {
		case !inside && string(bytes.TrimRight(line, " \r\n")) == "items:":
			inside, ok = true, !ok
			if !ok {
				return frame, nil, false
			}
			head.WriteByte('\n')
		case inside && element && (dash < 0 || spaces == dash):
			dash = spaces
			items = append(items, chunk{c.text[begin:at:at], n})
		case inside && (spaces > 0 || len(bytes.TrimSpace(line)) == 0 || line[0] == '#'):
			if len(items) == 0 {
				continue
			}
			last := &items[len(items)-1] // its lines follow each other: the text is not copied
			last.text = c.text[begin-len(last.text) : at : at]
		default:
			inside = false
			head.Write(line)
		}
	}
	if !ok || len(items) == 0 {
		return frame, nil, false
	}
	head.WriteString("\nitems: []\n")
	return chunk{head.Bytes(), c.line}, items, true
}
