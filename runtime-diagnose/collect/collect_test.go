package collect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var now = time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)

// object is any object of the namespace ml with one controller.
func object(apiVersion, kind, name string, uid types.UID, owner *metav1.OwnerReference, labels map[string]string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace("ml")
	u.SetName(name)
	u.SetUID(uid)
	u.SetLabels(labels)
	u.SetCreationTimestamp(metav1.NewTime(now.Add(-time.Hour)))
	if owner != nil {
		u.SetOwnerReferences([]metav1.OwnerReference{*owner})
	}
	return u
}

func by(apiVersion, kind, name string, uid types.UID) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}
}

func pod(name string, owner *metav1.OwnerReference, labels map[string]string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, UID: types.UID("uid-" + name), Labels: labels}}
	if owner != nil {
		p.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return p
}

// serving are clients of a cluster with these objects.
func serving(objects ...runtime.Object) *Cluster {
	var typed, rest []runtime.Object
	for _, o := range objects {
		if _, ok := o.(*unstructured.Unstructured); ok {
			rest = append(rest, o)
		} else {
			typed = append(typed, o)
		}
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	lists := map[schema.GroupVersionResource]string{
		{Group: "batch", Version: "v1", Resource: "jobs"}:                          "JobList",
		t9kQueues.GroupVersion().WithResource("queues"):                            "QueueList",
		{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}:       "WorkloadList",
		{Group: "resource.k8s.io", Version: "v1beta1", Resource: "resourceslices"}: "ResourceSliceList",
	}
	for _, apiVersion := range taintRuleVersions {
		gv, _ := schema.ParseGroupVersion(apiVersion)
		lists[gv.WithResource("devicetaintrules")] = "DeviceTaintRuleList"
	}
	for kind, gv := range map[string]schema.GroupVersion{"StatefulSet": {Group: "apps", Version: "v1"}, "Pod": {Version: "v1"}} {
		mapper.AddSpecific(gv.WithKind(kind), gv.WithResource(strings.ToLower(kind)+"s"), gv.WithResource(strings.ToLower(kind)), meta.RESTScopeNamespace)
	}
	for _, k := range kinds.All() {
		gvk := k.GVKs[0]
		mapper.AddSpecific(gvk, gvk.GroupVersion().WithResource(k.Resource), gvk.GroupVersion().WithResource(strings.ToLower(k.API())), meta.RESTScopeNamespace)
		lists[gvk.GroupVersion().WithResource(k.Resource)] = k.API() + "List"
	}
	return &Cluster{
		Kube: kubefake.NewClientset(typed...), Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, rest...),
		Mapper: mapper, Now: func() time.Time { return now },
	}
}

func kind(t *testing.T, name string) *kinds.Kind {
	t.Helper()
	for _, k := range kinds.All() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("no kind %s", name)
	return nil
}

func names(pods []corev1.Pod) []string {
	var out []string
	for i := range pods {
		out = append(out, pods[i].Name)
	}
	slices.Sort(out)
	return out
}

