package bare_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// tell is a part in words, for tables.
func tell(p bare.Part) []string {
	var out []string
	for _, pod := range p.Pods {
		s := fmt.Sprintf("pod %s %s", pod.Name, pod.Status.Phase)
		if pod.Spec.NodeName != "" {
			s += " on " + pod.Spec.NodeName
		}
		if pod.Status.Reason != "" {
			s += " reason " + pod.Status.Reason
		}
		for _, c := range pod.Status.ContainerStatuses {
			if w := c.State.Waiting; w != nil {
				s += fmt.Sprintf("; %s waits %s", c.Name, w.Reason)
			}
			if e := c.State.Terminated; e != nil {
				s += fmt.Sprintf("; %s ended %d %s", c.Name, e.ExitCode, e.Reason)
			}
			if e := c.LastTerminationState.Terminated; e != nil {
				s += fmt.Sprintf("; %s ended before %d %s", c.Name, e.ExitCode, e.Reason)
			}
		}
		out = append(out, s)
	}
	for _, e := range p.Events {
		s := fmt.Sprintf("event %s/%s %s x%d: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Count, e.Message)
		if !e.LastTimestamp.IsZero() {
			s += " @-" + now.Sub(e.LastTimestamp.Time).String()
		}
		out = append(out, s)
	}
	for _, n := range p.Nodes {
		s := "node " + n.Name
		for _, c := range n.Status.Conditions {
			s += fmt.Sprintf(" %s=%s", c.Type, c.Status)
		}
		out = append(out, s)
	}
	for _, o := range p.Objects {
		out = append(out, "object "+o.GetKind()+" "+o.GetName())
	}
	return out
}

const described = `Name:             train-worker-3
Namespace:        ml
Node:             gpu-7/10.0.0.7
Status:           Running
Containers:
  pytorch:
    Image:          registry.local/train:1
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Finished:     Sun, 01 Mar 2026 11:59:00 +0000
    Restart Count:  4
Conditions:
  Type              Status
  Ready             False
Events:
  Type     Reason     Age                  From     Message
  ----     ------     ----                 ----     -------
  Normal   Scheduled  29m                  default-scheduler  Successfully assigned ml/train-worker-3 to gpu-7
  Warning  BackOff    4m14s (x116 over 29m)  kubelet  Back-off restarting failed container pytorch
`

func TestWhatPeoplePaste(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"kubectl describe pod": {described, []string{
			"pod train-worker-3 Running on gpu-7; pytorch waits CrashLoopBackOff; pytorch ended before 137 OOMKilled",
			"event Pod/train-worker-3 Scheduled x1: Successfully assigned ml/train-worker-3 to gpu-7 @-29m0s",
			"event Pod/train-worker-3 BackOff x116: Back-off restarting failed container pytorch @-4m14s",
		}},
		"kubectl describe of a job": {`Name:         llama
Namespace:    ml
API Version:  kubeflow.org/v1
Kind:         PyTorchJob
Status:
  Conditions:
    Message:  PyTorchJob llama is failed because 1 Worker replica(s) failed.
    Reason:   PyTorchJobFailed
    Status:   True
    Type:     Failed
Events:
  Type    Reason          Age   From                   Message
  ----    ------          ----  ----                   -------
  Normal  ExitedWithCode  2m    pytorchjob-controller  Pod: ml.llama-worker-0 exited with code 0
  Normal  ExitedWithCode  2m    pytorchjob-controller  Pod: ml.llama-worker-1 exited with code 137
`, []string{
			"pod llama-worker-1 Failed;  ended 137 ",
			"event pytorchjob/llama ExitedWithCode x1: Pod: ml.llama-worker-0 exited with code 0 @-2m0s",
			"event pytorchjob/llama ExitedWithCode x1: Pod: ml.llama-worker-1 exited with code 137 @-2m0s",
		}},
		"an evicted pod": {"Name: a\nStatus:           Failed\nReason:           Evicted\nMessage:          The node was low on resource: memory.\n", []string{
			"pod a Failed reason Evicted",
		}},
		"kubectl get events": {"LAST SEEN   TYPE      REASON             OBJECT          MESSAGE\n18m         Warning   FailedScheduling   pod/train-0     0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n", []string{
			"event Pod/train-0 FailedScheduling x1: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu. @-18m0s",
		}},
		"kubectl describe until 1.8": {"Name: a\nStatus: Pending\nEvents:\n  FirstSeen\tLastSeen\tCount\tFrom\t\tSubObjectPath\tType\t\tReason\t\tMessage\n  ---------\t--------\t-----\t----\t\t-------------\t--------\t------\t\t-------\n  1h\t\t48s\t\t31\tkubelet, gke-pool-6gp1\t\t\tWarning\t\tFailedMount\t\tUnable to mount volumes for pod \"a\"\n  4m\t2m\t2\t{kubelet gke-pool-hfyh}\tspec.containers{main}\tWarning\tFailed\tno such image\n", []string{
			"pod a Pending",
			"event Pod/a FailedMount x31: Unable to mount volumes for pod \"a\" @-48s",
			"event Pod/a Failed x2: no such image @-2m0s",
		}},
		"kubectl get events until 1.13": {"LASTSEEN  FIRSTSEEN  COUNT  NAME  KIND  SUBOBJECT  TYPE  REASON  SOURCE  MESSAGE\n9s   29m   7   train-0.15d8f1   Pod   Warning   FailedScheduling   default-scheduler   0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n2m   4m   3   train-1.15d8f2   Pod   spec.containers{main}   Normal   Pulling   kubelet, gpu-7   pulling image \"a\"\n", []string{
			"event Pod/train-0 FailedScheduling x7: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu. @-9s",
			"event Pod/train-1 Pulling x3: pulling image \"a\" @-2m0s",
		}},
		"kubectl get events -A": {"ml   2d3h  Warning  FailedMount  pod/a  MountVolume.SetUp failed\n", []string{
			"event Pod/a FailedMount x1: MountVolume.SetUp failed @-51h0m0s",
		}},
		"kubectl get pods -o wide": {`NAME       READY   STATUS             RESTARTS      AGE   IP          NODE     NOMINATED NODE   READINESS GATES
train-0    1/1     Running            3 (5m ago)    1h    10.0.0.3    gpu-1    <none>           <none>
train-1    0/1     OOMKilled          0             1h    10.0.0.4    gpu-2    <none>           <none>
train-2    0/1     ImagePullBackOff   0             1h    <none>      gpu-3    <none>           <none>
train-3    0/1     Pending            0             1h    <none>      <none>   <none>           <none>
train-4    0/1     Evicted            0             1h    <none>      <none>   <none>           <none>
`, []string{
			"pod train-0 Running on gpu-1", "pod train-1 Failed on gpu-2;  ended 137 OOMKilled", "pod train-2 Pending;  waits ImagePullBackOff",
			"pod train-3 Pending", "pod train-4 Failed reason Evicted",
		}},
		"kubectl get nodes": {`NAME       STATUS                        ROLES           AGE   VERSION
gpu-1      Ready,SchedulingDisabled      <none>          72d   v1.33.1
gpu-2      NotReady                      <none>          72d   v1.33.1
master     Ready                         control-plane   72d   v1.33.1
`, []string{"node gpu-1 Ready=True", "node gpu-2 Ready=False", "node master Ready=True"}},
		"a pod that is being deleted from a node that does not answer": {"NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   1/1     Unknown   1          1h\n", []string{"pod train-0 Unknown reason NodeLost"}},
		"a component and its node":                                     {"  Warning  Failed  4m (x6 over 5m)  kubelet, gpu-7  Error: secrets \"key\" not found\n", []string{`event / Failed x6: Error: secrets "key" not found @-4m0s`}},
		"rows of no table of nodes":                                    {"NAME   STATUS   ROLES   AGE   VERSION\nweb    Deployed <none>  3d    v2\ngpu-1  NotReady <none> 3d v1\n", nil},
		"YAML objects": {"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, status: {phase: Running}}\n- {apiVersion: v1, kind: Event, metadata: {name: e}, reason: Failed, message: m, count: 3, involvedObject: {kind: Pod, name: a}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: gpu-1}\n---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: j}\n", []string{
			"pod a Running", "event Pod/a Failed x3: m", "node gpu-1", "object JobSet j",
		}},
		"a JSON list whose items have no kind":                {`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"status":{"phase":"Failed"}}]}`, []string{"pod a Failed"}},
		"an object that is none of its kind is kept as it is": {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: 7}\n", []string{"object Pod a"}},
		"prose":   {"The pod would not start, see below.\n\n> it says: nothing\n", nil},
		"nothing": {"", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tell(bare.Read("f.txt", []byte(tc.text), now))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestALineThatSaidSomethingIsKept(t *testing.T) {
	p := bare.Read("describe.txt", []byte(described), now)
	got := p.Pods[0].Annotations["bare.signalbox.dev/line.pytorch.last"]
	if want := "11:Reason:       OOMKilled"; got != want {
		t.Errorf("origin of the exit is %q, want %q", got, want)
	}
	if p.Events[1].Annotations["bare.signalbox.dev/file"] != "describe.txt" {
		t.Errorf("event's file is %q", p.Events[1].Annotations["bare.signalbox.dev/file"])
	}
}

// The kubelet's reason for a missing resource is "OutOf" and the resource's name
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/kubelet/lifecycle/predicate.go).
func TestAReasonMayNameAResource(t *testing.T) {
	const message = "Node didn't have enough resource: nvidia.com/gpu, requested: 8, used: 4, capacity: 8"
	for name, text := range map[string]string{
		"describe":   "Events:\n  Type     Reason               Age  From     Message\n  ----     ------               ---- ----     -------\n  Warning  OutOfnvidia.com/gpu  3s   kubelet  " + message + "\n",
		"get events": "LAST SEEN   TYPE      REASON                OBJECT        MESSAGE\n3s          Warning   OutOfnvidia.com/gpu   pod/train-0   " + message + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			events := bare.Read("events.txt", []byte(text), now).Events
			if len(events) != 1 || events[0].Reason != "OutOfnvidia.com/gpu" || !strings.HasSuffix(events[0].Message, message) {
				t.Errorf("got %v", events)
			}
		})
	}
}

