package capture

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// elapse lets the clock of the test's bubble run; nobody waits.
func elapse(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // see above

// train is the job of these tests.
func train(kind string) Job {
	for _, k := range kinds.All() {
		if k.Name == kind {
			return Job{Kind: k, Ref: job.Ref{Kind: kind, APIVersion: k.GVKs[0].GroupVersion().String(), Namespace: "ml", Name: "train", UID: "job-1"}}
		}
	}
	panic(kind) //nolint:forbidigo // a test that names no kind is wrong
}

func worker(uid types.UID, rank int, code int32) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprintf("train-worker-%d", rank), UID: uid, Labels: map[string]string{
			"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": fmt.Sprint(rank),
		}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "pytorch", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	}
	if code >= 0 {
		p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}
	}
	return p
}

// keeping is a Keeper at work, and what it has asked of the API server.
type keeping struct {
	*Keeper
	kube *kubefake.Clientset
	t    *testing.T
	stop context.CancelFunc
}

// start begins a process; kube is what the one before left.
func start(t *testing.T, kube *kubefake.Clientset, change func(*Options)) *keeping {
	t.Helper()
	if kube == nil {
		kube = kubefake.NewClientset()
	}
	o := Options{Kube: kube, Memory: 1 << 20, PerJob: 512 << 10}
	if change != nil {
		change(&o)
	}
	ctx, stop := context.WithCancel(t.Context())
	k := &keeping{Keeper: New(o), kube: kube, t: t, stop: stop}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = k.Start(ctx)
	}()
	k.stop = func() { stop(); <-done }
	t.Cleanup(k.stop)
	return k
}

// count is how often something was asked.
func (k *keeping) count(verb, resource string) int {
	n := 0
	for _, a := range k.kube.Actions() {
		if a.GetVerb() == verb && a.GetResource().Resource+"/"+a.GetSubresource() == resource+"/" || a.GetVerb() == verb && a.GetSubresource() == resource {
			n++
		}
	}
	return n
}

func (k *keeping) kept() []string {
	k.t.Helper()
	s, err := k.Set(k.t.Context(), train("PyTorchJob").Ref, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	return told(s)
}

func told(s *keep.Set) []string {
	var out []string
	for _, e := range s.Ends() {
		out = append(out, fmt.Sprintf("%s#%d code %d: %s", e.Pod, e.Restart, e.Code, strings.TrimSpace(string(e.Text()))))
	}
	return out
}

// stored is what stands beside the job.
func (k *keeping) stored() []string {
	k.t.Helper()
	cm, err := k.kube.CoreV1().ConfigMaps("ml").Get(k.t.Context(), "signalbox-evidence-job-1", metav1.GetOptions{})
	if err != nil {
		k.t.Fatal(err)
	}
	owner := metav1.OwnerReference{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "train", UID: "job-1"}
	if diff := cmp.Diff([]metav1.OwnerReference{owner}, cm.OwnerReferences); diff != "" {
		k.t.Errorf("owner (-want +got):\n%s", diff)
	}
	if cm.Labels[keep.Label] != "true" || cm.Annotations[keep.About] != "PyTorchJob/train" || cm.Annotations[keep.Summary] == "" {
		k.t.Errorf("labels %v, annotations %v", cm.Labels, cm.Annotations)
	}
	s, err := keep.Decode(cm.BinaryData[keep.DataKey])
	if err != nil {
		k.t.Fatal(err)
	}
	return told(s)
}

func TestWhatEndsIsReadOnceAndWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, nil)
		for rank := range 8 {
			uid := types.UID(fmt.Sprintf("w%d", rank))
			k.See(train("PyTorchJob"), worker(uid, rank, 1))
			k.See(train("PyTorchJob"), worker(uid, rank, 1)) // a resync
		}
		k.See(train("PyTorchJob"), worker("well", 8, 0))
		k.See(train("PyTorchJob"), worker("runs", 9, -1))
		if n := len(k.kept()); n != 8 {
			t.Errorf("%d ends are kept, want 8", n)
		}
		elapse(time.Minute)
		synctest.Wait()
		if reads, writes := k.count("get", "log"), k.count("patch", "configmaps"); reads != 8 || writes != 1 {
			t.Errorf("%d reads of logs and %d writes; want 8 and 1", reads, writes)
		}
		if got := k.stored(); len(got) != 8 || got[0] != "w0#0 code 1: fake logs" {
			t.Errorf("stored is %q", got)
		}
	})
}

