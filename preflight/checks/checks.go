// Package checks is the rules: one file and one testdata folder each, in a package for every
// family. A rule observes and says what it sees; it denies nothing, logs nothing and holds no
// client. A rule that misses a case is fine; a rule that cries wolf is removed.
//
// `make new-check NAME=family/slug` begins a new one; All lists them. Start reading at any file
// of a family; what several rules need is in internal/facts.
package checks

import (
	"bytes"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

//go:generate go run generate.go

//go:embed */testdata/*/README.md */testdata/*/*.txtar
var pages embed.FS

// All are the checks of all families, each with its page.
func All() []*check.Check { return slices.Clone(withPages()) }

var withPages = sync.OnceValue(func() []*check.Check {
	var out []*check.Check
	for _, f := range families {
		for _, c := range f.checks {
			c := *c
			c.Doc = page(f.name, c.Name)
			out = append(out, &c)
		}
	}
	return out
})

// family is a package of checks, which its generated list hands out.
type family struct {
	name   string
	checks []*check.Check
}

// page is why a rule exists.
func page(family, name string) string {
	text, err := pages.ReadFile(family + "/testdata/" + name + "/README.md")
	if err != nil {
		return "" // TestEveryCheckKeepsItsPromises fails
	}
	return strings.TrimSpace(string(text))
}

// Dir is the folder of a check's fixtures below this package; empty: there is no such check.
func Dir(name string) string {
	found, err := fs.Glob(pages, "*/testdata/"+name+"/README.md")
	if err != nil || len(found) == 0 {
		return ""
	}
	return path.Dir(found[0])
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
	files, err := fs.Glob(pages, "*/testdata/"+name+"/*.txtar") // sorted: fires-* before stays-silent-*
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

// Reference is an object that the pods of a job name and cannot start without.
type Reference = facts.Reference

// References are the objects in a job's namespace that its pods name.
func References(j *job.Job) []Reference { return facts.References(j) }
