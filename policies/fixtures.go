package policies

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/cover"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// Tested is what became of one fixture of a policy.
type Tested struct {
	Policy  string `json:"policy"`
	Fixture string `json:"fixture"`           // testdata/max_gpus_per_job/deny-nine.yaml
	Got     string `json:"got"`               // what the policy said, one ruling a line
	Problem string `json:"problem"`           // empty: as expected
	Printed string `json:"printed,omitempty"` // by print
}

// RequestKind is the kind of a document in a fixture that says who asks for what:
//
//	apiVersion: signalbox.dev/v1
//	kind: ReviewRequest
//	namespaceLabels: {tier: interactive}
//	user: alice
//	groups: [vision]
//	oldObject: {metadata: {labels: {team: speech}}}
//	at: "2026-12-24T10:00:00Z"
//
// An oldObject is what an update replaces; what it leaves out is as in the job. The annotations of a
// namespace are those of a Namespace beside it.
var RequestKind = schema.GroupVersionKind{Group: "signalbox.dev", Version: "v1", Kind: "ReviewRequest"}

// Test runs the fixtures of every policy of a folder, and says which lines of the policies were evaluated. For
// <name>.rego, and for a package of that name, they lie in testdata/<name>: allow-*.yaml, about which the policy must say nothing, and deny-*.yaml
// or warn-*.yaml with a .want of the same name that holds what it must say, one ruling a
// line ("deny spec.runtimeRef.name: …"). A fixture is a stream with one job, at most one
// ReviewRequest, and objects of the cluster; data.yaml beside it is the policy's data. The
// namespace enforces unless the request says otherwise. A policy without an allow and a
// deny (or warn) fixture is a problem of its own, unless tests in Rego cover its package (files
// *_test.rego). The error is about loading.
func Test(ctx context.Context, fsys fs.FS, checks *check.Set) ([]Tested, []Covered, error) {
	rules, documents, err := collect([]fs.FS{fsys})
	if err != nil {
		return nil, nil, err
	}
	all, err := build(ctx, rules, documents)
	if err != nil {
		return nil, nil, err
	}
	covering := cover.New()
	own, err := regoTests(ctx, fsys, rules, documents, covering)
	if err != nil {
		return nil, nil, err
	}
	ran, err := coveredBy(covering, rules)
	if err != nil {
		return nil, nil, err
	}
	var out []Tested
	var looked []string
	for _, p := range all.docs {
		for _, dir := range fixturesOf(fsys, p) {
			engine, err := withData(ctx, fsys, dir, rules, documents)
			if err != nil {
				return nil, nil, err
			}
			var printed bytes.Buffer
			if err := engine.set().print(ctx, p.Name, rules, documents, &printed); err != nil {
				return nil, nil, err
			}
			engine.set().trace(p.Name, covering)
			proven := slices.ContainsFunc(ran, func(c Covered) bool { return c.File == p.File && c.Percent > 0 })
			b := bench{fsys: fsys, printed: &printed, policy: p.Name, tested: proven, reviewer: preflight.Reviewer{Checks: checks, Policies: asWritten{engine.InForce()}}}
			tested, err := b.folder(ctx, dir)
			if err != nil {
				return nil, nil, err
			}
			out, looked = append(out, tested...), append(looked, dir)
		}
	}
	of, err := strayFixtures(fsys, looked)
	if err != nil {
		return nil, nil, err
	}
	covered, err := coveredBy(covering, rules)
	return slices.Concat(out, of, own), covered, err
}

// fixturesOf are the folders of a policy's fixtures, under the name of its file, of its package or as the policy is
// printed; where there is none, the first of these.
func fixturesOf(fsys fs.FS, p Doc) (out []string) {
	beside := path.Join(path.Dir(p.File), "testdata")
	names := []string{strings.TrimSuffix(path.Base(p.File), ".rego"), strings.ReplaceAll(p.Name, "-", "_"), p.Name}
	for _, name := range names {
		dir := path.Join(beside, name)
		if _, err := fs.Stat(fsys, dir); err == nil && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	if len(out) == 0 {
		out = append(out, path.Join(beside, names[0]))
	}
	return out
}

// strayFixtures are folders of examples at which no policy looked: what they prove would be believed.
func strayFixtures(fsys fs.FS, looked []string) (out []Tested, err error) {
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		dir := path.Dir(name)
		if err != nil || d.IsDir() || exampleOf(path.Base(name)) == "" || !strings.Contains("/"+dir+"/", "/testdata/") ||
			slices.Contains(looked, dir) {
			return err
		}
		looked = append(looked, dir)
		out = append(out, Tested{Policy: path.Base(dir), Fixture: dir, Problem: fmt.Sprintf("its examples are of no policy: %s lies where none looks; "+
			"want testdata/NAME beside NAME.rego, named after the file or its package", path.Base(name))})
		return nil
	})
	return out, err
}

