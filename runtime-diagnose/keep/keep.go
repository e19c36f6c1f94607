// Package keep is what is kept of a job's containers after they ended: an excerpt of each log
// and how each pod ended, masked, compressed, and within a number of bytes. Operators delete pods
// within seconds of a failure (cleanPodPolicy, TTL, retries), and with them all that could tell
// why; what is kept here lies in a ConfigMap that the job owns, and goes with it.
//
// Values only: package capture fills and stores them, package collect reads them. The stored form
// is a bundle, so that `signalbox diagnose --bundle` opens it. Start reading at Set.
package keep

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// Names of the object that holds what is kept of one job.
const (
	Prefix  = "signalbox-evidence-"    // + UID of the job
	Label   = "signalbox.dev/evidence" // "true"
	About   = "signalbox.dev/job"      // annotation: KIND/NAME, for people
	Summary = "signalbox.dev/kept"     // annotation: what is in it, for people
	DataKey = "evidence.tgz"           // of binaryData
)

// Name is the name of the ConfigMap of a job.
func Name(job types.UID) string { return Prefix + string(job) }

// Key is one end of one container.
type Key struct {
	Pod       types.UID
	Container string
	Restart   int32 // its restartCount while it ran
}

// Record says which log an excerpt is of.
type Record struct {
	Key
	Source evidence.Source // pod, container, role, rank, node
	Ended  time.Time       // zero: the pod was being deleted while it ran
	Code   int32           // exit code
}

// Set is what is kept of one job. It is not safe for concurrent use.
type Set struct {
	pods    map[types.UID]*corev1.Pod
	records map[Key]*record
	dropped int   // records of which nothing is left
	gone    []Key // those of them that this very set has dropped
}

type record struct {
	Record
	level int
	read  int
	bytes int64
	spans [][2]int
	hits  []Hit
	text  packed
}

// NewSet is empty.
func NewSet() *Set { return &Set{pods: map[types.UID]*corev1.Pod{}, records: map[Key]*record{}} }

// Has says whether an end is kept.
func (s *Set) Has(k Key) bool { return s.records[k] != nil }

// Len is how many ends are kept.
func (s *Set) Len() int { return len(s.records) }

// AddPod keeps how a pod is now, in place of what was kept of it before, and says whether that
// is anything new.
func (s *Set) AddPod(p *corev1.Pod) bool {
	trimmed := trim(p)
	if before := s.pods[p.UID]; before != nil && sameEnd(before, trimmed) {
		return false
	}
	s.pods[p.UID] = trimmed
	return true
}

// Add keeps the log of one end. A log that is kept already stays.
func (s *Set) Add(r Record, e Excerpt) { s.AddPacked(Pack(r, e)) }

// Packed is one end with its excerpt, ready for a set.
type Packed struct{ one *record }

// Pack compresses an excerpt, which takes longer than the rest of Add together.
func Pack(r Record, e Excerpt) Packed {
	one := &record{Record: r}
	one.put(e)
	return Packed{one}
}

// AddPacked is Add of what is packed already.
func (s *Set) AddPacked(p Packed) {
	if !s.Has(p.one.Key) {
		s.records[p.one.Key] = p.one
	}
}

// Settle takes over what another set, cloned from this one, has folded or dropped since.
func (s *Set) Settle(clone *Set) {
	for key, folded := range clone.records {
		if r := s.records[key]; r != nil && r.level < folded.level {
			s.records[key] = folded
		}
	}
	for _, key := range clone.gone {
		delete(s.records, key)
	}
	s.dropped += len(clone.gone)
	clone.gone = nil
}

func (r *record) put(e Excerpt) {
	r.read, r.bytes, r.hits, r.spans = e.Read, e.Bytes, e.Hits, e.spans()
	r.text = pack(e.text())
}

