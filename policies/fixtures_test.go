package policies_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestExamplesAreFoundOrMissed: under the name of the file or of the package; examples at which no policy looks prove
// nothing, and neither do the tests of another policy.
func TestExamplesAreFoundOrMissed(t *testing.T) {
	const few = "testdata/few/"
	rule := policy("few_pods", `deny contains {"path": "spec", "msg": "many"} if input.job.pods > 8`)
	job := contractJob[:strings.Index(contractJob, "---")]
	beside := func(dir string) map[string]string {
		return map[string]string{dir + "allow-a.yaml": job, dir + "deny-a.yaml": strings.Replace(job, "replicas: 2", "replicas: 20", 1), dir + "deny-a.want": "deny spec: many"}
	}
	const lacks = "it has 0 examples"
	cases := map[string]struct {
		also map[string]string
		want []string // what is wrong
	}{
		"the file's name":        {beside(few), nil},
		"the package's name":     {beside("testdata/few_pods/"), nil},
		"as it is printed":       {beside("testdata/few-pods/"), nil},
		"no name":                {beside("testdata/few_pod/"), []string{lacks, "its examples are of no policy: allow-a.yaml lies where none looks"}},
		"no folder":              {beside("testdata/"), []string{lacks, "its examples are of no policy: allow-a.yaml lies where none looks"}},
		"a test":                 {map[string]string{"few_test.rego": "package few_test\n\nimport data.signalbox.few_pods\n\ntest_none if count(few_pods.deny) == 0 with input.job.pods as 1"}, nil},
		"a test of another rule": {map[string]string{"few_test.rego": "package few_test\n\ntest_nothing if 1 < 2"}, []string{lacks}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fsys := files("few.rego", rule)
			for file, text := range tc.also {
				maps.Copy(fsys, files(file, text))
			}
			results, _, err := policies.Test(t.Context(), fsys, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range results {
				if r.Problem == "" {
					continue
				}
				got = append(got, r.Problem)
				for _, want := range tc.want {
					if strings.HasPrefix(r.Problem, want) {
						got[len(got)-1] = want
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error("-want +got\n" + diff)
			}
		})
	}
}

// TestACopyOfTheLibraryIsTheLibrary: to the letter; with other rules it is another policy of the same name.
func TestACopyOfTheLibraryIsTheLibrary(t *testing.T) {
	if _, err := policies.Load(policies.Library(), os.DirFS("library")); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile("library/never_fits.rego")
	if err != nil {
		t.Fatal(err)
	}
	const want = "load policy mine.rego: package signalbox.never_fits is in never_fits.rego, which is built in, already; a package is one file"
	if _, err := policies.Load(policies.Library(), files("mine.rego", string(text)+"\n# changed\n")); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}
