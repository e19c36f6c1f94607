package check_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// TestNamesLongerThanThereAreAreNotCompared: two of 400,000 letters would take minutes.
func TestNamesLongerThanThereAreAreNotCompared(t *testing.T) {
	for n, want := range map[int]bool{252: true, 253: false} { // one letter more is compared
		if name := strings.Repeat("a", n); (check.DidYouMean(name+"b", []string{name + "c"}).Name() != "") != want {
			t.Errorf("names of %d bytes are compared: %t; want %t", n+1, !want, want)
		}
	}
	long := strings.Repeat("a", 400_000)
	if got := check.Nearest("lenght", []string{"length"}, 1); got != "length" { // two letters swapped are one slip, as in the names of fields
		t.Errorf("nearest of lenght is %q; want length", got)
	}
	if got := check.DidYouMean(long+"b", []string{long + "c"}); got.Name() != "" {
		t.Error("names of 400,001 bytes are compared")
	}
}

// rule is a check that keeps all promises and reports at the paths.
func rule(name string, paths ...job.Path) *check.Check {
	return &check.Check{
		Name: name, Title: "something is wrong", Remedy: "Do it otherwise.", Since: "0.1", Severity: finding.Warning,
		Run: func(p *check.Pass) {
			for _, at := range paths {
				p.Reportf(at, "%s is wrong", name)
			}
		},
	}
}

func newSet(t testing.TB, checks ...*check.Check) *check.Set {
	t.Helper()
	s, err := check.NewSet(checks...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func train(annotations map[string]string) *job.Job {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"a": map[string]any{"b": int64(1)}, "ab": int64(1), "b": int64(1), "z": int64(1)}}}
	o.SetAnnotations(annotations)
	return &job.Job{Ref: job.Ref{Kind: "PyTorchJob", APIVersion: "kubeflow.org/v1", Name: "train"}, Source: o}
}

// told prints outcomes the way the cases below are written.
func told(outcomes []check.Outcome) string {
	var b strings.Builder
	for _, o := range outcomes {
		b.WriteString(o.Check + ":")
		if o.Skipped.Reason != check.Ran {
			b.WriteString(" skipped, " + o.Skipped.String())
		}
		if o.Err != nil {
			b.WriteString(" error, " + o.Err.Error())
		}
		if o.Failed {
			b.WriteString(" (our fault)")
		}
		for _, f := range o.Findings {
			b.WriteString(" " + f.Severity.String() + " at " + string(f.Path))
		}
		b.WriteString("\n")
	}
	return lineNumber.ReplaceAllString(b.String(), "_test.go:N")
}

var lineNumber = regexp.MustCompile(`_test\.go:\d+`)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestValidateNamesEveryBrokenPromise(t *testing.T) {
	with := func(change func(*check.Check)) *check.Check {
		c := rule("a-rule")
		change(c)
		return c
	}
	cases := map[string]struct {
		checks []*check.Check
		want   string // empty: fine
	}{
		"a good one":               {[]*check.Check{rule("a-rule")}, ""},
		"an acronym first":         {[]*check.Check{with(func(c *check.Check) { c.Title = "MPI needs a launcher" })}, ""},
		"nil":                      {[]*check.Check{nil}, "check 0 is nil"},
		"a name with capitals":     {[]*check.Check{rule("ARule")}, "the name must be a slug"},
		"a title with a full stop": {[]*check.Check{with(func(c *check.Check) { c.Title = "it ends." })}, "ends with a full stop"},
		"a title with a capital":   {[]*check.Check{with(func(c *check.Check) { c.Title = "It begins" })}, "begins with a capital"},
		"a long title":             {[]*check.Check{with(func(c *check.Check) { c.Title = strings.Repeat("x", 73) })}, "has 73 runes; at most 72 fit"},
		"a remedy without an end":  {[]*check.Check{with(func(c *check.Check) { c.Remedy = "Do it" })}, "not a sentence with a full stop"},
		"no severity":              {[]*check.Check{with(func(c *check.Check) { c.Severity = 0 })}, "severity 0 is not note (1)"},
		"no since":                 {[]*check.Check{with(func(c *check.Check) { c.Since = "" })}, "no Since"},
		"no run":                   {[]*check.Check{with(func(c *check.Check) { c.Run = nil })}, "no Run"},
		"parameters that are nil":  {[]*check.Check{with(func(c *check.Check) { c.Params = func() any { return nil } })}, "Params returns nil"},
		"two of one name":          {[]*check.Check{rule("a"), rule("a")}, "two checks have this name"},
		"an unknown eclipse":       {[]*check.Check{with(func(c *check.Check) { c.Eclipses = []string{"b"} })}, `eclipses "b", which is not in the set`},
		"a circle of eclipses": {[]*check.Check{
			{Name: "a", Title: "x", Remedy: "Do.", Since: "0", Severity: 1, Eclipses: []string{"b"}, Run: rule("a").Run},
			{Name: "b", Title: "x", Remedy: "Do.", Since: "0", Severity: 1, Eclipses: []string{"a"}, Run: rule("b").Run},
		}, "eclipses itself: a → b → a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := check.Validate(tc.checks...)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("Validate: have %v\nwant %q", err, tc.want)
			}
		})
	}
}