// exampleOf is what a file of a folder of fixtures is an example of: allow, deny, warn or mute; empty: it is none.
func exampleOf(file string) string {
	for _, effect := range []string{"allow", denies, warns, string(preflight.Mute)} {
		if strings.HasPrefix(file, effect+"-") && path.Ext(file) == ".yaml" {
			return effect
		}
	}
	return ""
}

func withData(ctx context.Context, fsys fs.FS, dir string, rules, documents []source) (*OPA, error) {
	name := path.Join(dir, "data.yaml")
	text, err := fs.ReadFile(fsys, name)
	switch {
	case err == nil:
		documents = append(slices.Clone(documents), sourceIn(fsys, name, text))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	built, err := build(ctx, rules, documents)
	if err != nil {
		return nil, err
	}
	o := &OPA{}
	o.current.Store(built)
	return o, nil
}

// asWritten takes a fixture for all there is: a cluster and a namespace that it does not hold are not missing, and where it
// does not say who asks, nobody does.
type asWritten struct{ preflight.Policies }

// InForce implements preflight.Engine.
func (w asWritten) InForce() preflight.Policies { return w }

// Decide passes the question on.
func (w asWritten) Decide(ctx context.Context, in preflight.Input, q preflight.Question) (preflight.Ruled, error) {
	q.Lacks = slices.DeleteFunc(slices.Clone(q.Lacks), func(l preflight.Lack) bool {
		return strings.HasPrefix(l.Part, "cluster") || strings.HasPrefix(l.Part, "request.namespace") || slices.Contains([]string{"earlier", "request.user", "request.groups"}, l.Part)
	})
	return w.Policies.Decide(ctx, in, q)
}

// bench runs the fixtures of one policy.
type bench struct {
	fsys     fs.FS
	policy   string
	printed  *bytes.Buffer // what policies print goes here
	tested   bool          // by rules in Rego, which evaluate it: then fixtures are not asked for
	reviewer preflight.Reviewer
}

func (b bench) folder(ctx context.Context, dir string) ([]Tested, error) {
	entries, err := fs.ReadDir(b.fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read fixtures: %w", err)
	}
	var out []Tested
	allows, speaks := 0, 0
	for _, e := range entries {
		name := e.Name()
		effect := exampleOf(name)
		if effect == "" {
			continue
		}
		silent := effect == "allow"
		if silent {
			allows++
		} else {
			speaks++
		}
		file := path.Join(dir, name)
		tested := Tested{Policy: b.policy, Fixture: file}
		b.printed.Reset()
		if tested.Got, err = b.rule(ctx, file); err != nil {
			tested.Problem = err.Error()
		} else {
			tested.Problem = b.compare(file, silent, tested.Got)
		}
		tested.Printed = b.printed.String()
		out = append(out, tested)
	}
	if (allows == 0 || speaks == 0) && !(b.tested && allows+speaks == 0) {
		out = append(out, Tested{Policy: b.policy, Fixture: dir, Problem: b.lacks(dir, allows, speaks)})
	}
	return out, nil
}

// lacks says which examples of a policy are not there, where they are looked for, and what lies beside it that may
// have been meant as one.
func (b bench) lacks(dir string, allows, speaks int) string {
	out := fmt.Sprintf("it has %d examples allow-NAME.yaml and %d deny-NAME.yaml, warn-NAME.yaml or mute-NAME.yaml in %s; "+
		"want 1 of each at least, or a test in Rego", allows, speaks, dir)
	entries, err := fs.ReadDir(b.fsys, path.Dir(path.Dir(dir)))
	if err != nil {
		return out
	}
	for _, e := range entries {
		text, err := fs.ReadFile(b.fsys, path.Join(path.Dir(path.Dir(dir)), e.Name()))
		if path.Ext(e.Name()) == ".yaml" && err == nil && bytes.Contains(text, []byte("kind:")) {
			return out + fmt.Sprintf("; %s, which lies beside the policy, is none: copy it there under such a name", e.Name())
		}
	}
	return out
}

// rule reviews the job of one fixture and prints what the policy says.
func (b bench) rule(ctx context.Context, file string) (string, error) {
	text, err := fs.ReadFile(b.fsys, file)
	if err != nil {
		return "", err
	}
	request, err := requestIn(file, text)
	if err != nil {
		return "", err
	}
	report, err := b.reviewer.Review(ctx, request)
	if err != nil {
		return "", err
	}
	if len(report.Undecided) > 0 {
		return "", fmt.Errorf("undecided: %s", strings.Join(report.Undecided, "; "))
	}
	var out strings.Builder
	for _, r := range report.Rulings {
		if r.Policy == b.policy {
			fmt.Fprintf(&out, "%s %s: %s\n", r.Effect, r.Path, r.Message)
		}
	}
	for _, e := range report.Exempted {
		if muted, of := strings.CutPrefix(e, b.policy+": "); of && strings.Contains(muted, " is muted: ") {
			fmt.Fprintf(&out, "%s %s\n", preflight.Mute, muted)
		}
	}
	return out.String(), nil
}

func (b bench) compare(file string, silent bool, got string) string {
	if silent {
		if got != "" {
			return "it speaks: " + strings.TrimSpace(got)
		}
		return ""
	}
	name := strings.TrimSuffix(file, ".yaml") + ".want"
	want, err := fs.ReadFile(b.fsys, name)
	if err != nil {
		return fmt.Sprintf("there is no %s; it says: %s", path.Base(name), orNothing(got))
	}
	if string(bytes.TrimSpace(want)) != strings.TrimSpace(got) {
		return fmt.Sprintf("want %s\ngot  %s", orNothing(string(want)), orNothing(got))
	}
	return ""
}

func orNothing(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return "nothing"
	}
	return s
}