// Pods belong to a job when their controllers lead to it, whatever their labels say.
func TestPodsFollowTheOwners(t *testing.T) {
	kubeflow := func(name string) map[string]string {
		return map[string]string{"training.kubeflow.org/job-name": name, "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	}
	jobset := map[string]string{"jobset.sigs.k8s.io/jobset-name": "train"}
	framework := object("frameworkcontroller.microsoft.com/v1", "Framework", "train", "fw", nil, nil)
	if err := unstructured.SetNestedField(framework.Object, "cm-2", "status", "attemptStatus", "configMapUID"); err != nil {
		t.Fatal(err)
	}
	ray := object("ray.io/v1", "RayJob", "train", "rj", nil, nil)
	if err := unstructured.SetNestedField(ray.Object, "train-x7k2p", "status", "rayClusterName"); err != nil {
		t.Fatal(err)
	}
	lws := func(group, worker string) map[string]string {
		const at = "leaderworkerset.sigs.k8s.io/"
		return map[string]string{at + "name": "train", at + "group-index": group, at + "worker-index": worker}
	}
	cases := map[string]struct {
		kind        string
		job         *unstructured.Unstructured
		others      []runtime.Object
		want        []string
		wantObjects []string
	}{
		"a PyTorchJob owns its pods": {
			kind: "PyTorchJob", job: object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil),
			others: []runtime.Object{
				pod("mine", by("kubeflow.org/v1", "PyTorchJob", "train", "now"), kubeflow("train")),
				pod("of-the-job-before", by("kubeflow.org/v1", "PyTorchJob", "train", "before"), kubeflow("train")),
				pod("of-nobody", nil, kubeflow("train")),
				pod("of-a-deployment", by("apps/v1", "ReplicaSet", "train", "rs"), kubeflow("train")),
			},
			want: []string{"mine"},
		},
		"a TrainJob by JobSet and Job": {
			kind: "TrainJob", job: object("trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "tj", nil, nil),
			others: []runtime.Object{
				object("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "js", by("trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "tj"), nil),
				object("batch/v1", "Job", "train-node-0", "j0", by("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "js"), jobset),
				object("batch/v1", "Job", "train-node-1", "j1", by("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "js"), jobset),
				object("batch/v1", "Job", "stranger", "j9", by("jobset.x-k8s.io/v1alpha2", "JobSet", "train", "older"), jobset),
				pod("mine", by("batch/v1", "Job", "train-node-0", "j0"), jobset),
				pod("of-a-stranger", by("batch/v1", "Job", "stranger", "j9"), jobset),
				pod("of-a-job-replaced", by("batch/v1", "Job", "train-node-1", "older"), jobset),
			},
			want:        []string{"mine"},
			wantObjects: []string{"Job train-node-0", "Job train-node-1", "JobSet train"},
		},
		"a Framework by the ConfigMap of its attempt": {
			kind: "Framework", job: framework,
			others: []runtime.Object{
				pod("mine", by("v1", "ConfigMap", "train-attempt", "cm-2"), map[string]string{"FC_FRAMEWORK_NAME": "train"}),
				pod("of-another-attempt", by("v1", "ConfigMap", "train-attempt", "cm-1"), map[string]string{"FC_FRAMEWORK_NAME": "train"}),
			},
			want: []string{"mine"},
		},
		"a RayJob by its cluster and by the Job that submits": {
			kind: "RayJob", job: ray,
			others: []runtime.Object{
				object("ray.io/v1", "RayCluster", "train-x7k2p", "rc", by("ray.io/v1", "RayJob", "train", "rj"), nil),
				object("batch/v1", "Job", "train", "submit", by("ray.io/v1", "RayJob", "train", "rj"), nil),
				pod("head", by("ray.io/v1", "RayCluster", "train-x7k2p", "rc"), map[string]string{"ray.io/cluster": "train-x7k2p", "ray.io/node-type": "head"}),
				pod("of-the-cluster-before", by("ray.io/v1", "RayCluster", "train-x7k2p", "older"), map[string]string{"ray.io/cluster": "train-x7k2p"}),
				pod("of-another-cluster", by("ray.io/v1", "RayCluster", "train-abcde", "ab"), map[string]string{"ray.io/cluster": "train-abcde"}),
				pod("submitter", by("batch/v1", "Job", "train", "submit"), map[string]string{"batch.kubernetes.io/job-name": "train"}),
				pod("of-a-job-of-that-name", by("batch/v1", "Job", "train", "stranger"), map[string]string{"batch.kubernetes.io/job-name": "train"}),
			},
			want:        []string{"head", "submitter"},
			wantObjects: []string{"Job train", "RayCluster train-x7k2p"},
		},
		"a LeaderWorkerSet by the leader of each group": {
			kind: "LeaderWorkerSet", job: object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "train", "lws", nil, nil),
			others: []runtime.Object{
				object("apps/v1", "StatefulSet", "train", "leaders", by("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "train", "lws"), nil),
				object("v1", "Pod", "train-0", "uid-train-0", by("apps/v1", "StatefulSet", "train", "leaders"), nil),
				object("apps/v1", "StatefulSet", "train-0", "workers", by("v1", "Pod", "train-0", "uid-train-0"), nil),
				pod("train-0", by("apps/v1", "StatefulSet", "train", "leaders"), lws("0", "0")),
				pod("train-0-1", by("apps/v1", "StatefulSet", "train-0", "workers"), lws("0", "1")),
				pod("of-the-set-before", by("apps/v1", "StatefulSet", "train", "older"), lws("1", "0")),
				pod("of-a-database", by("apps/v1", "StatefulSet", "db", "db"), lws("0", "1")),
			},
			want:        []string{"train-0", "train-0-1"},
			wantObjects: []string{"StatefulSet train", "StatefulSet train-0"},
		},
		"a Volcano Job, whatever batch has of its name": {
			kind: "Job.batch.volcano.sh", job: object("batch.volcano.sh/v1alpha1", "Job", "train", "vc", nil, nil),
			others: []runtime.Object{
				object("batch/v1", "Job", "train", "bj", nil, nil),
				pod("mine", by("batch.volcano.sh/v1alpha1", "Job", "train", "vc"), map[string]string{"volcano.sh/job-name": "train"}),
				pod("of-the-other", by("batch/v1", "Job", "train", "bj"), map[string]string{"volcano.sh/job-name": "train"}),
			},
			want: []string{"mine"},
		},
		"T9k's MPIJob": {
			kind: "MPIJob.batch.tensorstack.dev", job: object("batch.tensorstack.dev/v1beta1", "MPIJob", "train", "mj", nil, nil),
			others: []runtime.Object{
				pod("mine", by("batch.tensorstack.dev/v1beta1", "MPIJob", "train", "mj"), map[string]string{"mpijob": "train"}),
				pod("of-kubeflows", by("kubeflow.org/v1", "MPIJob", "train", "kf"), map[string]string{"mpijob": "train"}),
			},
			want: []string{"mine"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := serving(append(tc.others, tc.job)...)
			got, err := c.Case(t.Context(), kind(t, tc.kind), tc.job)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, names(got.Pods)); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			var objects []string
			for _, o := range got.Objects {
				objects = append(objects, o.GetKind()+" "+o.GetName())
			}
			if diff := cmp.Diff(tc.wantObjects, objects); diff != "" {
				t.Errorf("objects between (-want +got):\n%s", diff)
			}
			if got.Job == nil || got.Job.Ref.Name != "train" || string(tc.job.GetUID()) != got.Job.Ref.UID {
				t.Errorf("job is %+v", got.Job)
			}
		})
	}
}

func TestEventsAreOfThisJobOnly(t *testing.T) {
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	event := func(name, kind, about string, uid types.UID, at time.Time) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "ml", Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: kind, Name: about, UID: uid}, LastTimestamp: metav1.NewTime(at),
		}
	}
	c := serving(job,
		pod("train-master-0", by("kubeflow.org/v1", "PyTorchJob", "train", "now"), labels),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-7"}},
		event("of-the-job", "PyTorchJob", "train", "now", now),
		event("of-the-pod", "Pod", "train-master-0", "uid-train-master-0", now),
		event("of-the-attempt-before", "Pod", "train-master-0", "replaced", now.Add(-time.Minute)),
		event("of-the-job-before", "PyTorchJob", "train", "before", now.Add(-2*time.Hour)),
		event("of-another", "Pod", "other-master-0", "x", now),
		saying(event("made", "PyTorchJob", "train", "now", now), "SuccessfulCreatePod", "Created pod: train-worker-0"),
		saying(event("stopped", "Pod", "train-worker-0", "gone", now), "Killing", "Stopping container pytorch"),
		saying(event("stopped-before-the-job", "Pod", "train-worker-0", "older", now.Add(-2*time.Hour)), "Killing", "Stopping container pytorch"),
		saying(event("of-the-gone", "Pod", "train-worker-0", "gone", now), "FailedScheduling", "0/3 nodes are available"),
		saying(event("placed", "Pod", "train-worker-0", "gone", now), "Scheduled", "Successfully assigned ml/train-worker-0 to gpu-7"),
		saying(event("evicted", "Pod", "train-worker-0", "", now), "TaintManagerEviction", "Marking for deletion Pod ml/train-worker-0"),
		saying(event("made-by-another", "PyTorchJob", "other", "x", now), "SuccessfulCreatePod", "Created pod: other-worker-0"),
		saying(event("stopped-of-another", "Pod", "other-worker-0", "y", now), "Killing", "Stopping container pytorch"),
	)
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for i := range got.Events {
		events = append(events, got.Events[i].Name)
	}
	slices.Sort(events)
	if !slices.ContainsFunc(got.Nodes, func(n corev1.Node) bool { return n.Name == "gpu-7" }) {
		t.Error("the node that a pod was taken from is not read")
	}
	if diff := cmp.Diff([]string{"evicted", "made", "of-the-attempt-before", "of-the-job", "of-the-pod", "placed", "stopped"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Of many nodes that pods were taken from a few are read, and it is said that there are more.
func TestNodesOfManyEvictedPods(t *testing.T) {
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	objects := []runtime.Object{job}
	about := func(name, of string) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "ml", Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: of}, LastTimestamp: metav1.NewTime(now),
		}
	}
	for i := range mostFormer + 1 {
		name := fmt.Sprintf("train-worker-%d", i)
		made := about("made-"+name, "train")
		made.InvolvedObject = corev1.ObjectReference{Kind: "PyTorchJob", Name: "train", UID: "now"}
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("gpu-%d", i)}},
			saying(made, "SuccessfulCreatePod", "Created pod: "+name),
			saying(about("placed-"+name, name), "Scheduled", fmt.Sprintf("Successfully assigned ml/%s to gpu-%d", name, i)),
			saying(about("evicted-"+name, name), "TaintManagerEviction", "Marking for deletion Pod ml/"+name))
	}
	got, err := serving(objects...).Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Nodes) != mostFormer || !slices.ContainsFunc(got.Missing, func(m string) bool { return strings.Contains(m, "there are more than 4") }) {
		t.Errorf("%d nodes are read; missing: %q", len(got.Nodes), got.Missing)
	}
}

