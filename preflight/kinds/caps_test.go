package kinds

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestAmountsThatTakeMinutesToReadAreNotRead(t *testing.T) {
	for text, good := range map[string]bool{
		strings.Repeat("1", mostDigits): true, strings.Repeat("1", mostDigits+1): false,
		fmt.Sprint("1e", mostExponent): true, fmt.Sprint("1e", mostExponent+1): false,
		fmt.Sprint("1e-", mostExponent): true, fmt.Sprint("1e-", mostExponent+1): false,
	} {
		_, err := readPod(t, `{containers: [{name: a, resources: {requests: {cpu: "`+text+`"}}}]}`)
		if (err == nil) != good {
			t.Errorf("cpu %s: %v", text, err)
		}
	}
}

// TestZerosHideNoAmount: the API server reads them all.
func TestZerosHideNoAmount(t *testing.T) {
	zeros := strings.Repeat("0", mostDigits+1)
	for text, want := range map[string]string{
		"9." + zeros: "9", zeros + "9": "9", "+" + zeros + "9." + zeros: "9", "9" + zeros + "e-65": "9", "0." + zeros + "9e66": "9",
		zeros + ".5e1": "5", zeros + "." + zeros: "0", "-" + zeros + "1": "", zeros + "9k": "9k", "9." + zeros + "Ki": "9Ki", zeros + "0.5Ki": "512",
		"9000." + zeros + "m": "9", zeros + "9E": "9E", "1e" + zeros + "1": "10", zeros + "x": "", zeros + "1.2.3": "", zeros: "0", "." + zeros + "e": "", "9e2147483648": "",
	} {
		j, err := readPod(t, `{containers: [{name: a, resources: {requests: {cpu: "`+text+`"}}}]}`)
		if got := j.Roles[0].Pod.Spec.Containers[0].Resources.Requests.Cpu(); (err == nil) != (want != "") || err == nil && got.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("%.20s…%s is %s, %v; want %s", text, text[len(text)-3:], got, err, want)
		}
	}
}

func TestWhatIsQuotedIsCutBehindTheLastRuneThatIsShown(t *testing.T) {
	whole, long := strings.Repeat("ü", mostRunes), strings.Repeat("ü", mostRunes+1)
	if got := cut(whole); got != whole {
		t.Errorf("%d runes become %q", mostRunes, got)
	}
	if got := cut(long); got != whole+"…" {
		t.Errorf("%d runes become %q", mostRunes+1, got)
	}
}

func TestElementsOfALongListAreNamedByTheirIndex(t *testing.T) {
	for _, n := range []int{mostNamed, mostNamed + 1} {
		list := make([]any, n)
		for i := range list {
			list[i] = map[string]any{"name": fmt.Sprintf("e%d", i)}
		}
		r := &reader{source: map[string]any{"list": list}}
		want := job.Path("list").Index(n - 1)
		if n <= mostNamed {
			want = job.Path("list").Named(fmt.Sprintf("e%d", n-1))
		}
		paths := r.elements("list", n)
		if got := paths[n-1]; got != want {
			t.Errorf("the last of %d elements is %s, want %s", n, got, want)
		}
		if v, err := paths[n-1].Resolve(r.source); err != nil || v.(map[string]any)["name"] != fmt.Sprintf("e%d", n-1) {
			t.Errorf("%s leads to %v", paths[n-1], v)
		}
	}
}

func TestMorePatchesThanAreMergedAreAProblem(t *testing.T) {
	const runtime = `{metadata: {name: rt}, spec: {template: {spec: {replicatedJobs: [{name: node, template: {metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec: {template: {spec: {containers: [{name: node}]}}}}}]}}}}`
	for field, most := range map[string]int{"podTemplateOverrides": mostOverrides, "runtimePatches": mostPatches} {
		for _, n := range []int{most, most + 1} {
			list := make([]any, n)
			for i := range list {
				list[i] = map[string]any{}
			}
			u := objectOf(t, `{metadata: {name: x}, spec: {runtimeRef: {name: rt}}}`)
			u.Object["spec"].(map[string]any)[field] = list
			_, err := trainJob.Read(u, func(Want) (*unstructured.Unstructured, job.Presence) { return objectOf(t, runtime), job.Present })
			want := fmt.Sprintf("spec.%s is a list of %d; expected at most %d", field, n, most)
			if n <= most && err != nil || n > most && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d %s: %v; want %s", n, field, err, want)
			}
		}
	}
}
