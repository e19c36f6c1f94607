package preflight

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// unreadableCheck is the name under which we say what kept a job from being read.
const unreadableCheck = "unreadable-field"

// placeholder matches what templating tools leave behind when nobody ran them:
// $X ${X} $(x.y) {{ x }} <% x %> <<x>> __X__ . A lower-case word between underscores is no
// placeholder: __init__ is Python.
var placeholder = regexp.MustCompile(`\$\{[^}]*\}|\$\([^)]*\)|\$[A-Za-z_][A-Za-z0-9_]*|\{\{[^}]*\}\}|<%[^%]*%>|<<[^>]*>>|__[A-Z][A-Z0-9_]*__`)

// unreadable turns what a reader could not use into findings. The same placeholder is
// said once, however often it occurs.
func unreadable(err *kinds.ReadError, object *unstructured.Unstructured) []finding.Finding {
	var out []finding.Finding
	places := placesOf(append(names(object), images(object.Object, "", nil)...))
	if err != nil {
		for _, p := range err.Problems {
			name := placeholder.FindString(p.Have)
			if name == "" {
				out = append(out, finding.Finding{
					Check: unreadableCheck, Severity: finding.Error, Path: p.Path,
					Message: fmt.Sprintf("is %s; expected %s", p.Have, p.Want),
					Remedy:  "Write what is expected there.",
				})
				continue
			}
			places = add(places, name, p.Path)
		}
	}
	for _, p := range places {
		out = append(out, p.finding())
	}
	return out
}

// place is one placeholder and everywhere it was left.
type place struct {
	spelled, name string
	paths         []job.Path
}

func (p place) finding() finding.Finding {
	where := ""
	if n := len(p.paths) - 1; n == 1 {
		where = ", here and at 1 more place"
	} else if n > 1 {
		where = fmt.Sprintf(", here and at %d more places", n)
	}
	return finding.Finding{
		Check: unreadableCheck, Severity: finding.Error, Path: p.paths[0],
		Message: fmt.Sprintf("the placeholder %s was not substituted%s", p.spelled, where),
		Remedy:  "Run the tool that fills the template in, then apply its output.",
	}
}

// add files a placeholder under its name: $X and ${X} are the same value.
func add(places []place, spelled string, at job.Path) []place {
	name := strings.Trim(spelled, "${}()<>%_ ")
	for i := range places {
		if places[i].name == name {
			if !slices.Contains(places[i].paths, at) {
				places[i].paths = append(places[i].paths, at)
				slices.Sort(places[i].paths)
			}
			return places
		}
	}
	return append(places, place{spelled: spelled, name: name, paths: []job.Path{at}})
}

type text struct {
	at    job.Path
	value string
}

func placesOf(texts []text) []place {
	var out []place
	for _, t := range texts {
		for _, name := range placeholder.FindAllString(t.value, -1) {
			out = add(out, name, t.at)
		}
	}
	return out
}

func names(o *unstructured.Unstructured) []text {
	return []text{{"metadata.name", o.GetName()}, {"metadata.namespace", o.GetNamespace()}}
}

// deepest bounds the walk through an object; real ones nest fewer than 20 levels.
const deepest = 64

// images collects the image names of all containers of the object: a placeholder in them
// is a string like any other to a reader and an invalid image to the kubelet.
func images(v any, at job.Path, out []text) []text {
	return imagesBelow(v, at, out, 0)
}

func imagesBelow(v any, at job.Path, out []text, depth int) []text {
	if depth > deepest {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if s, ok := v[key].(string); ok && key == "image" {
				out = append(out, text{at.Key(key), s})
				continue
			}
			if key == "metadata" || key == "status" {
				continue
			}
			out = imagesBelow(v[key], at.Key(key), out, depth+1)
		}
	case []any:
		for i, e := range v {
			out = imagesBelow(e, at.Index(i), out, depth+1)
		}
	}
	return out
}