// requestIn reads a fixture.
func requestIn(file string, text []byte) (preflight.Request, error) {
	request := preflight.Request{Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}, Source: file}
	var view manifest.View
	var asks *manifest.Document
	for doc, err := range manifest.Read(file, bytes.NewReader(text)) {
		switch {
		case err != nil:
			return request, err
		case doc.Object.GroupVersionKind() == RequestKind:
			asks = &doc
		case request.Object == nil && kinds.For(doc.Object.GroupVersionKind()) != nil:
			request.Object = doc.Object
		case !doc.List:
			view.Objects = append(view.Objects, doc.Object)
		}
	}
	if request.Object == nil {
		return request, fmt.Errorf("%s holds no job of a kind that is covered", file)
	}
	if asks != nil {
		if err := Fill(asks.Object, &request); err != nil {
			return request, fmt.Errorf("%s: %w", asks.Where(), err)
		}
	}
	if len(view.Objects) > 0 {
		var err error
		if request.Cluster, err = view.Snapshot(); err != nil {
			return request, err
		}
	}
	return request, nil
}

// Fill takes over what a ReviewRequest says. A field that is misspelt or of another type
// would leave the question another one. What it does not say stays as it is.
func Fill(o *unstructured.Unstructured, request *preflight.Request) error {
	known := []string{"apiVersion", "kind", "metadata", "namespaceLabels", "user", "groups", "operation", "oldObject", "dryRun", "at"}
	for _, field := range slices.Sorted(maps.Keys(o.Object)) {
		if !slices.Contains(known, field) {
			return fmt.Errorf("a ReviewRequest has no field %q%s", field, check.DidYouMean(field, known))
		}
	}
	labels, _, err := unstructured.NestedStringMap(o.Object, "namespaceLabels")
	request.Namespace = maps.Clone(request.Namespace)
	for name, value := range labels {
		request.Namespace = with(request.Namespace, name, value)
	}
	errs := []error{err}
	text := func(field string, into *string) {
		said, _, err := unstructured.NestedString(o.Object, field)
		*into, errs = cmp.Or(said, *into), append(errs, err)
	}
	text("user", &request.User)
	text("operation", &request.Operation)
	if groups, said, err := unstructured.NestedStringSlice(o.Object, "groups"); said || err != nil {
		request.Groups, errs = groups, append(errs, err)
	}
	if dry, said, err := unstructured.NestedBool(o.Object, "dryRun"); said || err != nil {
		request.DryRun, errs = dry, append(errs, err)
	}
	if old, said, err := unstructured.NestedMap(o.Object, "oldObject"); said || err != nil {
		request.Operation, errs = "UPDATE", append(errs, err)
		request.Old = &unstructured.Unstructured{Object: patched(request.Object.Object, old)}
	}
	if at, said := o.Object["at"]; said {
		written, _ := at.(string)
		var unread error
		if request.Now, unread = time.Parse(time.RFC3339, written); unread != nil {
			errs = append(errs, fmt.Errorf(`at is %v; write it as "2026-12-24T10:00:00Z"`, at))
		}
	}
	return errors.Join(errs...)
}

// patched is an object with what a merge patch says (RFC 7396): null takes a field away.
func patched(object, patch map[string]any) map[string]any {
	out := maps.Clone(object)
	for key, v := range patch {
		inner, deep := v.(map[string]any)
		switch {
		case v == nil:
			delete(out, key)
		case deep:
			before, _ := out[key].(map[string]any)
			out = with(out, key, any(patched(before, inner)))
		default:
			out = with(out, key, v)
		}
	}
	return out
}

func with[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}
