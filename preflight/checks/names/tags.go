package names

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// tag is a name that OpenPAI fills into a command, in the rest-server or, a secret's, in the runtime
// (github.com/microsoft/pai a95d9420 src/rest-server/src/middlewares/v2/protocol.js, render).
var tag = regexp.MustCompile(`<%\s*(\$[A-Za-z][^%]*?)\s*%>`)

// tagsIn are the names of the tags that are left in a text, each once, in their order.
func tagsIn(text string) []string {
	var out []string
	for _, m := range tag.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// tagNames are the names that a tag of the job may have, by the file that it was made of: the
// rest-server keeps it as an annotation. Nothing is known without it, and of secrets whose names it
// hides (src/rest-server/src/utils/protocolSecret.js): then hidden is true.
func tagNames(j *job.Job) (names []string, hidden bool) {
	text, _ := j.Field("metadata.annotations.config").(string)
	var file map[string]any
	if yaml.Unmarshal([]byte(text), &file) != nil || file == nil {
		return nil, true
	}
	for _, of := range []string{"parameters", "secrets"} {
		named, shown := file[of].(map[string]any)
		hidden = of == "secrets" && !shown && file[of] != nil
		for _, name := range slices.Sorted(maps.Keys(named)) {
			names = append(names, "$"+of+"."+name)
		}
	}
	return names, hidden
}

// unfilledTags says which tags of a text nothing fills in, and what they may mean; empty: none. The
// runtime fills in a secret's.
func unfilledTags(j *job.Job, text string) string {
	left := tagsIn(text)
	if len(left) == 0 {
		return ""
	}
	names, hidden := tagNames(j)
	var said []string
	for _, name := range left {
		if !slices.Contains(names, name) && (!hidden || !strings.HasPrefix(name, "$secrets.")) {
			said = append(said, facts.Quoted("<% "+name+" %>")+check.DidYouMean(name, names).String())
		}
	}
	return strings.Join(said, " and ")
}