// What cannot be read now is no evidence of an empty log: it is asked for again.
func TestALogThatCannotBeReadNowIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, nil)
		away := true
		k.kube.PrependReactor("get", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			return away && a.GetSubresource() == "log", nil, errors.New("the node does not answer")
		})
		k.See(train("PyTorchJob"), worker("a", 0, 1))
		if got := k.kept(); len(got) != 0 {
			t.Errorf("kept is %q of a log that nobody could read", got)
		}
		away = false
		k.See(train("PyTorchJob"), worker("a", 0, 1))
		if diff := cmp.Diff([]string{"a#0 code 1: fake logs"}, k.kept()); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
}

// A new process finds what the one before kept, reads no log again, and adds to it.
func TestANewProcessGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := start(t, nil, nil)
		first.See(train("PyTorchJob"), worker("a", 0, 1))
		first.kept()
		first.stop() // what is not written yet is written now
		if got := first.stored(); len(got) != 1 {
			t.Fatalf("stored is %q", got)
		}
		second := start(t, first.kube, nil)
		if diff := cmp.Diff([]string{"a#0 code 1: fake logs"}, second.kept()); diff != "" {
			t.Errorf("kept by the process before (-want +got):\n%s", diff)
		}
		reads := second.count("get", "log")
		second.See(train("PyTorchJob"), worker("a", 0, 1))
		second.See(train("PyTorchJob"), worker("b", 0, 137))
		elapse(time.Minute)
		if n := second.count("get", "log") - reads; n != 1 {
			t.Errorf("%d reads of logs, want that of the new pod", n)
		}
		if diff := cmp.Diff([]string{"a#0 code 1: fake logs", "b#0 code 137: fake logs"}, second.stored()); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
	})
}

func TestRestartsAreEndsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, nil)
		p := worker("a", 0, 1)
		k.See(train("PyTorchJob"), p)
		again := worker("a", 0, -1)
		again.Status.ContainerStatuses[0].RestartCount = 1
		again.Status.ContainerStatuses[0].LastTerminationState = p.Status.ContainerStatuses[0].State
		k.See(train("PyTorchJob"), again) // the same end, seen from behind
		third := again.DeepCopy()
		third.Status.ContainerStatuses[0].RestartCount = 2
		k.See(train("PyTorchJob"), third)
		if diff := cmp.Diff([]string{"a#1 code 1: fake logs", "a#0 code 1: fake logs"}, k.kept()); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
}

// A pod that is deleted while it runs tells what the others saw, if another failed before.
func TestPodsThatAreTakenAwayAfterAFailureAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, nil)
		leaving := worker("b", 1, -1)
		now := metav1.Now()
		leaving.DeletionTimestamp = &now
		k.See(train("PyTorchJob"), leaving)
		if got := k.kept(); len(got) != 0 {
			t.Errorf("kept is %q of a job that nothing is wrong with", got)
		}
		k.See(train("PyTorchJob"), worker("a", 0, 1))
		k.See(train("PyTorchJob"), leaving)
		if diff := cmp.Diff([]string{"a#0 code 1: fake logs", "b#0 code 0: fake logs"}, k.kept()); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	})
}

// The launcher of a ColossalAIJob ends with 0 although training failed.
func TestALauncherThatEndsWithZeroIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, nil)
		k.See(train("ColossalAIJob"), worker("a", 0, 0))
		if s, err := k.Set(t.Context(), train("ColossalAIJob").Ref, nil); err != nil || s.Len() != 1 {
			t.Errorf("%d ends are kept, error %v; want 1", s.Len(), err)
		}
	})
}

// A write that fails is tried again so often; what is not written then is kept in memory, and the log says so.
func TestAWriteThatFailsIsTriedAgain(t *testing.T) {
	for failures, want := range map[int][]bool{
		0: {true}, 2: {false, false, true}, 6: {false, false, false, false, false, false, true}, 7: {false, false, false, false, false, false, false},
	} {
		t.Run(fmt.Sprint(failures), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var outcomes []bool
				var log strings.Builder
				k := start(t, nil, func(o *Options) {
					o.Wrote = func(_ int, err error) { outcomes = append(outcomes, err == nil) }
					o.Log = funcr.New(func(_, args string) { log.WriteString(args) }, funcr.Options{})
				})
				left := failures
				k.kube.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
					left--
					return left >= 0, nil, errors.New("etcd is busy")
				})
				k.See(train("PyTorchJob"), worker("a", 0, 1))
				elapse(time.Hour)
				synctest.Wait()
				if diff := cmp.Diff(want, outcomes); diff != "" {
					t.Errorf("writes (-want +got):\n%s", diff)
				}
				if said := strings.Contains(log.String(), "evidence is kept in memory only"); said != (failures > 6) || len(k.kept()) != 1 {
					t.Errorf("it is said that nothing is written: %t; %d ends are in memory", said, len(k.kept()))
				}
				if failures <= 6 {
					k.stored()
				}
			})
		})
	}
}

