package policies_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
)

// Whoever works on policies and jobs in one folder has manifests beside the rules.
func TestManifestsAreNoData(t *testing.T) {
	folder := files(
		"a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}",
		"b.yml", "---\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: b}",
		"c.json", `{"apiVersion": "v1", "kind": "List", "items": []}`,
		"chart.yaml", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Values.name }}",
		"settings.yaml", "apiVersion: example.com/v1\nkind: Settings\nconfig: {limit: 1}",
		"data.yaml", "kinds: of\nlimits: {a: 1}",
	)
	if _, err := policies.Load(folder); err != nil {
		t.Fatal(err)
	}
	got, err := policies.PassedOver(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a.yaml", "b.yml", "c.json", "chart.yaml"}, got); diff != "" {
		t.Errorf("PassedOver (-want +got):\n%s", diff)
	}
}
