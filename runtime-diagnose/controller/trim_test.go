package controller

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	kubefake "k8s.io/client-go/kubernetes/fake"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// worker is the nth pod of a PyTorchJob of twenty, as a kubelet leaves it.
func worker(n int) *corev1.Pod {
	yes, at := true, metav1.NewTime(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	name, job := fmt.Sprintf("train-%d-worker-%d", n/20, n%20), fmt.Sprintf("train-%d", n/20)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "team-07", UID: types.UID(fmt.Sprintf("6f0c3c0e-0b0f-4a52-9c53-%012d", n)), ResourceVersion: fmt.Sprint(100000 + n), CreationTimestamp: at,
			Labels: map[string]string{
				"training.kubeflow.org/job-name": job, "training.kubeflow.org/operator-name": "pytorchjob-controller",
				"training.kubeflow.org/replica-index": fmt.Sprint(n % 20), "training.kubeflow.org/replica-type": "worker",
			},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: job, UID: types.UID(fmt.Sprintf("1d3c3c0e-0b0f-4a52-9c53-%012d", n/20)), Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: fmt.Sprintf("node-%04d", n%1500), SchedulerName: "default-scheduler", Containers: []corev1.Container{{Name: "pytorch", Image: "registry.example/train:1"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, StartTime: &at, QOSClass: corev1.PodQOSGuaranteed,
			HostIP: "10.0.3.17", HostIPs: []corev1.HostIP{{IP: "10.0.3.17"}}, PodIP: "10.244.3.17", PodIPs: []corev1.PodIP{{IP: "10.244.3.17"}},
			ContainerStatuses: []corev1.ContainerStatus{{
				Name: "pytorch", Ready: true, Started: &yes, Image: "registry.example/train:1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at}},
				ImageID:      "registry.example/train@sha256:7d3c3c0e0b0f4a529c53aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
				ContainerID:  fmt.Sprintf("containerd://%064d", n),
				VolumeMounts: []corev1.VolumeMountStatus{{Name: "kube-api-access-x2x2x", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
				Resources:    &corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8"), "memory": resource.MustParse("64Gi")}},
			}},
		},
	}
	for _, c := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled} {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: at, LastProbeTime: at})
	}
	return p
}

// decoded is a pod as an informer gets it: none of its words is another's.
func decoded(t testing.TB, p *corev1.Pod) *corev1.Pod {
	t.Helper()
	data, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	out := &corev1.Pod{}
	if err := out.Unmarshal(data); err != nil {
		t.Fatal(err)
	}
	return out
}

func held(t testing.TB, p *corev1.Pod) *packedPod {
	t.Helper()
	o, err := trimPod(decoded(t, p))
	if err != nil {
		t.Fatal(err)
	}
	return o.(*packedPod)
}

// Of statuses of containers that a pod does not have nothing is held.
func TestForgedStatusesAreNotHeld(t *testing.T) {
	p := worker(1)
	for i := range 6000 {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: fmt.Sprint("c", i)})
	}
	if got := held(t, p).pod().Status.ContainerStatuses; len(got) != 1 || got[0].Name != "pytorch" {
		t.Errorf("%d statuses are held, want that of its one container", len(got))
	}
}

// What the controller reads of a pod is there after it was trimmed: its mark, its place, its owner, its ends.
func TestATrimmedPodTellsTheSame(t *testing.T) {
	failed := worker(3)
	failed.Status.Phase, failed.Status.Message = corev1.PodFailed, "The node was low on resource: memory."
	failed.Status.Conditions[2].Status, failed.Status.Conditions[2].Message = corev1.ConditionFalse, "containers with unready status: [pytorch]"
	failed.Status.Conditions = append(failed.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "TerminationByKubelet"})
	failed.Status.ContainerStatuses[0].RestartCount = 2
	failed.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 40s"}}
	failed.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Signal: 9, Reason: "OOMKilled", Message: "killed", FinishedAt: *failed.Status.StartTime}
	failed.Status.ContainerStatuses[0].AllocatedResourcesStatus = []corev1.ResourceStatus{{Name: "nvidia.com/gpu", Resources: []corev1.ResourceHealth{{ResourceID: "0", Health: corev1.ResourceHealthStatusUnhealthy}}}}
	failed.Spec.InitContainers = []corev1.Container{{Name: "init-pytorch"}}
	failed.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "init-pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "no such host"}}}}
	grouped := worker(5) // its place can only be told with the size of its group
	grouped.Labels = map[string]string{lwsLabel: "serve", lwsGroupLabel: "1", "leaderworkerset.sigs.k8s.io/worker-index": "2"}
	grouped.Annotations = map[string]string{"leaderworkerset.sigs.k8s.io/size": "4", "cni.example.com/address": "10.1.2.3"}
	for name, p := range map[string]*corev1.Pod{"it runs": worker(1), "it failed": failed, "it is of a group": grouped} {
		t.Run(name, func(t *testing.T) {
			got := held(t, p).pod()
			p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Status == corev1.ConditionTrue && c.Type != corev1.DisruptionTarget
			})
			if diff := cmp.Diff(mark(p), mark(got)); diff != "" {
				t.Errorf("mark (-whole +trimmed):\n%s", diff)
			}
			if trouble(*p) != trouble(*got) {
				t.Errorf("trouble is %t, was %t", trouble(*got), trouble(*p))
			}
			if diff := cmp.Diff(p.OwnerReferences, got.OwnerReferences); diff != "" {
				t.Errorf("owners (-whole +trimmed):\n%s", diff)
			}
			if diff := cmp.Diff(p.Labels, got.Labels); diff != "" {
				t.Errorf("labels (-whole +trimmed):\n%s", diff)
			}
			for _, k := range kinds.All() {
				if k.Place == nil {
					continue
				}
				wantRole, wantIndex, wantOK := k.Place(p)
				role, index, ok := k.Place(got)
				if role != wantRole || index != wantIndex || ok != wantOK {
					t.Errorf("%s: place is %s %d %t, was %s %d %t", k.Name, role, index, ok, wantRole, wantIndex, wantOK)
				}
			}
			for i, c := range p.Status.ContainerStatuses {
				if diff := cmp.Diff([]any{c.State, c.LastTerminationState, c.AllocatedResourcesStatus}, []any{got.Status.ContainerStatuses[i].State, got.Status.ContainerStatuses[i].LastTerminationState, got.Status.ContainerStatuses[i].AllocatedResourcesStatus}); diff != "" {
					t.Errorf("container (-whole +trimmed):\n%s", diff)
				}
			}
		})
	}
}

