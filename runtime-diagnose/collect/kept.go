package collect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// Stored reads what the controller has kept of a job's containers in the ConfigMap beside the
// job; nil: nothing. An object that carries the name and is not the job's own says nothing.
func Stored(ctx context.Context, kube kubernetes.Interface, ref job.Ref) (*keep.Set, error) {
	if ref.UID == "" {
		return nil, nil
	}
	cm, err := kube.CoreV1().ConfigMaps(ref.Namespace).Get(ctx, keep.Name(types.UID(ref.UID)), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read kept evidence: %w", err)
	}
	data := cm.BinaryData[keep.DataKey]
	if len(data) == 0 {
		return nil, nil
	}
	return keep.Decode(data)
}

// LastGood is what the last run of a job that ended well printed; nil: none is kept.
func LastGood(ctx context.Context, kube kubernetes.Interface, namespace, object, key string) (*keep.Good, error) {
	cm, err := kube.CoreV1().ConfigMaps(namespace).Get(ctx, object, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	data, ok := cm.BinaryData[key]
	if !ok {
		return nil, nil
	}
	good, err := keep.DecodeGood(data)
	if err != nil {
		return nil, err
	}
	return &good, nil
}

// readGood reads the last good run of the job, to which what its pods print is compared. An account that may not read it loses little.
func (r *reading) readGood(ctx context.Context) {
	if r.out.State.Phase == kinds.Succeeded || r.out.State.Phase == kinds.Suspended || len(r.out.Pods)+len(r.keptPods)+len(r.keptEnds) == 0 {
		return
	}
	object, key := keep.GoodKey(r.kind.Name, r.object.GetName(), r.object.GetGenerateName())
	good, err := LastGood(ctx, r.Kube, r.object.GetNamespace(), object, key)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		r.missing("last good run", err)
	}
	r.out.Good = good
}

// readKept asks for what was kept of containers that ended earlier.
func (r *reading) readKept(ctx context.Context) {
	ask := r.Kept
	if ask == nil {
		ask = func(ctx context.Context, ref job.Ref, _ map[types.UID]bool) (*keep.Set, error) {
			return Stored(ctx, r.Kube, ref)
		}
	}
	present := map[types.UID]bool{}
	for i := range r.out.Pods {
		present[r.out.Pods[i].UID] = true
	}
	set, err := ask(ctx, r.ref(), present)
	if err != nil {
		r.missing(keptOfEnded, err)
	}
	if set == nil {
		set = keep.NewSet()
	}
	r.keptPods, r.keptEnds, r.keptAt = set.Pods(), set.Ends(), map[keep.Key]int{}
	for i, e := range r.keptEnds {
		r.keptAt[e.Key] = i
	}
	if n := set.Dropped(); n > 0 {
		r.missing(keptOfEnded, fmt.Errorf("%d earlier ends of containers found no room in it", n))
	}
}

// place is where in the job a pod stands: its role and index, or its name where the kind does
// not say.
func (r *reading) place(p *corev1.Pod) string {
	s := SourceOf(r.kind.Place, p, "")
	if s.Role != "" && s.Rank >= 0 {
		return fmt.Sprintf("%s\x00%d", s.Role, s.Rank)
	}
	return p.Name
}

func placeOf(s evidence.Source) string {
	if s.Role != "" && s.Rank >= 0 {
		return fmt.Sprintf("%s\x00%d", s.Role, s.Rank)
	}
	return s.Pod
}