func saying(e *corev1.Event, reason, message string) *corev1.Event {
	e.Reason, e.Message = reason, message
	return e
}

// In a namespace with more events than are listed, those of the job and of its pods are asked for by name.
func TestEventsOfABusyNamespace(t *testing.T) {
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	objects := []runtime.Object{job}
	for i := range mostAsked { // with the job, one more than are asked for
		objects = append(objects, pod(fmt.Sprintf("train-worker-%d", i), by("kubeflow.org/v1", "PyTorchJob", "train", "now"), labels))
	}
	c := serving(objects...)
	asked := 0
	c.Kube.(*kubefake.Clientset).PrependReactor("list", "events", func(a clienttesting.Action) (bool, runtime.Object, error) {
		list := &corev1.EventList{}
		name, one := a.(clienttesting.ListAction).GetListRestrictions().Fields.RequiresExactMatch("involvedObject.name")
		switch {
		case !one:
			list.Continue = "more" // of others, without end
		case name == "train-worker-0":
			asked++
			list.Items = []corev1.Event{{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "newest"}, LastTimestamp: metav1.NewTime(now),
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: name, UID: "uid-train-worker-0"},
			}}
		default:
			asked++
		}
		return true, list, nil
	})
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Events) != 1 || got.Events[0].Name != "newest" || asked != mostAsked {
		t.Errorf("%d events after %d questions: %v", len(got.Events), asked, got.Events)
	}
	if want := "events: the namespace has more than 10000; those of 1 pods were not asked for"; !slices.Contains(got.Missing, want) {
		t.Errorf("%q is not in %q", want, got.Missing)
	}
}

