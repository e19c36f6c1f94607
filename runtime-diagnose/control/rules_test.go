package control_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// shipped loads once: every pattern is proven against its gate when it is loaded.
var shipped = sync.OnceValues(signature.Builtin)

func builtin(t testing.TB) *signature.Catalog {
	t.Helper()
	c, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRulesAreWholeAndUnique(t *testing.T) {
	c := builtin(t)
	seen := map[string]bool{}
	for _, r := range control.Rules() {
		if seen[r.ID] && r != nil {
			t.Errorf("rule %s is there twice", r.ID)
		}
		seen[r.ID] = true
		if c.ByID(r.ID) != nil {
			t.Errorf("rule %s has the name of a signature", r.ID)
		}
		if _, ok := signature.CategoryOf(r.Category); !ok {
			t.Errorf("rule %s: category %q is unknown", r.ID, r.Category)
		}
		if r.Title == "" || r.Proves == "" || r.DoesNotProve == "" || len(r.Steps()) == 0 {
			t.Errorf("rule %s: title, proves, doesNotProve and remedy must be there", r.ID)
		}
	}
	for _, s := range c.All() {
		for _, h := range s.Hides {
			if c.ByID(h) == nil && !seen[h] {
				t.Errorf("signature %s hides %s, which does not exist", s.ID, h)
			}
		}
	}
}

func event(reason, object, message string, at int) corev1.Event {
	return corev1.Event{
		Type: corev1.EventTypeWarning, Reason: reason, Message: message,
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: object},
		LastTimestamp:  metav1.NewTime(time.Unix(int64(at), 0)),
	}
}

func normal(e corev1.Event) corev1.Event {
	e.Type = corev1.EventTypeNormal
	return e
}

// lasting are the categories of sightings that are not over.
func lasting(sightings []evidence.Observation) []string {
	var out []string
	for _, s := range sightings {
		if !s.Over {
			out = append(out, s.Signature.Category)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestEvents(t *testing.T) {
	cases := map[string]struct {
		events []corev1.Event
		want   []string
	}{
		"a mount that failed until the secret came": {[]corev1.Event{
			event("FailedMount", "a", `MountVolume.SetUp failed for volume "c" : secret "x" not found`, 1), normal(event("Started", "a", "Started container", 2)),
		}, nil},
		"scheduled after all": {[]corev1.Event{
			event("FailedScheduling", "a", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.", 1), normal(event("Scheduled", "a", "Successfully assigned", 2)),
		}, nil},
		"only the newest message of the scheduler counts": {[]corev1.Event{
			event("FailedScheduling", "a", `persistentvolumeclaim "d" not found`, 1), event("FailedScheduling", "a", "0/1 nodes are available: 1 Insufficient cpu.", 2),
		}, []string{"unschedulable-cpu-memory"}},
		"a quota refuses pods": {[]corev1.Event{
			event("FailedCreatePod", "train", `Error creating: pods "w-0" is forbidden: exceeded quota: gpu, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8`, 1),
		}, []string{"quota-exceeded"}},
		"pods are refused for a reason nobody knows": {[]corev1.Event{event("FailedCreatePod", "train", "Error creating: strange", 1)}, []string{"admission-denied"}},
		"followers of an exclusive placement wait for their leader": {[]corev1.Event{
			event("FailedCreate", "js-workers-0", "admission webhook \"vpod.kb.io\" denied the request: leader pod not yet scheduled, not creating follower pod. this is an expected, transient error", 1),
		}, nil},
		"two looks make what makes the workers of a group": {[]corev1.Event{
			event("FailedCreate", "s", "Failed to create worker statefulset for leader pod s-0", 1),
			normal(event("GroupsProgressing", "s", "Created worker statefulset for leader pod s-0", 2)),
		}, nil},
		"nothing makes the workers of a group": {[]corev1.Event{
			event("FailedCreate", "s", "Failed to create worker statefulset for leader pod s-0", 1),
			normal(event("GroupsProgressing", "s", "Created worker statefulset for leader pod s-1", 2)),
		}, []string{"admission-denied"}},
		"a TrainJob whose runtime cannot be built": {[]corev1.Event{
			event("TrainJobResourcesCreationFailed", "t", "TrainJob resources reconciliation failed: object is invalid", 1),
		}, []string{"admission-denied"}},
		"normal events are no failures":          {[]corev1.Event{normal(event("Pulling", "a", "Pulling image", 1)), normal(event("Killing", "a", "Stopping container", 2))}, nil},
		"a taint of the node drives the pod out": {[]corev1.Event{normal(event("TaintManagerEviction", "a", "Marking for deletion Pod ml/a", 1))}, []string{"sigterm-preempted"}},
		"a taint that went before the pod did": {[]corev1.Event{
			normal(event("TaintManagerEviction", "a", "Marking for deletion Pod ml/a", 1)), normal(event("TaintManagerEviction", "a", "Cancelling deletion of Pod ml/a", 2)),
		}, nil},
		"a taint of a device drives the pod out": {[]corev1.Event{normal(event("DeviceTaintManagerEviction", "a", "Marking for deletion", 1))}, []string{"gpu-hardware-xid"}},
		"the node went away":                     {[]corev1.Event{event("NodeNotReady", "a", "Node is not ready", 1)}, []string{"node-lost"}},
		"a queue takes its quota back, as Normal": {[]corev1.Event{
			normal(event("EvictedDueToPodsReadyTimeout", "w", "Exceeded the PodsReady timeout ml/w", 1)),
		}, []string{"sigterm-preempted"}},
		"the autoscaler takes the node down, as Normal": {[]corev1.Event{normal(event("ScaleDown", "a", "deleting pod for node scale down", 1))}, []string{"sigterm-preempted"}},
		"a node whose network came up late": {[]corev1.Event{
			event("NetworkNotReady", "a", "network is not ready: cni plugin not initialized", 1), normal(event("Started", "a", "Started container", 2)),
		}, nil},
		"a node whose network never came up": {[]corev1.Event{event("NetworkNotReady", "a", "network is not ready: cni plugin not initialized", 1)}, []string{"node-lost"}},
		"claimed devices that the node cannot prepare": {[]corev1.Event{
			event("FailedPrepareDynamicResources", "a", "Failed to prepare dynamic resources: NodePrepareResources failed for ResourceClaim g: no such device", 1),
		}, []string{"container-config"}},
		"the node cannot align the cores": {[]corev1.Event{
			event("SMTAlignmentError", "a", "SMT Alignment Error: requested 7 cpus not multiple cpus per core = 2", 1),
		}, []string{"admission-denied"}},
		"no node has room for a local volume": {[]corev1.Event{
			event("FailedScheduling", "a", "0/4 nodes are available: 4 node(s) did not have enough free storage.", 1),
		}, []string{"unschedulable-pvc"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seen := control.Read(control.Input{Events: tc.events, Catalog: builtin(t)})
			if got := lasting(seen.Sightings); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func podWith(status corev1.PodStatus) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: status}
}

func terminated(code int32, reason, message string) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}},
	}}}
}

