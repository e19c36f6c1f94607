package collect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// oneLog is how long one log may take; a kubelet that does not answer must not stop the rest.
const oneLog = 20 * time.Second

// wanted is one log of one container.
type wanted struct {
	pod       *corev1.Pod
	container string
	previous  bool
}

// readLogs reads the logs of containers that ran, those of failed pods first.
func (r *reading) readLogs(ctx context.Context) {
	all := r.wantedLogs()
	each := r.limits.HeadBytes + r.limits.TailBytes
	most := int(max(1, r.limits.TotalBytes/each))
	if len(all) > most {
		r.missing("logs", fmt.Errorf("%d of %d were not read: %d bytes each reach the bound of %d", len(all)-most, len(all), each, r.limits.TotalBytes))
		all = all[:most]
	}
	texts, errs := make([][]byte, len(all)), make([]error, len(all))
	var g errgroup.Group
	g.SetLimit(r.limits.Parallel)
	for i, w := range all {
		g.Go(func() error {
			one, cancel := context.WithTimeout(ctx, oneLog)
			defer cancel()
			texts[i], errs[i] = ReadLog(one, r.Kube, w.pod.Namespace, w.pod.Name, w.container, w.previous, r.limits)
			return nil
		})
	}
	_ = g.Wait() // errors are in errs
	for i, w := range all {
		if errs[i] != nil && len(texts[i]) == 0 {
			r.missing("log of "+sourced(w.pod, w.container), errs[i])
			continue
		}
		r.out.Logs = append(r.out.Logs, Log(r.sourceOf(w), texts[i]))
	}
	if r.Kept == nil {
		return
	}
	present := map[types.UID]bool{}
	for i := range r.out.Pods {
		present[r.out.Pods[i].UID] = true
	}
	r.out.Logs = append(r.out.Logs, r.Kept(r.owners.uids(), present)...)
}

// Log is a log in memory.
func Log(source evidence.Source, text []byte) diagnose.Log {
	return diagnose.Log{Source: source, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	}}
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
		pods = append(pods, &r.out.Pods[i])
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		ra, ta := urgency(a)
		rb, tb := urgency(b)
		return cmp.Or(cmp.Compare(ra, rb), ta.Compare(tb), cmp.Compare(a.Name, b.Name))
	})
	var out []wanted
	silent := 0
	for i, p := range pods {
		logs := logsOf(p)
		if i >= r.limits.Pods {
			silent += min(1, len(logs))
			continue
		}
		out = append(out, logs...)
	}
	if silent > 0 {
		r.missing("logs", fmt.Errorf("those of %d pods were not read: the bound is %d pods", silent, r.limits.Pods))
	}
	return out
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
				out = append(out, wanted{p, c.Name, true})
			}
			if c.State.Running != nil || ended != nil && (!init || ended.ExitCode != 0) {
				out = append(out, wanted{p, c.Name, false})
			}
		}
	}
	add(p.Status.InitContainerStatuses, true)
	add(p.Status.ContainerStatuses, false)
	return out
}

// ReadLog reads the head and the tail of one log, each line with its time. Where they do not
// meet, a line says so. What was read before an error is returned beside it.
func ReadLog(ctx context.Context, kube kubernetes.Interface, namespace, pod, container string, previous bool, limits Limits) ([]byte, error) {
	limits = limits.withDefaults()
	get := func(options corev1.PodLogOptions) (io.ReadCloser, error) {
		options.Container, options.Previous, options.Timestamps = container, previous, true
		return kube.CoreV1().Pods(namespace).GetLogs(pod, &options).Stream(ctx)
	}
	head, err := readHead(get, limits.HeadBytes)
	if err != nil || int64(len(head)) < limits.HeadBytes {
		return head, err
	}
	tail, err := readTail(get, limits.TailBytes)
	if err != nil {
		return head, err
	}
	return join(head, tail), nil
}

func readHead(get func(corev1.PodLogOptions) (io.ReadCloser, error), n int64) ([]byte, error) {
	in, err := get(corev1.PodLogOptions{LimitBytes: &n})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, n))
}

// readTail reads the last lines. The API bounds lines and bytes, but counts bytes from the
// first of those lines: a tail of long lines would lose its end, so fewer lines are asked for
// until they end within the bound (k8s.io/api core/v1 PodLogOptions, v0.37). The last few are
// read to their end, whatever their length.
func readTail(get func(corev1.PodLogOptions) (io.ReadCloser, error), n int64) ([]byte, error) {
	const few, longest = 5, 64 << 20
	most := 8 * n
	for _, lines := range []int64{5000, 500, 50, few} {
		options, bound := corev1.PodLogOptions{TailLines: &lines, LimitBytes: &most}, most
		if lines == few {
			options.LimitBytes, bound = nil, longest
		}
		in, err := get(options)
		if err != nil {
			return nil, err
		}
		tail, read, err := lastBytes(io.LimitReader(in, bound), n)
		if cerr := in.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return nil, err
		}
		if read < bound {
			return tail, nil
		}
	}
	return nil, fmt.Errorf("the last %d lines have more than %d bytes", few, longest)
}

// lastBytes reads all and keeps the last n bytes.
func lastBytes(in io.Reader, n int64) (tail []byte, read int64, err error) {
	buf := make([]byte, 0, 2*n)
	chunk := make([]byte, 32<<10)
	for {
		k, err := in.Read(chunk)
		read += int64(k)
		if int64(len(buf)+k) > 2*n {
			buf = append(buf[:0], buf[int64(len(buf))-min(n, int64(len(buf))):]...)
		}
		buf = append(buf, chunk[:k]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, read, err
		}
	}
	if int64(len(buf)) > n {
		buf = buf[int64(len(buf))-n:]
		if i := bytes.IndexByte(buf, '\n'); i >= 0 {
			buf = buf[i+1:] // half a line is no evidence
		}
	}
	return buf, read, nil
}

// gap stands where lines between head and tail were not read.
const gap = "[signalbox: lines in between were not read]\n"

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
