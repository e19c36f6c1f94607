package policies_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
)

// TestNoSecretLeavesThroughAPolicy: whatever a policy says of a job's annotations, its object, its variables
// and its namespace, in a denial, an exception, an explanation or a decision log.
func TestNoSecretLeavesThroughAPolicy(t *testing.T) {
	const tells = `all := json.marshal([input.job, input.object, input.old_object, input.request])

deny contains sprintf("no %s", [all]) if input.request.user == "ana"

deny contains sprintf("no %s", [a]) if some a in input.job.annotations

warn contains sprintf("%s: %s", [key, a]) if {
	some role in input.job.roles
	some key, a in role.annotations
}

warn contains sprintf("%s: %s", [key, a]) if some key, a in input.request.namespace_annotations

warn contains sprintf("tag %s", [i]) if {
	some role in input.job.roles
	some i in role.images
}

exempt contains {"msg": sprintf("because %v", [input.job.annotations])} if input.request.user == "eve"
`
	text := strings.NewReplacer(
		"    cost-center: \"4711\"\n", "    cost-center: \"4711\"\n    api-token: sesame-annotation-1\n    note: token=sesame-annotation-2\n",
		`{cost-center: "4711"}`, `{cost-center: "4711", note: "password=sesame-namespace-1"}`,
		"annotations: {kubectl.kubernetes.io/last-applied-configuration: sesame}", `annotations: {kubectl.kubernetes.io/last-applied-configuration: sesame, db-password: sesame-role-4711}`,
		"image: registry.example.com/train:1\n", "image: https://bob:sesame-4711@registry.example.com/train:1\n",
	).Replace(contractJob)
	job, view := streamed(t, text)
	cluster, err := view.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	old := job.DeepCopy()
	old.SetLabels(map[string]string{"team": "speech"})
	for _, user := range []string{"ana", "eve"} {
		o := load(t, files("a.rego", policy("a", tells)))
		req := preflight.Request{Object: job, Old: old, User: user, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeWarn}, Now: noon, Cluster: cluster}
		report, err := (&preflight.Reviewer{Policies: o}).Review(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Undecided) > 0 {
			t.Errorf("undecided: %s", report.Undecided)
		}
		if len(report.Rulings)+len(report.Exempted) == 0 {
			t.Fatalf("the policy says nothing: %+v", report)
		}
		w := &witness{}
		if _, err := (&preflight.Reviewer{Policies: w}).Review(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		explained, err := policies.Explain(t.Context(), o.InForce(), w.seen[len(w.seen)-1])
		if err != nil {
			t.Fatal(err)
		}
		for way, out := range map[string]any{
			"rulings": report.Rulings, "exceptions": report.Exempted, "explanation": explained, "decision log": recorded(t, o, req),
		} {
			written, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			if at := strings.Index(string(written), "sesame"); at >= 0 {
				t.Errorf("%s, %s: %s", user, way, written[max(0, at-80):min(len(written), at+40)])
			}
		}
	}
}
