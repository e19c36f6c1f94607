package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// UnreadableField is the name under which a report says what kept a job from being read.
// It is no check: without a readable job there is nothing to check.
const UnreadableField = "unreadable-field"

const (
	writeWhatIsExpected = "Write what is expected there."
	fillTheTemplateIn   = "Run the tool that fills the template in, then apply its output."
)

// unreadable turns what a reader could not use into findings, and placeholders in names
// and images, which are texts like any other to a reader. One forgotten substitution is
// said once, at the first place where it shows.
func unreadable(err *kinds.ReadError, object *unstructured.Unstructured) []finding.Finding {
	var out []finding.Finding
	said := map[string]bool{}
	if err != nil {
		for _, p := range err.Problems {
			f := finding.Finding{
				Check: UnreadableField, Severity: finding.Error, Path: p.Path,
				Message: fmt.Sprintf("%s is %s; expected %s", subject(p.Path), p.Have, p.Want), Remedy: writeWhatIsExpected,
			}
			if _, name, found := job.Placeholder(p.Have); found {
				if said[name] {
					continue
				}
				said[name], f.Remedy = true, fillTheTemplateIn
			}
			out = append(out, f)
		}
	}
	for _, t := range append(names(object), imagesOf(object)...) {
		var left []string
		for _, written := range placeholdersIn(t.value) {
			_, name, _ := job.Placeholder(written)
			if !said[name] {
				left = append(left, written)
			}
			said[name] = true
		}
		if len(left) > 0 {
			message := fmt.Sprintf("%s holds %s, a placeholder that was not substituted", subject(t.at), left[0])
			if len(left) > 1 {
				message = fmt.Sprintf("%s holds %s, placeholders that were not substituted", subject(t.at), strings.Join(left, ", "))
			}
			out = append(out, finding.Finding{
				Check: UnreadableField, Severity: finding.Error, Path: t.at, Message: message, Remedy: fillTheTemplateIn,
			})
		}
	}
	return out
}

// subject is what a message about a path is about: its last step, with the one above where that is
// a key or a number; of no path the object.
func subject(at job.Path) string {
	above := at.Parent()
	for step := at.After(above); step != "" && step[0] == '[' && above != ""; step = at.After(above) {
		above = above.Parent()
	}
	return cmp.Or(strings.TrimPrefix(string(at.After(above)), "."), "the object")
}

// placeholdersIn are all placeholders of a text as they are written.
func placeholdersIn(s string) (out []string) {
	for {
		written, _, found := job.Placeholder(s)
		if !found {
			return out
		}
		out = append(out, written)
		_, s, _ = strings.Cut(s, written)
	}
}

// text is a string of the object and its place.
type text struct {
	at    job.Path
	value string
}

func names(o *unstructured.Unstructured) []text {
	return []text{{"metadata.name", o.GetName()}, {"metadata.namespace", o.GetNamespace()}}
}

// deepest bounds the walk through an object; readers refuse to go deeper than 100 levels.
const deepest = 100

// namedLists are lists whose elements readers call by name; so do we.
var namedLists = map[job.Path]bool{"spec.replicatedJobs": true, "spec.taskRoles": true}

// imagesOf are the image names of all containers of the object, in the order of their paths, if one of
// them holds a placeholder: few objects have one, and paths are built for those alone.
func imagesOf(o *unstructured.Unstructured) []text {
	if !placeheld(o.Object, 0) {
		return nil
	}
	return images(o.Object, "", 0)
}

func images(v any, at job.Path, depth int) (out []text) {
	if depth > deepest {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s, ok := v[key].(string); ok && key == "image" {
				out = append(out, text{at.Key(key), s})
			} else if !ownWords(key, depth) {
				out = append(out, images(v[key], at.Key(key), depth+1)...)
			}
		}
	case []any:
		for i, e := range v {
			step := at.Index(i)
			if m, ok := e.(map[string]any); ok && namedLists[at] {
				if name, ok := m["name"].(string); ok {
					step = at.Named(name)
				}
			}
			out = append(out, images(e, step, depth+1)...)
		}
	}
	return out
}

// placeheld says whether an image below v holds a placeholder.
func placeheld(v any, depth int) bool {
	if depth > deepest {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if s, ok := e.(string); ok && key == "image" {
				if job.Templated(s) {
					return true
				}
			} else if !ownWords(key, depth) && placeheld(e, depth+1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return placeheld(e, depth+1) })
	}
	return false
}

// ownWords are the parts of an object in which "image" is a word of whoever wrote it.
func ownWords(key string, depth int) bool { return key == "metadata" || key == "status" && depth == 0 }