func TestAgesWithoutAClockAreUnknown(t *testing.T) {
	p := bare.Read("e", []byte("18m  Warning  Failed  pod/a  m\n"), time.Time{})
	if len(p.Events) != 1 || !p.Events[0].LastTimestamp.IsZero() {
		t.Errorf("got %v", p.Events)
	}
}

// An age counts from when somebody printed the table, and nobody knows when that was.
func TestAnAgeIsABoundAndNoTimeOfDay(t *testing.T) {
	const table = "LAST SEEN   TYPE      REASON         OBJECT       MESSAGE\n10m         Warning   NodeNotReady   pod/train-3   Node is not ready\n18m         Warning   FailedMount    pod/train-3   MountVolume.SetUp failed\n"
	events := bare.Read("events.txt", []byte(table), now).Events
	if got := events[0].Annotations[control.OriginAge]; got != "10m" {
		t.Errorf("the age is kept as %q", got)
	}
	for _, s := range control.Read(control.Input{Events: events, Now: now}).Sightings {
		if !s.Item.Told().IsZero() || !strings.HasPrefix(s.Item.Clock, "age/") {
			t.Errorf("%s is said to have been at %v by the clock %q", s.Item.Text, s.Item.Told(), s.Item.Clock)
		}
	}
	dated := bare.Read("events.yaml", []byte("apiVersion: v1\nkind: Event\nmetadata: {name: e}\nreason: NodeNotReady\nmessage: Node is not ready\nlastTimestamp: 2026-03-01T11:00:00Z\ninvolvedObject: {kind: Pod, name: train-3}\n"), now).Events
	for _, s := range control.Read(control.Input{Events: dated, Now: now}).Sightings {
		if s.Item.Told().IsZero() {
			t.Errorf("%s has a time of its own", s.Item.Text)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(described)
	f.Add("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nstatus: {containerStatuses: [{state: {terminated: {exitCode: x}}}]}\n")
	f.Add("NAME READY STATUS\na 0/1\n")
	f.Add("State: Terminated\n  Exit Code: 99999999999\n  Reason: x\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := bare.Read("f", []byte(text), now)
		lines := strings.Count(text, "\n") + 1
		for _, n := range p.Understood {
			if n < 1 || n > lines {
				t.Fatalf("line %d of %d was understood", n, lines)
			}
		}
		if p.Text && len(p.Objects)+len(p.Nodes) > 0 {
			t.Fatal("objects were read from text")
		}
		if again := bare.Read("f", []byte(text), now); cmp.Diff(tell(p), tell(again)) != "" {
			t.Fatal("a second reading says something else")
		}
	})
}
