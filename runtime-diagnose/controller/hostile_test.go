package controller

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/test/build"
)

// obeyed is what a terminal would obey, or show otherwise than it stands there: a colour, a link, a bell, NUL, a mark of
// direction, C1, a byte that is no text, a carriage return.
const obeyed = "\x1b[31mred\x1b]8;;https://a.example\x07link\x1b]8;;\x07\x00\u202egpj\u202c\u009b31m\xff\rback"

// TestNothingThatATerminalObeysStandsOnAJob: a node that somebody has taken over writes of its pods and of itself what it
// likes, and so does an operator into the status of a job.
func TestNothingThatATerminalObeysStandsOnAJob(t *testing.T) {
	cases := map[string]func(w *world){
		"a container that failed": func(w *world) {
			w.condition("Failed", "PyTorchJobFailed")
			w.pod("master", oomKilled)
			w.pod("worker", func(p *corev1.Pod) {
				oomKilled(p)
				p.Status.ContainerStatuses[0].State.Terminated.ExitCode = 1
			})
		},
		"a container that waits": func(w *world) {
			w.condition("Running", "PyTorchJobRunning")
			w.pod("master", func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodPending
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off"}}
			})
			w.pod("worker", nil)
		},
		"an image that cannot be pulled": func(w *world) {
			w.condition("Running", "PyTorchJobRunning")
			w.pod("master", func(p *corev1.Pod) {
				p.Status.Phase = corev1.PodPending
				p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}}
			})
			w.pod("worker", nil)
		},
		"a pod that was evicted": func(w *world) {
			w.condition("Failed", "PyTorchJobFailed")
			w.pod("master", func(p *corev1.Pod) {
				p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory."}
			})
			w.pod("worker", nil)
		},
		"a pod that waits": func(w *world) {
			w.condition("Created", "PyTorchJobCreated")
			w.pod("master", unschedulable)
			w.pod("worker", unschedulable)
			w.pass(time.Minute)
		},
		"a job that failed without pods": func(w *world) { w.condition("Failed", "PyTorchJobFailed") },
		"a node that is lost": func(w *world) {
			w.condition("Failed", "PyTorchJobFailed")
			w.pod("master", func(p *corev1.Pod) {
				p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "NodeLost", Message: "Node gpu-1 which was running pod is unresponsive"}
			})
			w.pod("worker", nil)
			n := build.Node("gpu-1")
			n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}, {Type: "XIDError", Status: corev1.ConditionTrue, Reason: "Xid79", Message: "GPU has fallen off the bus"}}
			if err := w.kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), n, ""); err != nil {
				w.t.Fatal(err)
			}
		},
	}
	for name, set := range cases {
		for _, place := range []string{"before", "behind"} {
			t.Run(name+"/"+place, func(t *testing.T) {
				w := newWorld(t)
				set(w)
				taint := func(text string) string {
					if place == "before" {
						return obeyed + text
					}
					return text + obeyed
				}
				for i := range w.pods {
					tainted(reflect.ValueOf(&w.pods[i].Status), taint)
					for _, reason := range []string{"Killing", "FailedScheduling", "Failed", "FailedMount"} {
						e := &corev1.Event{
							ObjectMeta:     metav1.ObjectMeta{Namespace: "ml", Name: w.pods[i].Name + "." + strings.ToLower(reason)},
							InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "ml", Name: w.pods[i].Name, UID: types.UID(w.pods[i].UID)},
							Type:           corev1.EventTypeWarning, Reason: reason, Message: taint("of " + reason), LastTimestamp: metav1.NewTime(start),
						}
						if err := w.kube.Tracker().Add(e); err != nil {
							t.Fatal(err)
						}
					}
				}
				if nodes, err := w.kube.Tracker().List(corev1.SchemeGroupVersion.WithResource("nodes"), corev1.SchemeGroupVersion.WithKind("Node"), ""); err == nil {
					for _, n := range nodes.(*corev1.NodeList).Items {
						tainted(reflect.ValueOf(&n.Status.Conditions), taint)
						if err := w.kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), &n, ""); err != nil {
							t.Fatal(err)
						}
					}
				}
				if status, ok := w.job.Object["status"].(map[string]any); ok {
					for _, c := range status["conditions"].([]any) {
						c.(map[string]any)["message"] = taint("the operator says")
					}
				}
				var told []Notice
				w.Writer.Notify = func(n Notice) { told = append(told, n) }
				w.reconcile()
				w.pass(time.Minute)
				w.reconcile()
				if len(w.patches) == 0 {
					t.Fatal("nothing is written")
				}
				for _, p := range w.patches {
					for key, text := range p {
						onlyShows(t, key, text)
					}
				}
				for _, a := range w.kube.Actions() {
					if c, ok := a.(clienttesting.CreateAction); ok {
						if e, ok := c.GetObject().(*eventsv1.Event); ok {
							onlyShows(t, "the Event", e.Note)
						}
					}
				}
				for _, n := range told {
					onlyShows(t, "what others are told", n.Result.Error+n.Result.Analysis+strings.Join(n.Result.Solution, ""))
				}
			})
		}
	}
}

// tainted changes all messages in a value.
func tainted(v reflect.Value, by func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			tainted(v.Elem(), by)
		}
	case reflect.Slice:
		for i := range v.Len() {
			tainted(v.Index(i), by)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).Name == "Message" && f.Kind() == reflect.String && f.CanSet() {
				f.SetString(by(f.String()))
			} else if v.Type().Field(i).IsExported() {
				tainted(f, by)
			}
		}
	default:
	}
}

func onlyShows(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s holds bytes that are no text: %q", what, text)
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e' || r == '\u202c' {
			t.Errorf("%s holds %U: %q", what, r, text)
			return
		}
	}
}