// adoptPods puts the pods that are gone back into the case where they are the last word about
// their place: the job has ended or is between two attempts, and nothing has replaced them. In a
// job that runs or has succeeded they are history.
func (r *reading) adoptPods() {
	r.present, r.standing = map[types.UID]*corev1.Pod{}, map[string]*corev1.Pod{}
	for i := range r.out.Pods {
		p := &r.out.Pods[i]
		r.present[p.UID], r.standing[r.place(p)] = p, p
	}
	switch r.out.State.Phase {
	case kinds.Failed, kinds.Restarting, kinds.PhaseUnknown:
	default:
		r.out.Gone = r.history(nil)
		return
	}
	latest := map[string]*corev1.Pod{}
	for _, p := range r.keptPods {
		at := r.place(p)
		if r.present[p.UID] != nil || r.standing[at] != nil || !r.owned(p) {
			continue
		}
		if before := latest[at]; before == nil || endOf(before).Before(endOf(p)) {
			latest[at] = p
		}
	}
	for _, p := range r.keptPods { // in the order of names
		if latest[r.place(p)] == p {
			r.out.Pods = append(r.out.Pods, *p)
		}
	}
	r.out.Gone = r.history(latest)
	for i := range r.out.Pods {
		p := &r.out.Pods[i]
		r.standing[r.place(p)] = p
	}
}

// history are the kept pods that are gone and are not the last word about their place.
func (r *reading) history(latest map[string]*corev1.Pod) []corev1.Pod {
	var out []corev1.Pod
	for _, p := range r.keptPods {
		if r.present[p.UID] == nil && r.owned(p) && latest[r.place(p)] != p {
			out = append(out, *p)
		}
	}
	return out
}

// owned says that a pod that was kept was read from this job's namespace.
func (r *reading) owned(p *corev1.Pod) bool { return p.Namespace == r.object.GetNamespace() }

// endOf is the latest time that a pod's status names.
func endOf(p *corev1.Pod) time.Time {
	last := p.CreationTimestamp.Time
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil && t.FinishedAt.After(last) {
			last = t.FinishedAt.Time
		}
	}
	return last
}

// manyAttempts is from when on what was replaced is not taken for history: the job goes round.
const manyAttempts = 3

// keptLogs adds what was kept of logs that can't be read any more.
func (r *reading) keptLogs(read map[keep.Key]bool) {
	for _, e := range r.keptEnds {
		if read[e.Key] {
			continue
		}
		if e.Empty() {
			continue
		}
		log := keptLog(e)
		log.Source.Attempt, log.Past = r.attempt(e)
		r.out.Logs = append(r.out.Logs, log)
	}
}

// attempt says how many lives of the container came after this one, and whether it is over and
// done with: what took its place runs or has ended well.
func (r *reading) attempt(e keep.End) (n int, past bool) {
	p := r.standing[placeOf(e.Source)]
	done := r.out.State.Phase == kinds.Succeeded
	if p == nil {
		return e.Attempt, done
	}
	lives, well := int32(0), p.Status.Phase == corev1.PodSucceeded
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == e.Container {
			lives, well = c.RestartCount, well || c.State.Running != nil && c.Ready
		}
	}
	if p.UID == e.Pod {
		n = int(max(0, lives-e.Restart))
		return n, done || n > 0 && well && lives < manyAttempts
	}
	// Its lives come after this one; those of them that are kept are counted already.
	n = e.Attempt + 1 + int(lives)
	for _, other := range r.keptEnds {
		if other.Pod == p.UID && other.Container == e.Container {
			n--
		}
	}
	return n, done || well && n < manyAttempts
}

// keptText is what was kept of a log that the API server could not give.
func (r *reading) keptText(k keep.Key) (diagnose.Log, bool) {
	at, ok := r.keptAt[k]
	if !ok || r.keptEnds[at].Empty() {
		return diagnose.Log{}, false
	}
	return keptLog(r.keptEnds[at]), true
}

// keptLog is what was kept of a log, unpacked when it is read.
func keptLog(e keep.End) diagnose.Log {
	return diagnose.Log{Source: e.Source, Numbers: e.Lines, Skipped: e.Skipped, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(e.Text())), nil
	}}
}

// keptOfEnded is what is kept beside a job, in the words of an answer.
const keptOfEnded = "what was kept of ended containers"
