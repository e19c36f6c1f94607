package collect

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func says(missing []string, part string) bool {
	return slices.ContainsFunc(missing, func(m string) bool { return strings.Contains(m, part) })
}

// The last lines of a pod whose log is not read whole may be bars that wrote over themselves for hours: their end is read,
// or it is said that it is not.
func TestTheEndOfLongLinesIsTheEnd(t *testing.T) {
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	const stamp, fatal = "2026-11-20T08:00:00.9Z ", "RuntimeError: odd one out"
	for name, tc := range map[string]struct {
		before string
		read   bool
	}{
		"short lines":                     {strings.Repeat(stamp+"x\n", 500), true},
		"lines of more than may be read":  {strings.Repeat(stamp+strings.Repeat("\r 10% of it", 2000)+"\n", 100), true},
		"one line of all that may be":     {stamp + strings.Repeat("\r 10% of it", endMost/11-10) + "\n", true},
		"one line of more than may be":    {stamp + strings.Repeat("\r 10% of it", endMost/11+10) + "\n", false},
		"a long line before a few others": {stamp + strings.Repeat("\r 10% of it", endMost) + "\n" + strings.Repeat(stamp+"x\n", 5), true},
	} {
		t.Run(name, func(t *testing.T) {
			c, logs := serving(job), map[string]string{}
			for i := range 2 {
				p := pod(fmt.Sprintf("p%d", i), by("kubeflow.org/v1", "PyTorchJob", "train", "now"), labels)
				p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
				if err := c.Kube.(*kubefake.Clientset).Tracker().Add(p); err != nil {
					t.Fatal(err)
				}
				logs[p.Name+"/c"] = tc.before + stamp + fatal + "\n"
			}
			c.Kube, c.Limits = logsFrom{c.Kube, kubelet(t, logs)}, Limits{Pods: 1}
			got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
			if err != nil {
				t.Fatal(err)
			}
			read := false
			for _, log := range got.Logs {
				in, err := log.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(in)
				read = read || log.Source.Pod == "p1" && strings.Contains(string(text), fatal)
			}
			if unsaid := !says(got.Missing, "log of p1/c: "); read != tc.read || unsaid != tc.read {
				t.Errorf("the last line is read: %t; missing: %q", read, got.Missing)
			}
		})
	}
}

// A list comes in pages, and what failed may stand on the last one.
func TestJobsOnTheNextPageAreRead(t *testing.T) {
	set := object("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "now", nil, nil)
	c := serving(set)
	c.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		list := &unstructured.UnstructuredList{Object: map[string]any{"kind": "JobList", "apiVersion": "batch/v1"}}
		name := "first"
		if a.(clienttesting.ListActionImpl).ListOptions.Continue == "" {
			list.SetContinue("more")
		} else {
			name = "last"
		}
		u := object("batch/v1", "Job", name, types.UID("uid-"+name), by("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "now"), map[string]string{"jobset.sigs.k8s.io/jobset-name": "train"})
		list.Items = []unstructured.Unstructured{*u}
		return true, list, nil
	})
	got, err := c.Case(t.Context(), kind(t, "JobSet"), set)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, o := range got.Objects {
		have = append(have, o.GetName())
	}
	if !slices.Contains(have, "first") || !slices.Contains(have, "last") {
		t.Errorf("read: %q", have)
	}
}

// A server whose list has no end is not asked for ever, and it is said that there was more.
func TestPagesOfJobsAreBounded(t *testing.T) {
	for pages, want := range map[int]bool{mostJobPages: false, mostJobPages + 1: true} {
		set := object("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "now", nil, nil)
		c, asked := serving(set), 0
		c.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "jobs", func(clienttesting.Action) (bool, runtime.Object, error) {
			list := &unstructured.UnstructuredList{Object: map[string]any{"kind": "JobList", "apiVersion": "batch/v1"}}
			if asked++; asked < pages {
				list.SetContinue("more")
			}
			return true, list, nil
		})
		got, err := c.Case(t.Context(), kind(t, "JobSet"), set)
		if err != nil {
			t.Fatal(err)
		}
		if said := says(got.Missing, "Jobs: there are more than 10000"); said != want || asked != mostJobPages {
			t.Errorf("%d pages: %d were asked for, missing %q", pages, asked, got.Missing)
		}
	}
}

// Why workers cannot be made is the same for all groups: of so many it is asked, and the others are counted.
func TestGroupsOfWorkersAreBounded(t *testing.T) {
	for groups, want := range map[int]bool{mostGroups: false, mostGroups + 1: true} {
		set := object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "train", "lws", nil, nil)
		c := serving(set)
		for g := range groups {
			labels := map[string]string{"leaderworkerset.sigs.k8s.io/name": "train", "leaderworkerset.sigs.k8s.io/group-index": strconv.Itoa(g), "leaderworkerset.sigs.k8s.io/worker-index": "0"}
			p := pod(fmt.Sprintf("train-%d", g), by("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "train", "lws"), labels)
			if err := c.Kube.(*kubefake.Clientset).Tracker().Add(p); err != nil {
				t.Fatal(err)
			}
		}
		got, err := c.Case(t.Context(), kind(t, "LeaderWorkerSet"), set)
		if err != nil {
			t.Fatal(err)
		}
		if said := says(got.Missing, "the job has 65 groups; those of the first 64 were read"); said != want || len(got.Pods) != groups {
			t.Errorf("%d groups, %d pods: missing %q", groups, len(got.Pods), got.Missing)
		}
	}
}

// What happened to a node is told by an event that began before the job and goes on; where there are more events than are
// listed, it is said.
func TestEventsOfNodesGoOn(t *testing.T) {
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	p := pod("train-master-0", by("kubeflow.org/v1", "PyTorchJob", "train", "now"), labels)
	p.Spec.NodeName = "gpu-1"
	event := func(name string, began, last time.Time) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: "gpu-1"}, EventTime: metav1.NewMicroTime(began), Reason: "NodeNotReady",
			Series: &corev1.EventSeries{Count: 40, LastObservedTime: metav1.NewMicroTime(last)},
		}
	}
	c := serving(job, p, event("goes-on", now.Add(-9*time.Hour), now), event("was-over", now.Add(-9*time.Hour), now.Add(-8*time.Hour)))
	pages := 0
	for _, endless := range []bool{false, true} {
		if endless {
			c.Kube.(*kubefake.Clientset).PrependReactor("list", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
				if a.GetNamespace() != "default" {
					return true, &corev1.EventList{}, nil
				}
				pages++
				return true, &corev1.EventList{ListMeta: metav1.ListMeta{Continue: "more"}}, nil
			})
		}
		got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
		if err != nil {
			t.Fatal(err)
		}
		if !endless && (len(got.Events) != 1 || got.Events[0].Name != "goes-on") {
			t.Errorf("events: %v", got.Events)
		}
		if said := says(got.Missing, "events of nodes: namespace default has more than 10000"); said != endless {
			t.Errorf("endless %t, after %d pages; missing: %q", endless, pages, got.Missing)
		}
	}
}

