package tuning

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight"
)

// soonGone is deleted a minute after its end: ttl-deletes-logs says so in a note.
const soonGone = `apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: NAMESPACE}
spec:
  ttlSecondsAfterFinished: 60
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "registry.example.com/train:1", resources: {limits: {cpu: 1, memory: 1Gi}}}]
`

func TestTune(t *testing.T) {
	cases := map[string]struct {
		config     string
		everywhere string // what is said in namespace a
		in         string // what is said in namespace ml
		wantErr    string
	}{
		"nothing said":             {"", "note", "note", ""},
		"off":                      {"checks: {disable: [ttl-deletes-logs]}", "", "", ""},
		"off as a severity":        {"checks: {severity: {ttl-deletes-logs: 'off'}}", "", "", ""},
		"graver":                   {"checks: {severity: {ttl-deletes-logs: error}}", "error", "error", ""},
		"a parameter":              {"checks: {params: {ttl-deletes-logs: {leastSeconds: 30}}}", "", "", ""},
		"off in a namespace":       {"checks: {namespaces: {ml: {disable: [ttl-deletes-logs]}}}", "note", "", ""},
		"on in a namespace":        {"checks: {disable: [ttl-deletes-logs], namespaces: {ml: {severity: {ttl-deletes-logs: warning}}}}", "", "warning", ""},
		"a parameter there":        {"checks: {params: {ttl-deletes-logs: {leastSeconds: 30}}, namespaces: {ml: {params: {ttl-deletes-logs: {leastSeconds: 90}}}}}", "", "note", ""},
		"a name misspelt":          {"checks: {disable: [ttl-deletes-log]}", "", "", `checks.disable: no check is called "ttl-deletes-log"; did you mean "ttl-deletes-logs"?`},
		"misspelt in a namespace":  {"checks: {namespaces: {ml: {severity: {ttl-delete-logs: note}}}}", "", "", `checks.namespaces.ml.severity: no check is called "ttl-delete-logs"; did you mean "ttl-deletes-logs"?`},
		"a parameter misspelt":     {"checks: {params: {ttl-deletes-logs: {leastSecond: 1}}}", "", "", `checks.params.ttl-deletes-logs: no parameter is called "leastSecond"; did you mean "leastSeconds"?`},
		"a parameter of no number": {"checks: {params: {ttl-deletes-logs: {leastSeconds: soon}}}", "", "", `checks.params.ttl-deletes-logs: json: cannot unmarshal string`},
		"parameters that are none": {"checks: {params: {ttl-deletes-logs: 3}}", "", "", `checks.params.ttl-deletes-logs: expected names and values`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			settings, err := config.Read(strings.NewReader(tc.config))
			if err != nil {
				t.Fatal(err)
			}
			as, err := Of(settings.Checks)
			if tc.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.wantErr) {
					t.Fatalf("have %v\nwant %s", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []string{said(t, as, "a"), said(t, as, "ml")}
			if diff := cmp.Diff([]string{tc.everywhere, tc.in}, got); diff != "" {
				t.Errorf("severity in a and in ml (-want +got):\n%s", diff)
			}
		})
	}
}

// said is with which severity the review speaks about soonGone in a namespace.
func said(t *testing.T, as Tuned, namespace string) string {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(strings.Replace(soonGone, "NAMESPACE", namespace, 1)), &o.Object); err != nil {
		t.Fatal(err)
	}
	r, err := (&preflight.Reviewer{Checks: as.Everywhere, Namespaces: as.In}).Review(t.Context(), preflight.Request{Object: o})
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, f := range r.Findings {
		words = append(words, f.Severity.String())
	}
	return strings.Join(words, " ")
}
