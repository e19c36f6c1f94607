// Package capture keeps the logs of containers that ended, in memory and within a bound, because
// operators replace pods within seconds of a failure and the API server then has nothing to show.
// What is kept is lost with the process: the Event and the annotation made from it are not.
//
// Start reading at Store and Watch.
package capture

import (
	"container/list"
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Store keeps the most recently ended logs within a number of bytes. It is safe for concurrent
// use; a Store of 0 bytes keeps nothing.
type Store struct {
	most int64

	mu      sync.Mutex
	used    int64
	order   *list.List // of *kept, newest first
	entries map[id]*list.Element
}

// id is one end of one container.
type id struct {
	pod       types.UID
	container string
	restarts  int32
}

type kept struct {
	id     id
	owner  types.UID
	source evidence.Source
	text   []byte
}

// New is an empty store.
func New(most int64) *Store {
	return &Store{most: most, order: list.New(), entries: map[id]*list.Element{}}
}

// Logs are the kept logs of pods that one of the owners controls, oldest first, without pods
// that are still present: their logs are read from the API server.
func (s *Store) Logs(owners, present map[types.UID]bool) []diagnose.Log {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []diagnose.Log
	for e := s.order.Back(); e != nil; e = e.Prev() {
		if k, ok := e.Value.(*kept); ok && owners[k.owner] && !present[k.id.pod] && len(k.text) > 0 {
			out = append(out, collect.Log(k.source, k.text))
		}
	}
	return out
}

// claim reserves an entry; false: somebody has it already, or there is no room at all.
func (s *Store) claim(i id, owner types.UID, source evidence.Source) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most <= 0 || s.entries[i] != nil {
		return false
	}
	s.entries[i] = s.order.PushFront(&kept{id: i, owner: owner, source: source})
	return true
}

// fill puts the text into a claimed entry and drops the oldest ones beyond the bound.
func (s *Store) fill(i id, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[i]
	if e == nil {
		return
	}
	if k, ok := e.Value.(*kept); ok {
		k.text = text
		s.used += int64(len(text)) + overhead
	}
	for s.used > s.most && s.order.Len() > 0 {
		s.drop(s.order.Back())
	}
}

// overhead counts what an entry takes beside its text, so that empty logs are bounded too.
const overhead = 512

func (s *Store) drop(e *list.Element) {
	if k, ok := s.order.Remove(e).(*kept); ok {
		delete(s.entries, k.id)
		if k.text != nil {
			s.used -= int64(len(k.text)) + overhead
		}
	}
}

// parallel bounds the reads of logs; oneLog the time of each.
const (
	parallel = 4
	oneLog   = 10 * time.Second
)

// Watch gives a function that looks at a pod and, where a container of it has ended badly, reads
// its log in the background and keeps it. Pods that ended well are left alone.
func Watch(s *Store, kube kubernetes.Interface, limits collect.Limits) func(owner metav1.OwnerReference, p *corev1.Pod) {
	turns := make(chan struct{}, parallel)
	return func(owner metav1.OwnerReference, p *corev1.Pod) {
		for _, c := range append(append([]corev1.ContainerStatus(nil), p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
			ended, previous := c.State.Terminated, false
			if ended == nil {
				ended, previous = c.LastTerminationState.Terminated, true
			}
			if ended == nil || ended.ExitCode == 0 {
				continue
			}
			i := id{p.UID, c.Name, c.RestartCount}
			source := collect.SourceOf(nil, p, c.Name)
			source.Attempt = 1 // whatever runs now is another container
			if !s.claim(i, owner.UID, source) {
				continue
			}
			namespace, pod, container := p.Namespace, p.Name, c.Name
			go func() {
				turns <- struct{}{}
				defer func() { <-turns }()
				ctx, cancel := context.WithTimeout(context.Background(), oneLog)
				defer cancel()
				text, _ := collect.ReadLog(ctx, kube, namespace, pod, container, previous, limits) // what is gone is gone
				s.fill(i, append([]byte{}, text...))
			}()
		}
	}
}