func TestPods(t *testing.T) {
	cases := map[string]struct {
		status corev1.PodStatus
		want   []string
	}{
		"killed for memory":            {terminated(137, "OOMKilled", ""), []string{"host-oom-killed"}},
		"bus error":                    {terminated(135, "Error", ""), []string{"shm-exhausted"}},
		"segmentation fault":           {terminated(139, "Error", ""), []string{"segfault"}},
		"command not found":            {terminated(127, "Error", ""), []string{"container-config"}},
		"cannot run":                   {terminated(128, "ContainerCannotRun", "no such file"), []string{"container-config"}},
		"told to stop":                 {terminated(143, "Error", ""), []string{"sigterm-preempted"}},
		"the message says more":        {terminated(1, "Error", "ModuleNotFoundError: No module named 'apex'\n"), []string{"missing-module", "python-exception-user-code"}},
		"evicted":                      {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."}, []string{"evicted"}},
		"refused by the kubelet":       {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfnvidia.com/gpu", Message: "Node didn't have enough resource"}, []string{"admission-denied"}},
		"deadline":                     {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "DeadlineExceeded"}, []string{"sigterm-preempted"}},
		"preempted":                    {corev1.PodStatus{Phase: corev1.PodFailed, Conditions: []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler"}}}, []string{"sigterm-preempted"}},
		"held by a gate":               {corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}}, []string{"quota-exceeded"}},
		"no node, and nobody says why": {corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}}}, nil},
		"ended well":                   {terminated(0, "Completed", ""), nil},
		"the container is being built": {corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}}}, nil},
		"a key is missing": {corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "c", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: "couldn't find key password in Secret ml/db"}},
		}}}, []string{"container-config"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			seen := control.Read(control.Input{Pods: []corev1.Pod{podWith(tc.status)}, Catalog: builtin(t)})
			if got := lasting(seen.Sightings); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// An operator tells on the job what ails one of its pods, and names it; of two pods the job's own event stays the job's.
func TestAnEventOnTheJobThatNamesOnePodIsAboutThatPod(t *testing.T) {
	pods := []corev1.Pod{podWith(corev1.PodStatus{Phase: corev1.PodPending}), podWith(corev1.PodStatus{Phase: corev1.PodRunning})}
	pods[0].Name, pods[0].Spec.NodeName, pods[1].Name = "train-master-0", "gpu-1", "train-worker-0"
	for message, want := range map[string]string{
		"Error pod train-master-0 container pytorch waiting message: Back-off pulling image \"registry.example/train:1\"": "train-master-0",
		"train-master-0 and train-worker-0: Back-off pulling image \"registry.example/train:1\"":                          "",
		"Back-off pulling image \"registry.example/train-master-0-x:1\"":                                                  "",
	} {
		e := event("ImagePullBackOff", "train", message, 1)
		e.InvolvedObject.Kind = "PyTorchJob"
		seen := control.Read(control.Input{Pods: pods, Events: []corev1.Event{e}, Catalog: builtin(t)})
		at := slices.IndexFunc(seen.Sightings, func(s evidence.Observation) bool { return s.Item.ID == "event/train/ImagePullBackOff#1" })
		if at < 0 {
			t.Errorf("%s: the event was not seen in %+v", message, seen.Sightings)
			continue
		}
		if s := seen.Sightings[at].Item.Source; s.Pod != want || want != "" && s.Node != "gpu-1" {
			t.Errorf("%s: is of pod %q on %q, want %q", message, s.Pod, s.Node, want)
		}
	}
}

func TestANodeConcernsOnlyThePodsOnIt(t *testing.T) {
	bad := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-9"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}}}
	on := podWith(corev1.PodStatus{Phase: corev1.PodRunning})
	on.Spec.NodeName = "gpu-9"
	elsewhere := on
	elsewhere.Spec.NodeName = "gpu-1"
	for name, tc := range map[string]struct {
		pod  corev1.Pod
		want []string
	}{"a pod runs there": {on, []string{"node-lost"}}, "no pod runs there": {elsewhere, nil}} {
		t.Run(name, func(t *testing.T) {
			seen := control.Read(control.Input{Pods: []corev1.Pod{tc.pod}, Nodes: []corev1.Node{bad}})
			if got := lasting(seen.Sightings); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