// Merge adds what another set holds and this one does not.
func (s *Set) Merge(other *Set) {
	for uid, p := range other.pods {
		if s.pods[uid] == nil {
			s.pods[uid] = p
		}
	}
	for key, r := range other.records {
		if s.records[key] == nil {
			s.records[key] = r
		}
	}
	s.dropped += other.dropped
}

// Clone is a set of its own; the texts are shared, because nothing changes them.
func (s *Set) Clone() *Set {
	out := &Set{pods: maps.Clone(s.pods), records: make(map[Key]*record, len(s.records)), dropped: s.dropped}
	for key, r := range s.records {
		one := *r
		out.records[key] = &one
	}
	return out
}

// String is what people read on the object.
func (s *Set) String() string {
	whole := 0
	for _, r := range s.records {
		if r.level == 0 && r.text.bytes > 0 {
			whole++
		}
	}
	return fmt.Sprintf("%d ended containers, %d of them unabridged; %d left out", len(s.records), whole, s.dropped)
}

// Bytes is about how much memory the set takes.
func (s *Set) Bytes() int64 {
	n := int64(len(s.pods)) * podBytes
	for _, r := range s.records {
		n += int64(len(r.text.data)) + recordBytes
	}
	return n
}

// What an entry takes beside its text, roughly: so that entries without text are bounded too.
const (
	podBytes    = 4 << 10
	recordBytes = 512
)

// End is one end of one container, for reading.
type End struct {
	Record
	// Attempt counts the later ends of the same container of the same place in the job:
	// 0 is the last one that is kept.
	Attempt int
	Lines   []int // numbers of the lines of the text
	Skipped int64 // bytes of the log that are not in the text
	record  *record
}

// Empty says that nothing is kept of the log.
func (e End) Empty() bool { return e.record.text.bytes == 0 }

// Text unpacks what is kept of the log; empty: nothing.
func (e End) Text() []byte { return e.record.text.unpack() }

// Ends lists what is kept, by place in the job and then the latest first.
func (s *Set) Ends() []End {
	var out []End
	for _, r := range s.sorted() {
		e := End{Record: r.Record, Lines: numbers(r.spans), Skipped: max(0, r.bytes-int64(r.text.bytes)), record: r}
		if n := len(out); n > 0 && out[n-1].slot() == e.slot() {
			e.Attempt = out[n-1].Attempt + 1
		}
		out = append(out, e)
	}
	return out
}

// slot is a container's place in the job: replaced pods have the same role and index, and with
// most operators another name.
type slot struct {
	role      string
	rank      int
	pod       string
	container string
}

func (r Record) slot() slot {
	if r.Source.Rank < 0 || r.Source.Role == "" {
		return slot{rank: -1, pod: r.Source.Pod, container: r.Container}
	}
	return slot{role: r.Source.Role, rank: r.Source.Rank, container: r.Container}
}

// sorted are the records by slot, the latest end first.
func (s *Set) sorted() []*record {
	return slices.SortedFunc(maps.Values(s.records), func(a, b *record) int {
		x, y := a.slot(), b.slot()
		return cmp.Or(
			cmp.Compare(x.role, y.role), cmp.Compare(x.rank, y.rank), cmp.Compare(x.pod, y.pod), cmp.Compare(x.container, y.container),
			later(a, b), cmp.Compare(a.Pod, b.Pod), -cmp.Compare(a.Restart, b.Restart),
		)
	})
}

// later puts the later end first; one that has no time yet is the latest.
func later(a, b *record) int {
	switch {
	case a.Ended.IsZero() && b.Ended.IsZero():
		return 0
	case a.Ended.IsZero():
		return -1
	case b.Ended.IsZero():
		return 1
	}
	return b.Ended.Compare(a.Ended)
}