// A handler, an index and a caller that lists are shown pods, whatever the informer holds.
func TestAPackedPodIsShownAsAPod(t *testing.T) {
	source, first := watch.NewFake(), worker(1)
	informer := informerOf(kubefake.NewClientset(), nil, func(*corev1.Pod) bool { return true }, jobLabels(kinds.All()))(&toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (apiruntime.Object, error) {
			return &corev1.PodList{Items: []corev1.Pod{*first}}, nil
		},
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if o.SendInitialEvents != nil {
				return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil) // as a server that cannot stream a list
			}
			return source, nil
		},
	}, &corev1.Pod{}, 0, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
	if err := informer.SetTransform(trimPod); err != nil {
		t.Fatal(err)
	}
	const job = "training.kubeflow.org/job-name"
	if err := informer.AddIndexers(toolscache.Indexers{"node": nil}); err == nil {
		t.Error("nobody is told that there is no such index")
	}
	seen := make(chan string, 8)
	say := func(what string, o any) {
		if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		p := o.(*corev1.Pod)
		seen <- fmt.Sprint(what, " ", p.Name, " ", p.Spec.NodeName, " ", p.Status.Phase)
	}
	if _, err := informer.AddEventHandlerWithOptions(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { say("added", o) }, UpdateFunc: func(before, o any) { say("was", before); say("is", o) }, DeleteFunc: func(o any) { say("gone", o) },
	}, toolscache.HandlerOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); informer.RunWithContext(ctx) }()
	defer func() { stop(); <-ended }()

	want := []string{"added train-0-worker-1 node-0001 Running", "was train-0-worker-1 node-0001 Running", "is train-0-worker-1 node-0001 Failed"}
	got := []string{<-seen}
	failed := worker(1)
	failed.ResourceVersion, failed.Status.Phase = "200000", corev1.PodFailed
	source.Modify(failed)
	got = append(got, <-seen, <-seen)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, index := range [][2]string{{jobIndex, "team-07/" + job + "=train-0"}, {toolscache.NamespaceIndex, "team-07"}} {
		found, err := informer.GetIndexer().ByIndex(index[0], index[1])
		if err != nil || len(found) != 1 {
			t.Fatalf("index %s: %v, %v", index[0], found, err)
		}
		o, err := meta.Accessor(found[0])
		if err != nil || o.GetName() != failed.Name || o.GetNamespace() != failed.Namespace || o.GetLabels()[job] != "train-0" {
			t.Errorf("the cache sees %v, %v", o, err)
		}
		p, ok := found[0].(apiruntime.Object).DeepCopyObject().(*corev1.Pod)
		if !ok || p.UID != failed.UID || p.Status.Phase != corev1.PodFailed || !p.CreationTimestamp.Equal(&failed.CreationTimestamp) {
			t.Errorf("who lists is shown %v", p)
		}
	}
	source.Delete(failed)
	if last := <-seen; last != "gone train-0-worker-1 node-0001 Failed" {
		t.Error(last)
	}
}

// Of a job what nobody reads is not held, and nothing else is lost.
func TestAKeptJobIsShownAsItWasRead(t *testing.T) {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"namespace":"ml","name":"train","uid":"u","resourceVersion":"7","labels":{"team":"speech"},
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","owner":"me"},"managedFields":[{"manager":"kubectl","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},
		"spec":{"replicas":9007199254740993,"share":0.5},"status":{"conditions":[{"type":"Created"}]}}`)); err != nil {
		t.Fatal(err)
	}
	want := u.DeepCopy()
	unstructured.RemoveNestedField(want.Object, "metadata", "managedFields")
	want.SetAnnotations(map[string]string{"owner": "me"})
	kept, err := keepObject(u)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Object, kept.(*live.PackedObject).Object().Object); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