// Of a job with thousands of pods the events of the job are more than a page: the newest are the last.
func TestEventsOfOneNameAreMoreThanAPage(t *testing.T) {
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	for _, endless := range []bool{false, true} {
		c, asked := serving(job), 0
		c.Kube.(*kubefake.Clientset).PrependReactor("list", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
			list := &corev1.EventList{}
			if _, one := a.(clienttesting.ListAction).GetListRestrictions().Fields.RequiresExactMatch("involvedObject.name"); !one {
				list.Continue = "more" // of others, without end
				return true, list, nil
			}
			if asked++; endless || asked < 3 {
				list.Continue = "more"
			}
			list.Items = []corev1.Event{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprint("page-", asked)}, LastTimestamp: metav1.NewTime(now),
				InvolvedObject: corev1.ObjectReference{Kind: "PyTorchJob", Name: "train", UID: "now"},
			}}
			return true, list, nil
		})
		got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
		if err != nil {
			t.Fatal(err)
		}
		want := 3
		if endless {
			want = eventPages
		}
		if said := says(got.Missing, "events of train: there are more than"); len(got.Events) != want || said != endless {
			t.Errorf("endless %t: %d events, want %d; missing: %q", endless, len(got.Events), want, got.Missing)
		}
	}
}

// Of many claims those of pods that are not well are read first, and it is said that there are more.
func TestClaimsOfFailedPodsAreReadFirst(t *testing.T) {
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	for _, pods := range []int{mostClaims, mostClaims + 1} {
		objects := []runtime.Object{job}
		for i := range pods {
			p := pod(fmt.Sprintf("train-worker-%03d", i), by("kubeflow.org/v1", "PyTorchJob", "train", "now"), labels)
			p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("claim-of-" + p.Name)}}
			if p.Status.Phase = corev1.PodRunning; i == pods-1 {
				p.Status.Phase = corev1.PodFailed
			}
			objects = append(objects, p)
		}
		c := serving(objects...)
		got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
		if err != nil {
			t.Fatal(err)
		}
		failed := fmt.Sprintf("ResourceClaim claim-of-train-worker-%03d", pods-1)
		if said := says(got.Missing, fmt.Sprintf("ResourceClaims: 1 of %d were not read", mostClaims+1)); !says(got.Missing, failed) || said != (pods > mostClaims) {
			t.Errorf("%d claims; missing: %q", pods, got.Missing)
		}
	}
}

// A bar writes over itself for hours, and its newest state stands at the end of what there is.
func TestTheNewestStateOfABarIsRead(t *testing.T) {
	var b strings.Builder
	for i := range 400 { // CRI's pieces of one line, which the API server counts as lines
		b.WriteString("2026-11-20T08:00:00.9Z ")
		for k := range 500 {
			fmt.Fprintf(&b, "\r%6d/200000 [1:00<2:00, 9it/s]", i*500+k)
		}
		b.WriteString("\n")
	}
	c := &Cluster{Kube: kubelet(t, map[string]string{"p0/c": b.String()})}
	lives := []Life{{Pod: pod("p0", nil, nil), Container: "c"}}
	if got := string(c.Tails(t.Context(), lives, nil)[0]); !strings.Contains(got, "199999/200000") || len(got) > pulseBytes {
		t.Errorf("%d bytes end with %.80q", len(got), got[max(0, len(got)-80):])
	}
}
