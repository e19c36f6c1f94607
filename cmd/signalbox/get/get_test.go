package get

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// sickJob has failed, and says why.
//
//go:embed testdata/sick.yaml
var sickJob string

func TestAJobIsReadFromWhatStandsOnIt(t *testing.T) {
	o := objectOf(t, sickJob)
	got := rowOf(kinds.For(o.GroupVersionKind()), o)
	since := time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)
	want := JobRow{
		APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Namespace: "ml", Name: "sick", Created: time.Date(2026, 3, 4, 8, 0, 0, 0, time.UTC),
		State: "Running", Since: &since, Healthy: "No", Category: "gpu-oom", Owner: "user", Pod: "sick-worker-1", Node: "h7",
		Devices: 32, Queue: "team", Error: "sick-worker-1: the GPU ran out of memory",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rowOf (-want +got):\n%s", diff)
	}
	broken := objectOf(t, "{apiVersion: kubeflow.org/v1, kind: PyTorchJob, metadata: {name: x}, spec: {pytorchReplicaSpecs: 7}, status: 3}")
	if got := rowOf(kinds.For(broken.GroupVersionKind()), broken); got.Name != "x" {
		t.Errorf("a job that nobody can read is listed as %+v; want its name", got)
	}
}

// The category of a cause that was not shown is marked: it is where the end belongs, and no finding.
func TestACauseThatWasNotShownIsMarked(t *testing.T) {
	o := objectOf(t, strings.Replace(sickJob, `"category":"gpu-oom"`, `"verdict":"inconclusive","category":"python-exception-user-code"`, 1))
	r := rowOf(kinds.For(o.GroupVersionKind()), o)
	if r.cause() != "python-exception-user-code?" || r.Category != "python-exception-user-code" || r.Verdict != "inconclusive" {
		t.Errorf("%s of %+v", r.cause(), r)
	}
}

func TestWhatHurtsStandsFirst(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	hours := func(n int) time.Time { return now.Add(-time.Duration(n) * time.Hour) }
	rows := []JobRow{
		{Name: "done", State: "Succeeded", Created: hours(9)},
		{Name: "runs", State: "Running", Healthy: "Yes", Created: hours(5)},
		{Name: "small", State: "Running", Healthy: "No", Devices: 1, Created: hours(2)},
		{Name: "failed", State: "Failed", Healthy: "No", Devices: 64, Created: hours(9)},
		{Name: "waits", State: "Created", Waiting: "8 GPUs are short", Created: hours(1)},
		{Name: "large", State: "Restarting", Healthy: "No", Devices: 64, Created: hours(2)},
	}
	order := func(by string) string {
		SortRows(rows, by, now)
		var names []string
		for _, r := range rows {
			names = append(names, r.Name)
		}
		return strings.Join(names, " ")
	}
	for by, want := range map[string]string{
		"hurt": "large small failed waits runs done",
		"name": "done failed large runs small waits",
		"age":  "waits large small runs done failed",
	} {
		if got := order(by); got != want {
			t.Errorf("by %s: %s; want %s", by, got, want)
		}
	}
}