// What cannot be read might be worth more than what is new: it is not written over.
func TestWhatCannotBeReadIsNotOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, nil)
		k.kube.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("the API server is away")
		})
		k.See(train("PyTorchJob"), worker("a", 0, 1))
		elapse(time.Hour)
		if n := k.count("patch", "configmaps"); n != 0 {
			t.Errorf("%d writes, want none", n)
		}
		if s, _ := k.Set(t.Context(), train("PyTorchJob").Ref, nil); s.Len() != 1 {
			t.Errorf("%d ends in memory, want 1", s.Len())
		}
	})
}

func TestNothingIsWrittenWhere(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"the job is being deleted": func(o *Options) { o.Gone = func(context.Context, job.Ref) bool { return true } },
		"writing is off":           func(o *Options) { o.PerJob = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := start(t, nil, change)
				k.See(train("PyTorchJob"), worker("a", 0, 1))
				elapse(time.Minute)
				if n := k.count("patch", "configmaps"); n != 0 {
					t.Errorf("%d writes", n)
				}
				if len(k.kept()) != 1 {
					t.Error("nothing is kept in memory")
				}
			})
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, func(o *Options) { o.Memory, o.PerJob = 40<<10, 0 })
		for i := range 50 {
			j := train("PyTorchJob")
			j.Ref.UID, j.Ref.Name = fmt.Sprintf("job-%d", i), fmt.Sprintf("train-%d", i)
			k.See(j, worker(types.UID(fmt.Sprintf("w%d", i)), 0, 1))
			synctest.Wait()
			elapse(time.Second)
		}
		var used int64
		for _, one := range k.jobs {
			used += one.set.Bytes()
		}
		if used > 40<<10 || k.jobs["job-49"] == nil || k.jobs["job-0"] != nil {
			t.Errorf("%d bytes of %d jobs; the last is there: %t", used, len(k.jobs), k.jobs["job-49"] != nil)
		}
		k.Forget("PyTorchJob", "ml", "train-49", "")
		if k.jobs["job-49"] != nil {
			t.Error("a job that is gone is remembered")
		}
	})
}