type bound struct{ Most int }

func TestSelect(t *testing.T) {
	withParams := rule("shm-missing")
	withParams.Params = func() any { return &bound{Most: 3} }
	withParams.Run = func(p *check.Pass) { p.Reportf("spec", "most %d", p.Params.(*bound).Most) }
	set := newSet(t, withParams, rule("gang-does-not-fit", "spec.a"))
	cases := map[string]struct {
		selection check.Selection
		want      string // what runs, or the error
	}{
		"nothing said":         {check.Selection{}, "gang-does-not-fit: warning at spec.a\nshm-missing: warning at spec\n"},
		"one off":              {check.Selection{Off: []string{"shm-missing"}}, "gang-does-not-fit: warning at spec.a\n"},
		"another severity":     {check.Selection{Severity: map[string]finding.Severity{"gang-does-not-fit": finding.Error}}, "gang-does-not-fit: error at spec.a\nshm-missing: warning at spec\n"},
		"an unknown name":      {check.Selection{Off: []string{"shm-mising"}}, `switch off: no check is called "shm-mising"; did you mean "shm-missing"?`},
		"nothing like it":      {check.Selection{Off: []string{"zzz"}}, `switch off: no check is called "zzz"; signalbox list checks names all`},
		"no such severity":     {check.Selection{Severity: map[string]finding.Severity{"shm-missing": 7}}, "set severity of shm-missing: have 7, want note (1), warning (2) or error (3)"},
		"an unknown parameter": {check.Selection{Params: map[string]any{"shm-missing": map[string]any{"least": 1}}}, `set parameters of shm-missing: no parameter is called "least"`},
		"a parameter misspelt": {check.Selection{Params: map[string]any{"shm-missing": map[string]any{"Mots": 1}}}, `set parameters of shm-missing: no parameter is called "Mots"; did you mean "Most"?`},
		"no parameters at all": {check.Selection{Params: map[string]any{"gang-does-not-fit": map[string]any{}}}, "set parameters of gang-does-not-fit: it has none"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			selected, err := set.Select(tc.selection)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = told(selected.Run(t.Context(), check.Input{Job: train(nil)}))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Select (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("parameters arrive", func(t *testing.T) {
		selected, err := set.Select(check.Selection{Params: map[string]any{"shm-missing": map[string]any{"most": 9}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := selected.Run(t.Context(), check.Input{Job: train(nil)})[1].Findings[0].Message; got != "most 9" {
			t.Errorf("the check saw %q; want most 9", got)
		}
		if got := set.Run(t.Context(), check.Input{Job: train(nil)})[1].Findings[0].Message; got != "most 3" {
			t.Errorf("the first set saw %q; want most 3", got)
		}
	})
}

func TestRun(t *testing.T) {
	panics := rule("b-panics")
	panics.Run = func(p *check.Pass) {
		p.Reportf("spec", "%d", p.Job.Roles[len(p.Job.Roles)].Replicas.Max)
	}
	fails := rule("c-fails")
	fails.Run = func(p *check.Pass) { p.Reportf("spec", "half a thought"); p.Fail(errors.New("no idea")) }
	nodes, objects, labels, update, whole, elsewhere, refused := rule("nodes", "spec"), rule("objects", "spec"), rule("labels", "spec"), rule("update", "spec"), rule("whole", "spec"), rule("elsewhere", "spec"), rule("master-count", "spec")
	nodes.Needs, objects.Needs, labels.Needs, update.Needs, whole.Needs = check.Cluster, check.Objects, check.Namespace, check.Update, check.Whole
	elsewhere.Kinds = []string{"TFJob.kubeflow.org"}
	namesake, here, leads, hops := rule("namesake", "spec"), rule("here", "spec"), rule("leads", "spec"), rule("hops", "spec")
	namesake.Kinds, here.Kinds = []string{"PyTorchJob.example.com"}, []string{"PyTorchJob.kubeflow.org"}
	leads.Where = func(o *kinds.Operator) bool { return o.Masters != nil }
	hops.Where = func(o *kinds.Operator) bool { return o.Has(kinds.Launcher) }
	cause, effect := rule("cause", "spec.a"), rule("effect", "spec.a.b", "spec.ab")
	cause.Eclipses = []string{"effect"}
	var b cluster.Builder
	b.Incomplete("caches not synced")
	untrusted := b.Snapshot(noon)

	cases := map[string]struct {
		checks []*check.Check
		in     check.Input
		want   string
	}{
		"in the order of names":              {[]*check.Check{rule("b", "spec"), rule("a", "spec.z", "spec.b")}, check.Input{}, "a: warning at spec.b warning at spec.z\nb: warning at spec\n"},
		"the same words once":                {[]*check.Check{rule("a", "spec", "spec")}, check.Input{}, "a: warning at spec\n"},
		"a panic is that check's error":      {[]*check.Check{rule("a", "spec"), panics}, check.Input{}, "a: warning at spec\nb-panics: error, run check b-panics: panic: runtime error: index out of range [0] with length 0 at check_test.go:N (check_test.TestRun.func1) (our fault)\n"},
		"a failed check says nothing":        {[]*check.Check{fails}, check.Input{}, "c-fails: error, run check c-fails: no idea (our fault)\n"},
		"no cluster view":                    {[]*check.Check{nodes, objects}, check.Input{}, "nodes: skipped, needs a cluster view; no cluster was looked at\nobjects: skipped, needs a cluster view; no cluster was looked at\n"},
		"a view that is not to be trusted":   {[]*check.Check{nodes, objects}, check.Input{Cluster: untrusted}, "nodes: skipped, needs a cluster view: caches not synced\nobjects: warning at spec\n"},
		"the same, live, is our fault":       {[]*check.Check{nodes}, check.Input{Cluster: untrusted, Live: true}, "nodes: skipped, needs a cluster view: caches not synced (our fault)\n"},
		"unknown labels":                     {[]*check.Check{labels}, check.Input{}, "labels: skipped, needs the labels of the namespace; unknown\n"},
		"known labels":                       {[]*check.Check{labels}, check.Input{Namespace: map[string]string{}}, "labels: warning at spec\n"},
		"nothing before":                     {[]*check.Check{update}, check.Input{}, "update: skipped, nothing was changed: there is no object before\n"},
		"half a job":                         {[]*check.Check{whole}, check.Input{Partial: true}, "whole: skipped, needs all of the job; not all of it could be read\n"},
		"another kind":                       {[]*check.Check{elsewhere}, check.Input{}, "elsewhere: skipped, kind not covered\n"},
		"another group's kind of that name":  {[]*check.Check{here, namesake}, check.Input{}, "here: warning at spec\nnamesake: skipped, kind not covered\n"},
		"by what the operator does":          {[]*check.Check{leads, hops}, check.Input{}, "hops: skipped, kind not covered\nleads: warning at spec\n"},
		"refused by the operator, offline":   {[]*check.Check{refused}, check.Input{}, "master-count: warning at spec\n"},
		"refused by the operator, live":      {[]*check.Check{refused}, check.Input{Live: true}, "master-count: warning at spec\n"},
		"refused by a webhook that is seen":  {[]*check.Check{refused}, check.Input{Answers: "webhook w"}, "master-count: skipped, answered by webhook w\n"},
		"another kind's webhook":             {[]*check.Check{rule("a", "spec")}, check.Input{Answers: "webhook w"}, "a: warning at spec\n"},
		"the cause hides what lies below it": {[]*check.Check{cause, effect}, check.Input{}, "cause: warning at spec.a\neffect: warning at spec.ab\n"},
		"no job":                             {[]*check.Check{rule("a", "spec")}, check.Input{Job: nil}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if name != "no job" {
				tc.in.Job = train(nil)
			}
			set := newSet(t, tc.checks...)
			if diff := cmp.Diff(tc.want, told(set.Run(t.Context(), tc.in))); diff != "" {
				t.Errorf("Run (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPassedDeadlineSkipsWhatIsLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stops := rule("b")
	stops.Run = func(*check.Pass) { cancel() }
	got := told(newSet(t, rule("a", "spec"), stops, rule("c", "spec")).Run(ctx, check.Input{Job: train(nil)}))
	want := "a: warning at spec\nb:\nc: skipped, deadline passed before it ran (our fault)\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Run (-want +got):\n%s", diff)
	}
}

func TestACheckThatIsCutOffDidNotRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cut, again := rule("a"), rule("b", "spec")
	cut.Run = func(p *check.Pass) {
		for i := range 3 {
			if p.Over() {
				return
			}
			p.Reportf("spec", "role %d", i)
			cancel()
		}
		p.Fail(errors.New("it went on"))
	}
	got := told(newSet(t, cut, again).Run(ctx, check.Input{Job: train(nil)}))
	want := "a: skipped, deadline passed before it ran (our fault)\nb: skipped, deadline passed before it ran (our fault)\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Run (-want +got):\n%s", diff)
	}
}

func TestAGivenFitReachesTheChecks(t *testing.T) {
	asked := 0
	asks := func(name string) *check.Check {
		c := rule(name)
		c.Run = func(p *check.Pass) { p.Fit() }
		return c
	}
	var b cluster.Builder
	newSet(t, asks("a"), asks("b")).Run(t.Context(), check.Input{Job: train(nil), Cluster: b.Snapshot(noon), Fit: func() fit.Result { asked++; return fit.Result{} }})
	if asked != 2 {
		t.Errorf("the given answer was asked %d times; want 2, once by each check", asked)
	}
}

func TestIgnoreAnnotation(t *testing.T) {
	const ignore, reason = "signalbox.dev/ignore", "signalbox.dev/ignore-reason"
	cases := map[string]struct {
		annotations map[string]string
		want        string
	}{
		"none":               {nil, "shm-missing: warning at spec\nshm-without-size: warning at spec\n"},
		"with a reason":      {map[string]string{ignore: "shm-missing, shm-without-size", reason: "tested\nby hand"}, "shm-missing: skipped, ignored by annotation: tested by hand\nshm-without-size: skipped, ignored by annotation: tested by hand\n"},
		"without a reason":   {map[string]string{ignore: "shm-missing", reason: " "}, "shm-missing: warning at spec\nshm-without-size: warning at spec\nignore-annotation: note at metadata.annotations[\"signalbox.dev/ignore\"]\n"},
		"an unknown name":    {map[string]string{ignore: "shm-mising", reason: "x"}, "shm-missing: warning at spec\nshm-without-size: warning at spec\nignore-annotation: note at metadata.annotations[\"signalbox.dev/ignore\"]\n"},
		"a reason for none":  {map[string]string{reason: "x"}, "shm-missing: warning at spec\nshm-without-size: warning at spec\n"},
		"a very long reason": {map[string]string{ignore: "shm-missing", reason: strings.Repeat("é", 300)}, "shm-missing: skipped, ignored by annotation: " + strings.Repeat("é", 199) + "…\nshm-without-size: warning at spec\n"},
	}
	set := newSet(t, rule("shm-missing", "spec"), rule("shm-without-size", "spec"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, told(set.Run(t.Context(), check.Input{Job: train(tc.annotations)}))); diff != "" {
				t.Errorf("Run (-want +got):\n%s", diff)
			}
		})
	}
	outcomes := set.Run(t.Context(), check.Input{Job: train(map[string]string{ignore: "shm-mising", reason: "x"})})
	want := `no check that runs here is called "shm-mising"; did you mean "shm-missing"?`
	if got := outcomes[2].Findings[0].Message; got != want {
		t.Errorf("note: %q; want %q", got, want)
	}
}

// TestAPathLeadsIntoTheJob: a rule may name what is not written; the finding then names what
// should hold it.
func TestAPathLeadsIntoTheJob(t *testing.T) {
	got := told(newSet(t, rule("a", "spec.a.missing.deeper", "spec.b", "status.phase")).Run(t.Context(), check.Input{Job: train(nil)}))
	if diff := cmp.Diff("a: warning at  warning at spec.a warning at spec.b\n", got); diff != "" {
		t.Errorf("Run (-want +got):\n%s", diff)
	}
}

func TestADeadlineInTheFitSparesWhatReadsOnlyTheJob(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fits, costly := rule("a-fits"), rule("b-costly", "spec")
	fits.Needs, costly.Needs = check.Cluster, check.Cluster
	fits.Run = func(p *check.Pass) { cancel() }
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"})
	got := told(newSet(t, fits, costly, rule("c-cheap", "spec")).Run(ctx, check.Input{Job: train(nil), Cluster: b.Snapshot(noon)}))
	want := "a-fits:\nb-costly: skipped, deadline passed before it ran (our fault)\nc-cheap: warning at spec\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Run (-want +got):\n%s", diff)
	}
}

// What the view does not hold is said beside what was found, and at most so many things are named.
func TestWhatTheViewDoesNotHoldIsSaid(t *testing.T) {
	for lacking, want := range map[int]string{
		1: `a-rule: skipped, the view of the cluster does not hold Secret "0" warning at spec.a` + "\n",
		3: `a-rule: skipped, the view of the cluster does not hold Secret "0", Secret "1", Secret "2" warning at spec.a` + "\n",
		4: `a-rule: skipped, the view of the cluster does not hold Secret "0", Secret "1", Secret "2" and 1 more warning at spec.a` + "\n",
	} {
		c := rule("a-rule", "spec.a")
		found := c.Run
		c.Run = func(p *check.Pass) {
			for i := range lacking {
				p.NotHeld(fmt.Sprintf("Secret %q", strconv.Itoa(i)))
				p.NotHeld(fmt.Sprintf("Secret %q", strconv.Itoa(i))) // of another container
			}
			found(p)
		}
		after := rule("b-rule")
		got := told(newSet(t, c, after).Run(t.Context(), check.Input{Job: train(nil)}))
		if diff := cmp.Diff(want+"b-rule:\n", got); diff != "" {
			t.Errorf("%d things lacking (-want +got):\n%s", lacking, diff)
		}
	}
}

// Outcomes that stand where others stood are the same, and what stood there before is gone; where there is no room, they stand elsewhere.
func TestOutcomesStandInRoomThatIsUsedAgain(t *testing.T) {
	set, in := newSet(t, rule("one", "spec"), rule("two"), rule("three", "metadata", "spec")), check.Input{Job: train(nil)}
	want := told(set.Run(t.Context(), in))
	for size := range 6 {
		room := make([]check.Outcome, size)
		for i := range room {
			room[i] = check.Outcome{Check: "before", Findings: []finding.Finding{{Message: "of another job"}}, Err: errors.New("of another job"), Failed: true, Skipped: check.Skip{Reason: check.Ignored}}
		}
		got := set.RunInto(t.Context(), in, room)
		if diff := cmp.Diff(want, told(got)); diff != "" {
			t.Errorf("in room for %d (-want +got):\n%s", size, diff)
		}
		if here := size > 0 && &got[0] == &room[0]; here != (size >= len(got)) {
			t.Errorf("room for %d of %d is used: %t", size, len(got), here)
		}
	}
}

// TestManyFindingsTakeTimeAsTheirNumber: the square of this number is minutes.
func TestManyFindingsTakeTimeAsTheirNumber(t *testing.T) {
	const many = 300_000
	c := rule("a-rule")
	c.Run = func(p *check.Pass) {
		for i := range 2 * many {
			p.Reportf("", "mistake %d", i%many)
			p.NotHeld(strconv.Itoa(i % many))
		}
	}
	set, err := check.NewSet(c)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []check.Outcome, 1)
	go func() { done <- set.Run(t.Context(), check.Input{Job: train(nil)}) }()
	select {
	case out := <-done:
		if got := len(out[0].Findings); got != many {
			t.Errorf("%d findings; want each of %d once", got, many)
		}
	case <-time.After(20 * time.Second):
		t.Error("took longer than 20s")
	}
}
