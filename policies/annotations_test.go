package policies_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// TestAChangeOfAnnotationsIsAsked of the policies that read them; it is denied only for what was not so before.
func TestAChangeOfAnnotationsIsAsked(t *testing.T) {
	const costs = `deny contains {"path": "", "msg": "it has no cost-center"} if not input.job.annotations["example.com/cost-center"]`
	const nothing, job = `deny contains {"path": "", "msg": "nothing runs"} if input.job.kind`, `apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: ml, annotations: {example.com/cost-center: "17", note: a}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "a:1"}]}}}
`
	const kept, taken = `example.com/cost-center: "17", `, ``
	change := func(from, to string) func(string) string {
		return func(s string) string { return strings.Replace(s, from, to, 1) }
	}
	cases := map[string]struct {
		policy   string // what is loaded
		was, now func(string) string
		want     string
	}{
		"it is taken away":                    {costs, nil, change(kept, taken), "deny: it has no cost-center"},
		"another one is changed":              {costs, nil, change("note: a", "note: b"), "nothing was reviewed"},
		"it was never there, another is made": {costs, change(kept, taken), func(string) string { return strings.Replace(job, kept, `example.com/other: "1", `, 1) }, "nothing was reviewed"},
		"one by a name that is computed":      {`deny contains {"path": "", "msg": k} if some k, "b" in input.job.annotations`, nil, change("note: a", "note: b"), "deny: note"},
		"it was denied before, too":           {`deny contains {"path": "", "msg": "many"} if count(input.job.annotations) > 0`, nil, change("note: a", "note: b"), ""},
		"of the object":                       {`deny contains {"path": path, "msg": "b"} if walk(input.object, [path, "b"])`, nil, change("note: a", "note: b"), "deny: b"},
		"against what was before":             {`deny contains {"path": "", "msg": "it stays"} if input.old_object.metadata.annotations.note != input.object.metadata.annotations.note`, nil, change("note: a", "note: b"), "deny: it stays"},
		"what denies all reads none":          {nothing, nil, change("note: a", "note: b"), "nothing was reviewed"},
		"and beside one that does":            {nothing + "\n" + costs, nil, change(kept, taken), "deny: it has no cost-center"},
		"an exception":                        {nothing + "\n" + `exempt contains {"msg": "paid"} if input.job.annotations["example.com/cost-center"]`, nil, change(kept, taken), "deny: nothing runs"},
		"undecided, and closed":               {strings.Replace(costs, `not input.job.annotations["example.com/cost-center"]`, `to_number(input.job.annotations["example.com/cost-center"]) > 99`, 1), nil, change(`"17"`, `"x"`), `deny: could not be evaluated, and is closed on failure: a.rego:9: eval_builtin_error: to_number: strconv.ParseFloat: parsing "x": invalid syntax`},
		"what Signalbox writes":               {`deny contains {"path": "", "msg": "no"} if count(input.job.annotations) > 2`, nil, change("note: a", "note: a, signalbox.dev/healthy: \"No\""), "nothing was reviewed"},
		"a rule about findings":               {`deny contains {"path": "", "msg": "no"} if {` + "\n\tcount(input.findings) > 0\n\tinput.job.annotations.note == \"b\"\n}", nil, change("note: a", "note: b"), "deny: no"},
	}
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(policy("a", tc.policy), "#   remedy", "#   failure: closed\n#   remedy", 1)
			// Another policy denies the job as it stands: a change of annotations is not asked for that.
			o := load(t, files("a.rego", text, "b.rego", policy("b", `deny contains {"path": "spec", "msg": "no Jobs"} if input.job.kind == "Job"`)))
			was := job
			if tc.was != nil {
				was = tc.was(job)
			}
			r := preflight.Reviewer{Policies: o, Checks: set}
			report, err := r.Review(t.Context(), preflight.Request{
				Object: object(t, tc.now(was)), Old: object(t, was), Operation: "UPDATE",
				Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce},
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range report.Rulings {
				got = append(got, string(r.Effect)+": "+r.Message)
			}
			if len(report.Skipped) > 0 {
				got = append(got, "nothing was reviewed")
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("%+v\n-want +got\n%s", report, diff)
			}
			if len(report.Findings) > 0 || report.Ran > 0 && tc.want == "" {
				t.Errorf("what was found before is found again: %v", report.Findings)
			}
		})
	}
}

// TestPackageMainReadsWhatItReads: not the whole object, so that not each annotation is asked about.
func TestPackageMainReadsWhatItReads(t *testing.T) {
	for rule, want := range map[string]bool{
		`input.spec.n > 2`: false, `input.metadata.annotations.note == "a"`: true, `input.metadata.annotations.other == "a"`: false,
		`input.metadata.annotations[_] == "a"`: true, `walk(input, [_, "a"])`: true, `input.metadata.labels.note == "a"`: false,
	} {
		o, err := policies.Load(files("a.rego", "package main\nimport rego.v1\ndeny contains \"x\" if "+rule))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.InForce().ReadsAnnotation("note"); got != want {
			t.Errorf("%s: it reads the annotation: %v; want %v", rule, got, want)
		}
	}
}
