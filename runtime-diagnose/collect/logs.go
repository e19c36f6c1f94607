package collect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// oneLog is how long one log may take; a kubelet that does not answer must not stop the rest.
const oneLog = 20 * time.Second

// wanted is one log of one container.
type wanted struct {
	pod       *corev1.Pod
	container string
	previous  bool
	life      int32 // the container's restartCount while it ran
}

func (w wanted) log() LogRef { return LogRef{w.pod.Namespace, w.pod.Name, w.container, w.previous} }

func (w wanted) key() keep.Key {
	return keep.Key{Pod: w.pod.UID, Container: w.container, Restart: w.life}
}

// readLogs reads the logs of containers that ran: those of the first pods whole, the failed ones
// first, and of the others the end. Where the end of one names a failure, it is read whole as far
// as the bound of all allows.
func (r *reading) readLogs(ctx context.Context) {
	all := r.wantedLogs()
	each := r.limits.HeadBytes + r.limits.TailBytes
	whole := r.wholeLogs(all, each)
	texts, errs, suspect := make([]heldLog, len(all)), make([]error, len(all)), make([]bool, len(all))
	read := map[keep.Key]bool{}
	memory := newMemoryBudget(r.limits)
	r.fetch(ctx, len(all), func(one context.Context, i int) {
		if i < whole {
			texts[i], errs[i] = r.whole(one, all[i], memory)
			return
		}
		if _, kept := r.keptText(all[i].key()); !kept { // else it has been read already, and reduced
			var end []byte
			end, errs[i] = r.end(one, all[i])
			suspect[i] = r.Suspect != nil && r.Suspect(end)
			var again func() ([]byte, error)
			if errs[i] == nil { // else it would only fail once more, after as long
				again = func() ([]byte, error) {
					one, cancel := context.WithTimeout(ctx, oneLog)
					defer cancel()
					return r.end(one, all[i])
				}
			}
			texts[i] = memory.holdEnd(one, end, again)
		}
	})
	suspects := places(suspect, int(max(0, r.limits.TotalBytes/each))-whole)
	r.fetch(ctx, len(suspects), func(ctx context.Context, i int) {
		at := suspects[i]
		if text, err := r.whole(ctx, all[at], memory); err == nil {
			texts[at] = text
		}
	})
	ends := 0
	for i, w := range all {
		if texts[i].empty() && (errs[i] != nil || i >= whole) {
			if log, ok := r.keptText(w.key()); ok {
				log.Source = r.sourceOf(w)
				r.out.Logs, read[w.key()] = append(r.out.Logs, log), true
				continue
			}
		}
		if errs[i] != nil && texts[i].empty() {
			r.missing("log of "+sourced(w.pod, w.container), errs[i])
			continue
		}
		if i >= whole && !slices.Contains(suspects, i) && !texts[i].empty() {
			ends++
		}
		r.out.Logs, read[w.key()] = append(r.out.Logs, diagnose.Log{Source: r.sourceOf(w), Open: texts[i].open}), true
	}
	if ends > 0 {
		r.missing("logs", fmt.Errorf("of %d of %d only the last %d lines were read", ends, len(all), endLines))
	}
	r.keptLogs(read)
}

// wholeLogs is how many of the logs are read whole: of the first pods, and within the bound.
func (r *reading) wholeLogs(all []wanted, each int64) int {
	pods := map[types.UID]bool{}
	for i, w := range all {
		if pods[w.pod.UID] = true; len(pods) > r.limits.Pods || int64(i+1)*each > max(each, r.limits.TotalBytes) {
			return i
		}
	}
	return len(all)
}

// fetch runs n reads, a bounded number at a time: API servers do not count reads of logs among
// the requests they queue (k8s.io/apiserver v0.36, pkg/server/filters/priority-and-fairness.go:
// long-running requests that are no watches pass by), so no other caller slows us down.
func (r *reading) fetch(ctx context.Context, n int, read func(ctx context.Context, i int)) {
	var g errgroup.Group
	g.SetLimit(r.limits.Parallel)
	for i := range n {
		g.Go(func() error {
			one, cancel := context.WithTimeout(ctx, oneLog)
			defer cancel()
			read(one, i)
			return nil
		})
	}
	_ = g.Wait() // the reads keep their errors
}

// whole reads one log as far as the limits go, where it is not held already.
func (r *reading) whole(ctx context.Context, w wanted, memory *memoryBudget) (heldLog, error) {
	if r.Text != nil {
		if text := r.Text(r.ref(), w.key()); text != nil {
			return heldLog{plain: text}, nil
		}
	}
	done, err := memory.enter(ctx)
	if err != nil {
		return heldLog{}, err
	}
	defer done()
	text, err := ReadLog(ctx, r.Kube, w.log(), r.limits)
	return memory.hold(ctx, text), err
}

