// Package checks is the rules: one file and one testdata folder each. A rule observes and
// says what it sees; it denies nothing, logs nothing and holds no client. A rule that
// misses a case is fine; a rule that cries wolf is removed.
//
// `make new-check NAME=…` begins a new one; All lists them. Start reading at any file.
package checks

import (
	"bytes"
	"embed"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

//go:generate go run generate.go

//go:embed testdata/*/README.md testdata/*/*.txtar
var pages embed.FS

// readme is the page of a check: why the rule exists.
func readme(name string) string {
	text, err := pages.ReadFile("testdata/" + name + "/README.md")
	if err != nil {
		return "" // TestEveryCheckKeepsItsPromises fails
	}
	return strings.TrimSpace(string(text))
}

// Example is a fixture of a check, as its documentation shows it.
type Example struct {
	Name    string // fires-on-nine
	Fires   bool
	Caption string
	Files   []txtar.File // job.yaml and what it is seen with
}

// Examples are the fixtures of a check: those where it fires first, each by name.
func Examples(name string) []Example {
	files, err := fs.Glob(pages, "testdata/"+name+"/*.txtar") // sorted: fires-* before stays-silent-*
	if err != nil {
		return nil
	}
	var out []Example
	for _, f := range files {
		text, err := pages.ReadFile(f)
		if err != nil {
			continue
		}
		archive := txtar.Parse(text)
		base := strings.TrimSuffix(path.Base(f), ".txtar")
		out = append(out, Example{
			Name: base, Fires: strings.HasPrefix(base, "fires-"),
			Caption: string(bytes.TrimSpace(archive.Comment)), Files: archive.Files,
		})
	}
	return out
}

// eachContainer visits all containers of all roles, init containers last; at is where the
// container is written.
func eachContainer(j *job.Job, visit func(r *job.Role, c *corev1.Container, rel job.Path)) {
	for i := range j.Roles {
		r := &j.Roles[i]
		for k := range r.Pod.Spec.Containers {
			visit(r, &r.Pod.Spec.Containers[k], job.Path("containers").Index(k))
		}
		for k := range r.Pod.Spec.InitContainers {
			visit(r, &r.Pod.Spec.InitContainers[k], job.Path("initContainers").Index(k))
		}
	}
}

// whose names a container and its role, once where both have one name.
func whose(container, role string) string {
	switch container {
	case role:
		return "container " + container
	case "":
		return "the nameless container of " + role
	}
	return "container " + container + " of " + role
}

// quoted is a value in quotes, cut to what a message has room for.
func quoted(value string) string {
	const most = 60
	if r := []rune(value); len(r) > most {
		value = string(r[:most-1]) + "…"
	}
	return strconv.Quote(value)
}

// podsOf is "4 Worker pods"; the one role of a Job has no name of its own.
func podsOf(r *job.Role) string {
	if r.Name == "pod" {
		return count(r.Replicas.Max, "pod")
	}
	return count(r.Replicas.Max, r.Name+" pod")
}

// lastStep is the field that a path leads to, as a sentence names it: limits["nvidia.com/gpu"].
func lastStep(at job.Path) string {
	above := at.Parent()
	step := strings.TrimPrefix(string(at[len(above):]), ".")
	if strings.HasPrefix(step, "[") && above != "" {
		return strings.TrimPrefix(string(above[len(above.Parent()):]), ".") + step
	}
	return step
}

// field is the value at a path of the object as it was written; nil where there is none.
func field(j *job.Job, at job.Path) any {
	if j == nil || j.Source == nil {
		return nil
	}
	v, err := at.Resolve(j.Source.Object)
	if err != nil {
		return nil
	}
	return v
}

// text is the string at a path; ok is false where there is none.
func text(j *job.Job, at job.Path) (s string, ok bool) {
	s, ok = field(j, at).(string)
	return s, ok
}

// number is the whole number at a path; ok is false where there is none.
func number(j *job.Job, at job.Path) (n int64, ok bool) {
	switch v := field(j, at).(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		return int64(v), v == float64(int64(v))
	}
	return 0, false
}

// count is "1 pod" or "3 pods".
func count[N int | int64](n N, thing string) string {
	s := itoa(int64(n)) + " " + thing
	if n == 1 {
		return s
	}
	if strings.HasSuffix(thing, "s") {
		return s + "es"
	}
	return s + "s"
}

// andMore counts what a message that shows the first of several leaves out.
func andMore(times int) string {
	if times < 2 {
		return ""
	}
	return " (and " + itoa(int64(times-1)) + " more)"
}
