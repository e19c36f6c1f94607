// Package checktest runs a check over fixtures: txtar files that show a job, what the
// cluster looks like, and on the guilty line what the check must say. The same files are
// the examples of the documentation.
//
//	Nine GPUs per pod on nodes of eight: the pods would wait for ever.
//	-- cluster.yaml --
//	nodes: [{count: 4, name: a100, allocatable: {cpu: 96, nvidia.com/gpu: 8}}]
//	-- job.yaml --
//	…
//	                nvidia.com/gpu: 9 # want `asks for 9 nvidia.com/gpu per pod; the largest node has 8`
//
// Further files: old.yaml (the object before an update), namespace.yaml (the labels),
// objects.yaml (Kubernetes objects the view holds), params.yaml (parameters of the check).
// It is only for tests. Start reading at Run.
package checktest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// Run runs the check alone over every fixture of the folder. A finding that no want
// announces fails, so does a want that nothing meets, a fires-* fixture without a want and
// a stays-silent-* fixture with one. There must be at least one of each.
func Run(t *testing.T, c *check.Check, dir string) {
	t.Helper()
	fixtures := Load(t, dir)
	for _, f := range fixtures {
		t.Run(f.Name, func(t *testing.T) {
			for _, problem := range f.Problems(t.Context(), c) {
				t.Error(problem)
			}
		})
	}
	if problem := unbalanced(fixtures); problem != "" {
		t.Errorf("%s: %s", dir, problem)
	}
}

// unbalanced says what a folder of fixtures lacks.
func unbalanced(fixtures []Fixture) string {
	fires := 0
	for _, f := range fixtures {
		if f.Fires {
			fires++
		}
	}
	if silent := len(fixtures) - fires; fires == 0 || silent == 0 {
		return fmt.Sprintf("found no fixtures of both kinds: %d fires-*.txtar, %d stays-silent-*.txtar; want 1 of each at least", fires, silent)
	}
	return ""
}

// Fixture is one file.
type Fixture struct {
	Name    string // fires-on-nine
	Fires   bool
	Caption string
	Input   check.Input
	Params  any

	wants    []want
	position func(job.Path) int
}

// want is an expectation written on a line of job.yaml.
type want struct {
	line    int
	pattern *regexp.Regexp
}

// Load reads the fixtures of a folder by name.
func Load(t testing.TB, dir string) []Fixture {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	var out []Fixture
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(strings.TrimSuffix(filepath.Base(name), ".txtar"), text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, f)
	}
	return out
}

// Parse reads one fixture.
func Parse(name string, text []byte) (Fixture, error) {
	f, err := parse(txtar.Parse(text))
	if err != nil {
		return f, err
	}
	f.Name = name
	f.Fires = strings.HasPrefix(name, "fires-")
	if !f.Fires && !strings.HasPrefix(name, "stays-silent-") {
		return f, fmt.Errorf("a fixture is called fires-… or stays-silent-…")
	}
	return f, nil
}

// Problems runs the check alone and says what is not as the fixture wants it.
func (f Fixture) Problems(ctx context.Context, c *check.Check) (out []string) {
	if f.Caption == "" {
		out = append(out, "no caption: say above the first file what is shown")
	}
	if f.Fires != (len(f.wants) > 0) {
		out = append(out, fmt.Sprintf("%d wants in a fixture called %s", len(f.wants), f.Name))
	}
	outcomes, err := f.Alone(ctx, c)
	if err != nil {
		return append(out, err.Error())
	}
	for _, o := range outcomes {
		if o.Err != nil {
			out = append(out, o.Err.Error())
		}
		otherOperator := o.Skipped.Reason == check.KindNotCovered && c.Where != nil && !f.Fires
		if o.Skipped.Reason != check.Ran && o.Skipped.Reason != check.NotHeld && !otherOperator {
			out = append(out, fmt.Sprintf("%s was skipped: %s", o.Check, o.Skipped))
		}
		out = append(out, f.compare(o.Findings)...)
	}
	return out
}

// Alone runs the check over the fixture with the fixture's parameters, and no other check.
func (f Fixture) Alone(ctx context.Context, c *check.Check) ([]check.Outcome, error) {
	alone := *c
	alone.Eclipses = nil
	set, err := check.NewSet(&alone)
	if err == nil && f.Params != nil {
		set, err = set.Select(check.Selection{Params: map[string]any{c.Name: f.Params}})
	}
	if err != nil {
		return nil, err
	}
	return set.Run(ctx, f.Input), nil
}

