package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	phrase "github.com/signalbox-dev/signalbox/preflight/words"
)

// edit is one word of a job that is written otherwise: the value at a path, or, where Key says so, the last
// step of the path.
type edit struct {
	at   job.Path
	with string
	key  bool
}

// replacement is what stands in a line, and what is to stand there. Columns count characters from 1.
type replacement struct {
	line, column int
	was, with    string
}

// replace is an edit as a replacement in the lines of its file. ok is false where the word does not stand there as
// it was read.
func replace(lines [][]byte, d manifest.Document, e edit) (r replacement, ok bool) {
	key, spot := d.Spots(e.at)
	if e.key {
		spot = key
	}
	if spot.Line < 1 || spot.Line > len(lines) || spot.Word == "" || strings.ContainsAny(spot.Word+e.with, "\n\"'\\") {
		return r, false
	}
	line := []rune(string(lines[spot.Line-1]))
	if spot.Column < 1 || spot.Column > len(line) {
		return r, false
	}
	rest, quote := string(line[spot.Column-1:]), ""
	if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'") {
		quote = rest[:1]
	}
	r = replacement{spot.Line, spot.Column, quote + spot.Word + quote, quote + e.with + quote}
	if quote == "" && !plainScalar(spot.Word, e.with) {
		r.with = strconv.Quote(e.with)
	}
	return r, strings.HasPrefix(rest, r.was)
}

// editText is a file with some words of a document changed. Everything else stays byte for byte, comments
// among it. ok is false where a word does not stand there as it was read.
func editText(text []byte, d manifest.Document, edits []edit) (out []byte, ok bool) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	var words []replacement
	for _, e := range edits {
		r, ok := replace(lines, d, e)
		if !ok {
			return nil, false
		}
		words = append(words, r)
	}
	slices.SortFunc(words, func(a, b replacement) int { return b.column - a.column }) // of one line the last first, so that no column moves
	for _, r := range words {
		line := []rune(string(lines[r.line-1]))
		before, rest := string(line[:r.column-1]), string(line[r.column-1:])
		lines[r.line-1] = []byte(before + r.with + strings.TrimPrefix(rest, r.was))
	}
	return bytes.Join(lines, nil), true
}

// plainScalar says whether a word may stand without quotes where another one does: YAML reads both as the
// same sort of value.
func plainScalar(was, is string) bool {
	sort := func(word string) string {
		var v any
		if yaml.Unmarshal([]byte(word), &v) != nil {
			return "none"
		}
		if s, ok := v.(string); ok && s != word {
			return "other"
		}
		return fmt.Sprintf("%T", v)
	}
	return sort(was) == sort(is) && sort(is) != "other"
}

// kubectlPatch is the command that makes the same change to the job in the cluster.
func kubectlPatch(was, is map[string]any, resource, namespace, name string) string {
	before, err := json.Marshal(was)
	if err != nil {
		return ""
	}
	after, err := json.Marshal(is)
	if err != nil {
		return ""
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(before, after, before)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("kubectl patch %s %s -n %s --type=merge -p %s", resource, phrase.ShellWord(name), phrase.ShellWord(namespace), phrase.ShellWord(string(patch)))
}