// Pods are the pods as they were seen last, by name and UID.
func (s *Set) Pods() []*corev1.Pod {
	return slices.SortedFunc(maps.Values(s.pods), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}

// Dropped is how many ends were kept once and are not any more, for want of room.
func (s *Set) Dropped() int { return s.dropped }

// Spans are numbers of lines as pairs of the first and how many follow each other; nil: none.
func Spans(lines []int) [][2]int {
	var out [][2]int
	for _, number := range lines {
		if n := len(out); n > 0 && out[n-1][0]+out[n-1][1] == number {
			out[n-1][1]++
			continue
		}
		out = append(out, [2]int{number, 1})
	}
	return out
}

// Numbers are the numbers of the lines of a text that has so many; nil where there are no spans. Two lines may have one number: a
// line that carriage returns wrote over was once stored so. The error says how the two disagree.
func Numbers(spans [][2]int, have int) ([]int, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	lines, last := 0, 0
	for _, span := range spans {
		if span[0] < max(last, 1) || span[0] > mostLines || span[1] < 1 || span[1] > mostLines {
			return nil, fmt.Errorf("%d lines from %d on follow line %d", span[1], span[0], last)
		}
		lines, last = lines+span[1], span[0]+span[1]-1
		if lines > mostLines {
			return nil, fmt.Errorf("it has more than %d lines", mostLines)
		}
	}
	if have != lines {
		return nil, fmt.Errorf("it has %d lines; its numbers are of %d", have, lines)
	}
	return numbers(spans), nil
}

// lines counts those of a text.
func lines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// mostLines bounds line numbers, so that adding to one cannot overflow.
const mostLines = 1 << 30

// numbers are spans, one by one.
func numbers(spans [][2]int) []int {
	var out []int
	for _, s := range spans {
		for i := range s[1] {
			out = append(out, s[0]+i)
		}
	}
	return out
}

// trim keeps which pod it is, whose, where and how it ended; texts are masked.
func trim(p *corev1.Pod) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, Labels: p.Labels, OwnerReferences: p.OwnerReferences,
			CreationTimestamp: p.CreationTimestamp, DeletionTimestamp: p.DeletionTimestamp, DeletionGracePeriodSeconds: p.DeletionGracePeriodSeconds,
		},
		Spec: corev1.PodSpec{NodeName: p.Spec.NodeName},
		Status: corev1.PodStatus{
			Phase: p.Status.Phase, Reason: p.Status.Reason, Message: reduce.Mask(p.Status.Message), StartTime: p.Status.StartTime,
		},
	}
	for _, c := range p.Spec.Containers {
		if memory, ok := c.Resources.Limits[corev1.ResourceMemory]; ok {
			out.Spec.Containers = append(out.Spec.Containers, corev1.Container{Name: c.Name, Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceMemory: memory},
			}})
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Status == corev1.ConditionFalse || c.Type == corev1.DisruptionTarget {
			c.Message = reduce.Mask(c.Message)
			out.Status.Conditions = append(out.Status.Conditions, c)
		}
	}
	out.Status.InitContainerStatuses = trimStatuses(p.Status.InitContainerStatuses)
	out.Status.ContainerStatuses = trimStatuses(p.Status.ContainerStatuses)
	return out
}

func trimStatuses(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range all {
		out = append(out, corev1.ContainerStatus{
			Name: c.Name, State: trimState(c.State), LastTerminationState: trimState(c.LastTerminationState),
			RestartCount: c.RestartCount, AllocatedResourcesStatus: c.AllocatedResourcesStatus,
		})
	}
	return out
}

func trimState(s corev1.ContainerState) corev1.ContainerState {
	if s.Waiting != nil {
		w := *s.Waiting
		w.Message = reduce.Mask(w.Message)
		s.Waiting = &w
	}
	if s.Terminated != nil {
		t := *s.Terminated
		t.Message, t.ContainerID = reduce.Mask(t.Message), ""
		s.Terminated = &t
	}
	return s
}

// sameEnd says that two views of a pod tell the same about how it ended.
func sameEnd(a, b *corev1.Pod) bool {
	x, errA := a.Status.Marshal()
	y, errB := b.Status.Marshal()
	return errA == nil && errB == nil && bytes.Equal(x, y) && a.DeletionTimestamp.Equal(b.DeletionTimestamp)
}