// The end of a log: enough for a traceback, and small enough for a thousand pods.
const (
	endLines = 120
	endBytes = 16 << 10
	endMost  = 1 << 20 // of the last few lines, of which one may be a bar that wrote over itself for hours
)

func (r *reading) end(ctx context.Context, w wanted) ([]byte, error) {
	get := getter(ctx, r.Kube, w.log())
	end, _, err := readTail(get, Limits{TailLines: endLines, TailBytes: endBytes}, endMost)
	return end, err
}

// Suspicious says that a text has a line that some signature takes for a cause or its effect.
func Suspicious(catalog *signature.Catalog) func([]byte) bool {
	return func(text []byte) bool {
		for line := range strings.Lines(string(text)) {
			if catalog == nil || !catalog.Suspects(line) {
				continue
			}
			for _, m := range catalog.Match(line, evidence.Log) {
				if r := m.Signature.Role; m.Signature.Category != signature.HealthyCategory && (r == signature.Root || r == signature.Cascade) {
					return true
				}
			}
		}
		return false
	}
}

// places are the first n of which it is true.
func places(of []bool, n int) []int {
	var out []int
	for i, is := range of {
		if is && len(out) < n {
			out = append(out, i)
		}
	}
	return out
}

func (r *reading) sourceOf(w wanted) evidence.Source {
	s := SourceOf(r.kind.Place, w.pod, w.container)
	if w.previous {
		s.Attempt = 1
	}
	return s
}

// SourceOf names a container's log: role and index as the kind places the pod.
func SourceOf(place func(*corev1.Pod) (string, int, bool), pod *corev1.Pod, container string) evidence.Source {
	s := evidence.Source{Pod: pod.Name, Container: container, Node: pod.Spec.NodeName, Rank: -1}
	if place != nil {
		if role, index, ok := place(pod); ok {
			s.Role, s.Rank = role, index
		}
	}
	return s
}

// wantedLogs are the logs worth reading: of failed pods in the order they ended, then of pods
// that restart or are not ready, then of the rest by name.
func (r *reading) wantedLogs() []wanted {
	pods := make([]*corev1.Pod, 0, len(r.out.Pods))
	for i := range r.out.Pods {
		if p := &r.out.Pods[i]; r.present[p.UID] != nil {
			pods = append(pods, p)
		}
	}
	sortByUrgency(pods)
	var out []wanted
	for _, p := range pods {
		out = append(out, logsOf(p)...)
	}
	return out
}

// urgentFirst are pods by urgency.
func urgentFirst(all []corev1.Pod) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(all))
	for i := range all {
		pods[i] = &all[i]
	}
	sortByUrgency(pods)
	return pods
}

func sortByUrgency(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		ra, ta := urgency(a)
		rb, tb := urgency(b)
		return cmp.Or(cmp.Compare(ra, rb), ta.Compare(tb), cmp.Compare(a.Name, b.Name))
	})
}

// urgency ranks a pod: 0 failed, 1 restarted or not ready, 2 well.
func urgency(p *corev1.Pod) (rank int, ended time.Time) {
	rank = 2
	for _, c := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		for _, t := range []*corev1.ContainerStateTerminated{c.LastTerminationState.Terminated, c.State.Terminated} {
			if t == nil || t.ExitCode == 0 {
				continue
			}
			rank = min(rank, 1)
			if t == c.State.Terminated {
				rank = 0
			}
			if ended.IsZero() || t.FinishedAt.Time.Before(ended) {
				ended = t.FinishedAt.Time
			}
		}
	}
	if p.Status.Phase == corev1.PodFailed {
		rank = 0
	}
	return rank, ended
}

// logsOf are the logs that a pod's containers can have. Init containers count only where they
// run or ended badly.
func logsOf(p *corev1.Pod) []wanted {
	var out []wanted
	add := func(statuses []corev1.ContainerStatus, init bool) {
		for _, c := range statuses {
			ended := c.State.Terminated
			if c.LastTerminationState.Terminated != nil {
				out = append(out, wanted{p, c.Name, true, c.RestartCount - 1})
			}
			if c.State.Running != nil || ended != nil && (!init || ended.ExitCode != 0) {
				out = append(out, wanted{p, c.Name, false, c.RestartCount})
			}
		}
	}
	add(p.Status.InitContainerStatuses, true)
	add(p.Status.ContainerStatuses, false)
	return out
}

// LogRef names the log of a container.
type LogRef struct {
	Namespace, Pod, Container string
	Previous                  bool // of its life before
}

