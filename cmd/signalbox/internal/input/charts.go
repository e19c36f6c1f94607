package input

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// chartAbove is the folder of the chart whose template a file is; empty: it is none. Charts hold Chart.yaml beside the
// folder templates (https://helm.sh/docs/topics/charts).
func chartAbove(file string) string {
	for at := filepath.Dir(file); ; at = filepath.Dir(at) {
		if filepath.Base(at) == "templates" {
			if _, err := os.Stat(filepath.Join(filepath.Dir(at), "Chart.yaml")); err == nil {
				return filepath.Dir(at)
			}
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// kindLine is where an object says what it is.
var kindLine = regexp.MustCompile(`(?m)^\s*kind:\s*["']?([A-Za-z0-9]+)`)

// mostTemplate is more than anybody writes by hand.
const mostTemplate = 1 << 20

// template judges a file of a folder that cannot be read: what a chart's engine has not filled in yet is no
// mistake of whoever wrote it. Where it makes a job, the job would not be looked at, and that is one.
func (in *Input) template(s manifest.Source) (judged bool) {
	chart := chartAbove(s.Name)
	if chart == "" {
		return false
	}
	if kind := jobIn(s.Name); kind != "" {
		in.Trouble(&manifest.Problem{Source: s.Name, Have: "a template that makes a " + kind, Want: "what helm makes of it: helm template " + chart + " piped into check -"})
		return true
	}
	if !slices.Contains(in.templates, s.Name) {
		in.templates = append(in.templates, s.Name)
	}
	return true
}

// jobIn is the kind of job that a file says it holds, though it cannot be read; empty: none.
func jobIn(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostTemplate))
	if err != nil {
		return ""
	}
	for _, m := range kindLine.FindAllSubmatch(text, -1) {
		if apiserver.KindCalled(string(m[1])) != nil {
			return string(m[1])
		}
	}
	return ""
}