func TestJobsAreATable(t *testing.T) {
	o := objectOf(t, sickJob)
	var out bytes.Buffer
	sh := &shell.Shell{Out: &out, Now: func() time.Time { return time.Date(2026, 3, 4, 10, 30, 0, 0, time.UTC) }}
	for format, want := range map[string]string{
		"text": "NAMESPACE  KIND        NAME  AGE    STATE    HEALTHY  CATEGORY  FIRST POD      DEVICES  WAITS FOR\n" +
			"ml         PyTorchJob  sick  150m   Running  No       gpu-oom   sick-worker-1  32       -\n",
		"wide": "NAMESPACE  KIND        NAME  AGE    STATE    HEALTHY  CATEGORY  FIRST POD      DEVICES  SINCE  OWNER  NODE  QUEUE  SAYS\n" +
			"ml         PyTorchJob  sick  150m   Running  No       gpu-oom   sick-worker-1  32       90m    user   h7    team   sick-worker-1: the GPU ran out of memory\n",
		"name": "pytorchjob.kubeflow.org/sick -n ml\n",
	} {
		out.Reset()
		if err := jobsAs(format, true).render(sh, []JobRow{rowOf(kinds.For(o.GroupVersionKind()), o)}, true, true, terminal.Painter{}); err != nil {
			t.Fatal(err)
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		if squeeze(out.String()) != squeeze(want) {
			t.Errorf("-o %s:\n%s\nwant\n%s", format, out.String(), want)
		}
	}
}

// A pod that was preempted makes a job wait that its operator calls running since yesterday.
func TestAWaitHasItsOwnBeginning(t *testing.T) {
	o := objectOf(t, sickJob)
	k := kinds.For(o.GroupVersionKind())
	if r := rowOf(k, o); r.Since != nil && !r.Since.Before(time.Date(2026, 3, 4, 10, 15, 0, 0, time.UTC)) {
		t.Fatalf("the state began at %s", r.Since)
	}
	annotations := o.GetAnnotations()
	annotations[controller.Waiting] = "1 of 4 pods is running, 3 wait. It has waited since 2026-03-04 10:15 UTC."
	o.SetAnnotations(annotations)
	if r, want := rowOf(k, o), time.Date(2026, 3, 4, 10, 15, 0, 0, time.UTC); r.Since == nil || !r.Since.Equal(want) {
		t.Errorf("since %v; want %v", r.Since, want)
	}
}

// jobsAs prints jobs in a format.
func jobsAs(format string, all bool) *Flags {
	return &Flags{all: all, output: shell.OneOf(format), sortBy: shell.OneOf("hurt"), groupBy: shell.OneOf("")}
}

func TestAWaitIsToldInFewWords(t *testing.T) {
	cases := map[string]string{
		"4 of 6 pods are running, 2 wait for 8 nvidia.com/gpu each: none of 5 nodes takes it (1 is cordoned, 4 lack free nvidia.com/gpu).": "2 of 6 pods: 8 nvidia.com/gpu each",
		"0 of 1 pod is running, 1 waits for 8 nvidia.com/gpu: none of 9 nodes takes it (9 do not match its node selector or affinity).":    "1 of 1 pod: 8 nvidia.com/gpu",
		"0 of 2 pods are running; 2 are on their node and not started.":                                                                    "0 of 2 pods are running",

		"1 of 2 pods exist. exceeded quota: team":               "1 of 2 pods exist",
		"suspended: it asks for no pods now. Job is suspended.": "suspended",

		"suspended: it asks for no pods now: Workload/train: Pending: couldn't assign flavors: insufficient unused quota for gpu": "suspended: insufficient unused quota for gpu",

		"8 GPUs are short":               "8 GPUs are short",
		"":                               "",
		strings.Repeat("x", mostWords+1): strings.Repeat("x", mostWords-1) + "…",
		strings.Repeat("x", mostWords):   strings.Repeat("x", mostWords),
	}
	for waiting, want := range cases {
		if got := fewWords(waiting); got != want {
			t.Errorf("%q in few words is %q; want %q", waiting, got, want)
		}
	}
}

func TestANameThatNoJobHasIsMissedWhereItWasLookedFor(t *testing.T) {
	live := &apiserver.Cluster{Namespace: "ml"}
	for want, f := range map[string]*Flags{
		"no training job called nosuch is in any namespace":                 {all: true},
		"no training job called nosuch is in namespace ml; -A looks in all": {},
	} {
		if got := noneCalled([]string{"nosuch"}, f.NamespaceOf(live)).Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAJobThatIsDeletedIsSaidOnce(t *testing.T) {
	f, seen := &Flags{}, map[string]JobRow{}
	since, again := time.Unix(0, 0), time.Unix(0, 0)
	kept, gone := JobRow{Kind: "MPIJob", Name: "kept", State: "Running", Since: &since}, JobRow{Kind: "MPIJob", Name: "gone", State: "Running"}
	news(seen, []JobRow{kept, gone})
	kept.Since = &again // read anew, and the same
	f.there = map[string]bool{kept.key(): true}
	if got := news(seen, []JobRow{kept}); len(got) > 0 {
		t.Errorf("a job that did not change is printed: %+v", got)
	}
	if got := f.deleted(seen); len(got) != 1 || got[0].Name != "gone" || got[0].State != "deleted" {
		t.Errorf("deleted: %+v; want gone", got)
	}
	if got := f.deleted(seen); len(got) > 0 {
		t.Errorf("said twice: %+v", got)
	}
	if got := news(seen, nil); len(got) > 0 || len(f.deleted(seen)) > 0 {
		t.Error("a job that a filter no longer takes is called deleted")
	}
}

func TestColumnsOfAWatchStay(t *testing.T) {
	var out bytes.Buffer
	sh := &shell.Shell{Out: &out, Now: func() time.Time { return time.Unix(100, 0) }}
	f := jobsAs("text", false)
	f.watch = true
	for i, name := range []string{"sick", "longname", "a"} {
		if err := f.render(sh, []JobRow{{Kind: "MPIJob", Name: name, State: "Running", Created: time.Unix(0, 0)}}, false, i == 0, terminal.Painter{}); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	at := strings.Index(lines[0], "STATE")
	for _, line := range lines[1:] {
		if strings.Index(line, "Running") != at {
			t.Errorf("the columns drift:\n%s", out.String())
		}
	}
}

// Totals are of what is known, and of jobs whose pods were not read that is said; what costs most stands first.
func TestGroupsAreTotals(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	since, held := now.Add(-90*time.Minute), int64(8)
	rows := []JobRow{
		{Name: "a", Owner: "user", Healthy: "No", Since: &since, Held: &held},
		{Name: "b", Owner: "platform", Created: now.Add(-time.Hour), Held: &held},
		{Name: "c", Owner: "platform", Created: now.Add(-time.Hour), Held: &held},
		{Name: "d", Created: now.Add(-time.Hour)},
	}
	got := groupsOf(rows, func(r JobRow) string { return r.Owner }, now)
	want := []jobGroup{
		{Group: "platform", Jobs: 2, Held: 16, Hours: 16},
		{Group: "user", Jobs: 1, NotHealthy: 1, Held: 8, Hours: 12},
		{Jobs: 1, Unknown: 1},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// What is left out of a narrow list is what a filter says already, then what is wide: how old a job is stays with it at a
// hundred columns, and what has room beside the words of the last column stays at all.
func TestANarrowListKeepsWhatANightIsAbout(t *testing.T) {
	row := rowOf(kinds.For(objectOf(t, sickJob).GroupVersionKind()), objectOf(t, sickJob))
	row.Category, row.Pod, row.Waiting = "python-exception-user-code", "missing-module-master-0", "4 of 6 pods are running, 2 wait for 8 nvidia.com/gpu each: none of 5 nodes takes it (1 is cordoned, 4 lack free nvidia.com/gpu)."
	row.Name, row.Namespace = "missing-module", "research"
	for _, tc := range []struct {
		columns, healthy, want string
	}{
		{"80", "No", "NAMESPACE NAME CATEGORY WAITS FOR"},
		{"80", "", "NAMESPACE NAME HEALTHY CATEGORY WAITS FOR"},
		{"100", "", "NAMESPACE NAME AGE HEALTHY CATEGORY WAITS FOR"},
		{"100", "No", "NAMESPACE KIND NAME AGE CATEGORY WAITS FOR"},
		{"140", "", "NAMESPACE KIND NAME AGE STATE HEALTHY CATEGORY DEVICES WAITS FOR"},
	} {
		t.Setenv("COLUMNS", tc.columns)
		var out bytes.Buffer
		sh := &shell.Shell{Out: &out, Err: &bytes.Buffer{}, Now: func() time.Time { return time.Date(2026, 3, 4, 10, 30, 0, 0, time.UTC) }}
		f := jobsAs("text", true)
		f.healthy = shell.OneOf("", "No")
		f.healthy.Value = tc.healthy
		if err := f.render(sh, []JobRow{row}, true, true, terminal.Painter{}); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(out.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != tc.want {
			t.Errorf("%s columns, --healthy %q: %s\nwant %s", tc.columns, tc.healthy, got, tc.want)
		}
	}
}