// What may not be read is missing, by name; only without pods is a case no basis for anything.
func TestWhatCannotBeReadIsMissing(t *testing.T) {
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	forbid := func(c *Cluster, verb, resource string) {
		c.Kube.(*kubefake.Clientset).PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil)
		})
	}
	c := serving(job)
	forbid(c, "list", "events")
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil || !slices.ContainsFunc(got.Missing, func(m string) bool { return strings.HasPrefix(m, "events: this account may not read this") }) {
		t.Errorf("without events: error %v, missing %v", err, got.Missing)
	}
	forbid(c, "list", "pods")
	got, err = c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err == nil || got.Job == nil || !slices.ContainsFunc(got.Missing, func(m string) bool { return strings.HasPrefix(m, "pods: ") }) {
		t.Errorf("without pods: error %v, missing %v, job %v", err, got.Missing, got.Job)
	}
}

func TestResolve(t *testing.T) {
	for arg, want := range map[string]string{
		"pytorchjob/train":                  "PyTorchJob train",
		"PyTorchJob/train":                  "PyTorchJob train",
		"PYTORCHJOBS/train":                 "PyTorchJob train",
		"pytorchjobs.kubeflow.org/train":    "PyTorchJob train",
		"pytorchjob.v1.kubeflow.org/train":  "PyTorchJob train",
		"job/train":                         "Job train",
		"jobs.batch/train":                  "Job train",
		"jobs.batch.volcano.sh/train":       "Job.batch.volcano.sh train",
		"mpijob.batch.tensorstack.dev/a":    "MPIJob.batch.tensorstack.dev a",
		"mpijob.v2beta1.kubeflow.org/train": "MPIJob train",
		"frameworks/train":                  "Framework train",
	} {
		k, name, err := Resolve(kinds.All(), arg)
		if err != nil {
			t.Errorf("Resolve(%q): %v", arg, err)
			continue
		}
		if got := k.Name + " " + name; got != want {
			t.Errorf("Resolve(%q) is %q, want %q", arg, got, want)
		}
	}
	for arg, want := range map[string]string{
		"train":                      "expected KIND/NAME, for example pytorchjob/train",
		"pytorchjob/":                "expected KIND/NAME",
		"pytorchjob/a/b":             "expected KIND/NAME",
		"deployment/train":           "no such kind of job; known are colossalaijob, deepspeedjob, framework",
		"pytorchjob.example.com/job": "no such kind of job",
	} {
		if _, _, err := Resolve(kinds.All(), arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q): error %v, want one with %q", arg, err, want)
		}
	}
}