// A read that ends after its job was forgotten and asked for again finds nothing that waits for it.
func TestAReadThatOutlivesWhatItWasFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := train("PyTorchJob")
		k := New(Options{Kube: kubefake.NewClientset(), Memory: 1 << 20})
		k.See(j, worker("pod-1", 0, 1))
		k.ForgetKind("PyTorchJob")
		if set, err := k.Set(t.Context(), j.Ref, nil); err != nil || set.Len() != 0 || k.Busy("job-1") {
			t.Fatalf("%v is kept of a job that was forgotten, busy %v, error %v", set, k.Busy("job-1"), err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- k.Start(ctx) }()
		synctest.Wait()
		if set, err := k.Set(t.Context(), j.Ref, nil); err != nil || set.Len() != 1 {
			t.Errorf("%v is kept after the read, error %v; want the end of the one container", set, err)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Jobs that end well at the same time share objects: none of them loses what another has written.
func TestGoodRunsThatEndTogether(t *testing.T) {
	kube := kubefake.NewClientset()
	writing := 0 // the fake calls one reactor at a time
	kube.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		if writing++; writing > 1 {
			t.Error("two read the object before one of them has written it")
		}
		return false, nil, nil
	})
	kube.PrependReactor("patch", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		writing--
		return false, nil, nil
	})
	k := New(Options{Kube: kube, Memory: 1 << 20, PerJob: 512 << 10})
	object, _ := keep.GoodKey("PyTorchJob", "train-0", "")
	var names []string
	for i := 0; len(names) < 8; i++ {
		if name := fmt.Sprintf("train-%d", i); func() bool { at, _ := keep.GoodKey("PyTorchJob", name, ""); return at == object }() {
			names = append(names, name)
		}
	}
	var all errgroup.Group
	for _, name := range names {
		all.Go(func() error {
			return k.Good(t.Context(), job.Ref{Kind: "PyTorchJob", Namespace: "ml", Name: name}, "", keep.Good{UID: name, At: time.Unix(0, 0)})
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	cm, err := kube.CoreV1().ConfigMaps("ml").Get(t.Context(), object, metav1.GetOptions{})
	if err != nil || len(cm.BinaryData) != len(names) {
		t.Errorf("%d runs are remembered, want %d (%v)", len(cm.BinaryData), len(names), err)
	}
}

func TestNoKeeperKeepsNothing(t *testing.T) {
	k := New(Options{})
	k.See(train("PyTorchJob"), worker("a", 0, 1))
	k.Forget("PyTorchJob", "ml", "train", "")
	if s, err := k.Set(t.Context(), train("PyTorchJob").Ref, nil); s != nil || err != nil || k.Start(t.Context()) != nil {
		t.Errorf("a Keeper of nothing has %v, %v", s, err)
	}
}

// With each look at a job those of its name are forgotten that were there before it. Where that goes through all jobs,
// this does not end within the time limit of a test.
func TestForgettingAJobDoesNotGoThroughAllOthers(t *testing.T) {
	const jobs = 100_000
	k := New(Options{Memory: 1 << 20})
	for i := range jobs {
		ref := job.Ref{Kind: "PyTorchJob", Namespace: "ml", Name: fmt.Sprint(i), UID: fmt.Sprint("uid-", i)}
		k.Forget(ref.Kind, ref.Namespace, ref.Name, types.UID(ref.UID))
		k.of(ref)
	}
	if k.Forget("PyTorchJob", "ml", "7", "another"); len(k.jobs) != jobs-1 || len(k.uids) != jobs-1 {
		t.Errorf("%d jobs of %d names are known; want %d", len(k.jobs), len(k.uids), jobs-1)
	}
	if k.ForgetKind("PyTorchJob"); len(k.jobs)+len(k.uids) != 0 {
		t.Errorf("%d jobs of %d names are left of a kind that is gone", len(k.jobs), len(k.uids))
	}
}

// Of one attempt so many logs are read as far as the limits go; those of the next attempt are, too.
func TestTheLastAttemptIsReadAsDeepAsTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := start(t, nil, nil)
		fail := func(attempt, pods int) {
			for rank := range pods {
				k.See(train("PyTorchJob"), worker(types.UID(fmt.Sprintf("a%d-w%d", attempt, rank)), rank, 1))
			}
			synctest.Wait()
		}
		short := func() (n int) {
			for _, a := range k.kube.Actions() {
				if g, ok := a.(clienttesting.GenericAction); ok && a.GetSubresource() == "log" && *g.GetValue().(*corev1.PodLogOptions).TailLines == shallowMost {
					n++
				}
			}
			return n
		}
		fail(0, deep+1)
		if n := short(); n != 1 {
			t.Errorf("of %d logs %d are read in short, want the last", deep+1, n)
		}
		elapse(nextAttempt + time.Second)
		if fail(1, 8); short() != 1 {
			t.Errorf("%d logs of the second attempt are read in short", short()-1)
		}
	})
}

// The pods of a namespace that end by the thousands are read one after one of each other namespace, and so are their jobs written.
func TestPodsOfOneNamespaceThatEndTogetherHoldUpNoOther(t *testing.T) {
	k := New(Options{Memory: 1 << 30, PerJob: 512 << 10, Quiet: time.Nanosecond})
	see := func(namespace string, n int) {
		j := train("PyTorchJob")
		j.Ref.Namespace, j.Ref.UID = namespace, fmt.Sprint(namespace, n)
		p := worker(types.UID(fmt.Sprint("pod-", namespace, n)), 0, 1)
		p.Namespace = namespace
		k.See(j, p)
	}
	for n := range 2000 {
		see("greedy", n)
	}
	see("other", 0)
	var got []string
	for range 2 {
		next, _ := k.reads.Get()
		got = append(got, next.namespace)
	}
	if diff := cmp.Diff([]string{"greedy", "other"}, got); diff != "" {
		t.Errorf("logs are read of (-want +got):\n%s", diff)
	}
	k.reads.ShutDown()
	k.writes.ShutDown()
}

// What is kept is not counted for each log that is read: of 4,000 jobs that fail together, as of one.
func TestJobsThatFailTogetherAreNotCountedEachTime(t *testing.T) {
	k := New(Options{Kube: kubefake.NewClientset(), Memory: 1 << 30, PerJob: 0})
	defer k.writes.ShutDown()
	counts, at := 0, time.Time{}
	for i := range 4000 {
		j := train("PyTorchJob")
		j.Ref.UID, j.Ref.Name = fmt.Sprint(i), fmt.Sprint(i)
		k.See(j, worker(types.UID(fmt.Sprint("pod-", i)), 0, 1))
		k.readNext(t.Context())
		if k.countedAt != at {
			counts, at = counts+1, k.countedAt
		}
	}
	if k.reads.Len() > 0 || len(k.jobs) != 4000 || counts > 40 {
		t.Errorf("%d jobs are kept, %d are not read; all were counted %d times", len(k.jobs), k.reads.Len(), counts)
	}
}