// compare pairs findings with wants by line.
func (f Fixture) compare(found []finding.Finding) (out []string) {
	wants := slices.Clone(f.wants)
	for _, got := range found {
		line := f.position(got.Path)
		i := slices.IndexFunc(wants, func(w want) bool { return w.line == line && w.pattern.MatchString(says(got)) })
		if i < 0 {
			out = append(out, fmt.Sprintf("job.yaml:%d: unexpected %s\n  at %s", line, says(got), got.Path))
			continue
		}
		wants = slices.Delete(wants, i, i+1)
	}
	for _, w := range wants {
		out = append(out, fmt.Sprintf("job.yaml:%d: nothing says %s", w.line, w.pattern))
	}
	return out
}

// says is what a want is compared with: "warning: 4 of 6 pods fit".
func says(f finding.Finding) string { return f.Severity.String() + ": " + f.Message }

func parse(archive *txtar.Archive) (Fixture, error) {
	f := Fixture{Caption: strings.TrimSpace(string(archive.Comment))}
	var view *cluster.Builder
	builder := func() *cluster.Builder {
		if view == nil {
			view = &cluster.Builder{}
		}
		return view
	}
	files := map[string][]byte{}
	for _, file := range archive.Files {
		files[file.Name] = file.Data
		var err error
		switch file.Name {
		case "cluster.yaml":
			err = addCluster(builder(), file.Data)
		case "objects.yaml":
			err = addObjects(builder(), file.Data)
		case "namespace.yaml":
			err = yaml.UnmarshalStrict(file.Data, &f.Input.Namespace)
		case "params.yaml":
			err = yaml.Unmarshal(file.Data, &f.Params)
		case "job.yaml", "old.yaml":
		default:
			err = fmt.Errorf("not a file of a fixture")
		}
		if err != nil {
			return f, fmt.Errorf("%s: %w", file.Name, err)
		}
	}
	if view != nil {
		f.Input.Cluster = view.Snapshot(time0)
	}
	if files["job.yaml"] == nil {
		return f, fmt.Errorf("there is no job.yaml")
	}
	if files["old.yaml"] != nil {
		old, _, err := f.read("old.yaml", files["old.yaml"])
		if err != nil {
			return f, err
		}
		f.Input.Old = old
	}
	var err error
	if f.Input.Job, f.position, err = f.read("job.yaml", files["job.yaml"]); err != nil {
		return f, err
	}
	f.wants, err = wantsIn(string(files["job.yaml"]))
	return f, err
}

// read reads one job with the reader of its kind.
func (f Fixture) read(name string, text []byte) (*job.Job, func(job.Path) int, error) {
	for doc, err := range manifest.Read(name, strings.NewReader(string(text))) {
		if err != nil {
			return nil, nil, err
		}
		kind := kinds.For(doc.Object.GroupVersionKind())
		if kind == nil {
			return nil, nil, fmt.Errorf("%s: no reader covers %s", name, doc.Object.GroupVersionKind())
		}
		j, err := kind.Read(doc.Object, func(w kinds.Want) (*unstructured.Unstructured, job.Presence) {
			return f.Input.Cluster.Lookup(w.GVK, w.Namespace, w.Name)
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		j.DuplicateKeys = doc.DuplicateKeys()
		return j, doc.Position, nil
	}
	return nil, nil, fmt.Errorf("%s: there is no object in it", name)
}

var wanted = regexp.MustCompile("`([^`]*)`")

// wantsIn finds the comments "# want `regexp` `regexp`".
func wantsIn(text string) ([]want, error) {
	var out []want
	for i, line := range strings.Split(text, "\n") {
		_, comment, ok := strings.Cut(line, "# want ")
		if !ok {
			continue
		}
		for _, m := range wanted.FindAllStringSubmatch(comment, -1) {
			pattern, err := regexp.Compile(m[1])
			if err != nil {
				return nil, fmt.Errorf("job.yaml:%d: %w", i+1, err)
			}
			out = append(out, want{line: i + 1, pattern: pattern})
		}
	}
	return out, nil
}