func TestFind(t *testing.T) {
	c := serving(object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil))
	u, err := c.Find(t.Context(), kind(t, "PyTorchJob"), "ml", "train")
	if err != nil || u.GetUID() != "now" {
		t.Errorf("Find: %v, %v", u, err)
	}
	if _, err := c.Find(t.Context(), kind(t, "PyTorchJob"), "ml", "none"); !apierrors.IsNotFound(err) {
		t.Errorf("Find of nothing: %v, want NotFound", err)
	}
	c.Mapper = meta.NewDefaultRESTMapper(nil)
	if _, err := c.Find(t.Context(), kind(t, "PyTorchJob"), "ml", "train"); err == nil || !strings.Contains(err.Error(), "the cluster does not serve it") {
		t.Errorf("Find of a kind that is not served: %v", err)
	}
}

// Nodes have their events in a namespace of their own; what happened to others, or before the
// job, is another story.
func TestEventsOfTheNodesAreRead(t *testing.T) {
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	p := pod("train-master-0", by("kubeflow.org/v1", "PyTorchJob", "train", "now"), labels)
	p.Spec.NodeName = "gpu-1"
	event := func(name, node string, at time.Time) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: "default", Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: node}, LastTimestamp: metav1.NewTime(at), Reason: "NodeNotReady",
		}
	}
	c := serving(job, p, event("mine", "gpu-1", now), event("of-another-node", "gpu-2", now), event("before-the-job", "gpu-1", now.Add(-3*time.Hour)))
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	var events []string
	for i := range got.Events {
		events = append(events, got.Events[i].Name)
	}
	if diff := cmp.Diff([]string{"mine"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Why Kueue holds a job stands on its Workload, which names the job by UID.
func TestTheWorkloadOfKueueIsRead(t *testing.T) {
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	mine := object("kueue.x-k8s.io/v1beta2", "Workload", "pytorchjob-train-1a2b3", "wl", by("kubeflow.org/v1", "PyTorchJob", "train", "now"), map[string]string{"kueue.x-k8s.io/job-uid": "now"})
	other := object("kueue.x-k8s.io/v1beta2", "Workload", "pytorchjob-other-9z8y7", "wo", nil, map[string]string{"kueue.x-k8s.io/job-uid": "another"})
	c := serving(job, mine, other)
	gvk := schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "Workload"}
	c.Mapper.(*meta.DefaultRESTMapper).Add(gvk, meta.RESTScopeNamespace)
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	var objects []string
	for _, o := range got.Objects {
		objects = append(objects, o.GetKind()+" "+o.GetName())
	}
	if diff := cmp.Diff([]string{"Workload pytorchjob-train-1a2b3"}, objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