// ReadLog reads the head and the tail of one log, each line with its time. Where they do not
// meet, a line says so. What was read before an error is returned beside it.
func ReadLog(ctx context.Context, kube kubernetes.Interface, of LogRef, limits Limits) ([]byte, error) {
	limits = limits.withDefaults()
	get := getter(ctx, kube, of)
	tail, whole, err := readTail(get, limits, longestTail) // most logs are no longer
	if err != nil || whole {
		return tail, err
	}
	head, err := readHead(get, limits.HeadBytes)
	if err != nil {
		return tail, err
	}
	return join(head, tail), nil
}

// getter asks for a part of a log.
func getter(ctx context.Context, kube kubernetes.Interface, of LogRef) func(corev1.PodLogOptions) (io.ReadCloser, error) {
	return func(options corev1.PodLogOptions) (io.ReadCloser, error) {
		options.Container, options.Previous, options.Timestamps = of.Container, of.Previous, true
		return kube.CoreV1().Pods(of.Namespace).GetLogs(of.Pod, &options).Stream(ctx)
	}
}

func readHead(get func(corev1.PodLogOptions) (io.ReadCloser, error), n int64) ([]byte, error) {
	in, err := get(corev1.PodLogOptions{LimitBytes: &n})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, n))
}

// longestTail is what is read of the last few lines of a log that is read whole.
const longestTail = 64 << 20

// readTail reads the last lines, and says whether that is all of the log. The API bounds lines and
// bytes, but counts bytes from the first of those lines: a tail of long lines would lose its end, so
// fewer lines are asked for until they end within the bound (k8s.io/api core/v1 PodLogOptions,
// v0.37). The last few are read to their end, unless they have more than so many bytes.
func readTail(get func(corev1.PodLogOptions) (io.ReadCloser, error), limits Limits, longest int64) (tail []byte, whole bool, err error) {
	const few = 5
	most := 8 * limits.TailBytes
	for lines := limits.TailLines; ; lines = max(few, lines/10) {
		options, bound := corev1.PodLogOptions{TailLines: &lines, LimitBytes: &most}, most
		if lines == few {
			options.LimitBytes, bound = nil, longest
		}
		in, err := get(options)
		if err != nil {
			return nil, false, err
		}
		end, err := lastBytes(io.LimitReader(in, bound), limits.TailBytes)
		if cerr := in.Close(); err == nil {
			err = cerr
		}
		switch {
		case err != nil:
			return end.text, false, err
		case end.read < bound:
			return end.text, end.lines < lines && !end.cut, nil
		case lines == few:
			return nil, false, fmt.Errorf("the last %d lines have more than %d bytes", few, longest)
		}
	}
}

// ending is the end of something that was read.
type ending struct {
	text  []byte
	read  int64 // bytes
	lines int64 // that end among them
	cut   bool  // there was more than text
}

// lastBytes reads all and keeps the last n bytes. What was read before an error is returned too.
func lastBytes(in io.Reader, n int64) (ending, error) {
	var e ending
	most := n + max(n/4, 4<<10)
	buf := make([]byte, 0, min(most, 32<<10))
	var err error
	for err == nil {
		if len(buf) == cap(buf) {
			if int64(len(buf)) >= most {
				buf, e.cut = buf[:copy(buf, buf[int64(len(buf))-n:])], true
			} else {
				buf = slices.Grow(buf, int(min(int64(len(buf)), most-int64(len(buf))))) // a quarter more than is kept, and a bit
			}
		}
		var k int
		k, err = in.Read(buf[len(buf):cap(buf)])
		e.read += int64(k)
		e.lines += int64(bytes.Count(buf[len(buf):len(buf)+k], []byte("\n")))
		buf = buf[:len(buf)+k]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if int64(len(buf)) > n {
		buf, e.cut = buf[int64(len(buf))-n:], true
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			buf = buf[i+1:] // half a line is no evidence
		}
	}
	e.text = buf
	return e, err
}

// gap stands where lines between head and tail were not read.
const gap = "[signalbox: lines in between were not read]\n"

// gapBefore stands where lines before were not kept.
const gapBefore = "[signalbox: lines before were not kept]\n"

// join puts head and tail together. Times make lines unique, so the tail's first line tells
// where in the head the tail begins.
func join(head, tail []byte) []byte {
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	} else {
		head = append(bytes.Clone(head), '\n')
	}
	first, _, _ := bytes.Cut(tail, []byte("\n"))
	if i := bytes.LastIndex(head, append(bytes.Clone(first), '\n')); len(first) > 0 && i >= 0 && (i == 0 || head[i-1] == '\n') && bytes.HasPrefix(tail, head[i:]) {
		return slices.Concat(head[:i], tail)
	}
	return slices.Concat(head, []byte(gap), tail)
}
