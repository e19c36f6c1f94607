// Package redact takes secrets out of what is written on jobs, into Events, ConfigMaps, bundles, prompts
// and our own logs. There is one table of what secrets look like (forms.go, names.go, commands.go) and one
// pass over a text that asks it.
//
// It knows no more than texts: which of them may leave the cluster at all is decided elsewhere. What is
// masked is replaced by "[masked]"; what stands around it stays, so that a line can still be read. Masking
// twice changes nothing more. Start reading at Line; Lines is for a log, whose secrets may span lines.
package redact

import (
	"maps"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Masked stands for what is secret.
const Masked = "[masked]"

const masked = Masked

// Line masks the secrets in one line. Colours, control bytes and invisible characters may hide one: then
// the line is written without them.
func Line(text string) string {
	return lineOf(text, Clean(text))
}

// lineOf is Line of a line of which it is known what it is without what nobody sees.
func lineOf(text, plain string) string {
	if plain != text {
		if hidden := settle(plain); hidden != plain {
			return hidden
		}
	}
	return settle(text)
}

// Text masks a text that came in one piece and may have many lines (a message of the platform, the end of
// a log in it), and removes what a terminal would obey and what nobody sees.
func Text(text string) string {
	if Look(text).Has(Control | Beyond) {
		text = Clean(text)
	}
	if !strings.Contains(text, "\n") {
		return settle(text)
	}
	for before := len(text) + 1; shown(text) < before; {
		before = shown(text)
		var l Lines
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = settle(l.Next(line))
		}
		next := strings.Join(lines, "\n")
		if next == text {
			break
		}
		text = next
	}
	return text
}

// secretOption is an option of a command line whose value is the next word.
var secretOption = lazy.MustCompile(`^--?[A-Za-z]`)

// Tree masks the secrets in all texts of a decoded JSON value: within each text as Text does, the value
// of a key that is named like a secret, the word behind an option that is, and the value beside a name
// that is, as in a container's environment. Lists and maps are changed in place; keys stay as they are.
func Tree(v any) any { return tree("", v) }

// noCommands are the lists of words in a pod that are no command lines. In one of them "--token" hides nothing behind it: else
// an author would take a capability or a place from the sight of a policy.
var noCommands = map[string]bool{
	"accessModes": true, "add": true, "bindMountOptions": true, "drop": true, "finalizers": true, "hostnames": true, "matchLabelKeys": true, "mismatchLabelKeys": true, "monitors": true,
	"nameservers": true, "namespaces": true, "portals": true, "searches": true, "targetWWNs": true, "values": true, "wwids": true,
}

// tree is Tree of what stands at a key.
func tree(at string, v any) any {
	switch v := v.(type) {
	case string:
		return Text(v)
	case []any:
		secret := false
		for i := range v {
			word, isText := v[i].(string)
			if secret && isText && word != "" {
				v[i] = masked
			} else {
				v[i] = tree("", v[i])
			}
			secret = isText && !noCommands[at] && secretOption.MatchString(word) && !strings.Contains(word, "=") && classOf(strings.TrimLeft(word, "-")) != none
		}
	case map[string]any:
		name, _ := v["name"].(string)
		for key := range v {
			value, isText := v[key].(string)
			of := key
			if key == "value" {
				of = name
			}
			if c := classOf(of); isText && c != none && c.fits(value, quotedValue) {
				v[key] = masked
				continue
			}
			v[key] = tree(key, v[key])
		}
	}
	return v
}

// Named says whether the name of a value, the key of a label or an annotation, tells that it is secret.
func Named(name, value string) bool {
	c := classOf(name)
	return c != none && c.fits(value, quotedValue)
}

// Map masks the secrets in the values of labels or annotations, as Tree does in an object. It leaves the map
// as it is, and returns that same map where there is nothing to mask: of most there is not.
func Map(texts map[string]string) map[string]string {
	var changed map[string]string
	for key, value := range texts {
		hidden := Text(value)
		if Named(key, value) {
			hidden = masked
		}
		if hidden == value {
			continue
		}
		if changed == nil {
			changed = maps.Clone(texts)
		}
		changed[key] = hidden
	}
	if changed == nil {
		return texts
	}
	return changed
}
