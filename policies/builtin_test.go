package policies

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// looked is what is misspelt in a set when files that are built in are looked at too, and where they are passed over.
func looked(t *testing.T, from ...fs.FS) (all, shown string) {
	t.Helper()
	rules, _, err := collect(from)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := parse(rules)
	if err != nil {
		t.Fatal(err)
	}
	compiler := newCompiler()
	if compiler.Compile(byFile(modules)); compiler.Failed() {
		t.Fatal(compiler.Errors)
	}
	if errs := misspelt(compiler, nil); len(errs) > 0 {
		all = errs.Error()
	}
	if errs := misspelt(compiler, builtIn(modules)); len(errs) > 0 {
		shown = errs.Error()
	}
	return all, shown
}

// TestTheLibraryMisspellsNothing: so it may be passed over, and a file of it that somebody has changed is not.
func TestTheLibraryMisspellsNothing(t *testing.T) {
	if all, _ := looked(t, Library()); all != "" {
		t.Error(all)
	}
	text, err := fs.ReadFile(Library(), "image_registry.rego")
	if err != nil {
		t.Fatal(err)
	}
	const right, wrong = "input.job.namespace,", `object.get(input.job, "namespaze", ""),`
	changed := strings.Replace(string(text), right, wrong, 1)
	if all, shown := looked(t, fstest.MapFS{"image_registry.rego": {Data: []byte(changed)}}); !strings.Contains(all, "undefined field: namespaze") || shown != all {
		t.Errorf("%q is misspelt, and %q is shown", all, shown)
	}
}

// TestWhoCallsTheLibraryHasItLookedAt: what a function is asked about elsewhere counts for it.
func TestWhoCallsTheLibraryHasItLookedAt(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want string
	}{
		"a function of the library":            {`some role in input.job.roles; data.signalbox.image_registry.has_registry(role.name)`, ""},
		"one that is asked about others there": {`data.signalbox.change_freeze.holds(input.job)`, ""}, // which has no namespaces
		"a function of the library, misspelt":  {`some role in input.job.roles; object.get(role, "nam", "") != ""; data.signalbox.image_registry.has_registry(role.name)`, "undefined field: nam"},
		"no function of the library, misspelt": {`some role in input.job.roles; object.get(role, "nam", "") != ""`, "undefined field: nam"},
	} {
		t.Run(name, func(t *testing.T) {
			own := "# METADATA\n# title: t\n# description: d\n# custom: {remedy: r.}\npackage signalbox.a\n\ndeny contains \"x\" if { " + tc.body + " }\n"
			all, shown := looked(t, Library(), fstest.MapFS{"a.rego": {Data: []byte(own)}})
			if !strings.Contains(all, tc.want) || (tc.want == "") != (all == "") || shown != all {
				t.Errorf("all %q, shown %q, want %q", all, shown, tc.want)
			}
		})
	}
}
