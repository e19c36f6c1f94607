package webhook

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/preflight"
)

// A kind whose jobs the API server cannot list, because its conversion webhook is away, holds up no other kind. Its own jobs
// are looked at once they can be listed, from where they were left: by this process, or by the next one.
func TestAKindThatCannotBeListedHoldsUpNoSweep(t *testing.T) {
	for name, restarted := range map[string]bool{"one process": false, "two processes": true} {
		t.Run(name, func(t *testing.T) {
			s := newSwept(t, preflight.ModeEnforce, stored("missed", time.Hour))
			var listed atomic.Bool
			refuse := func(clienttesting.Action) (bool, runtime.Object, error) {
				return !listed.Load(), nil, errors.New("conversion webhook failed")
			}
			s.jobs.PrependReactor("list", "mpijobs", refuse)
			s.jobs.PrependWatchReactor("mpijobs", func(clienttesting.Action) (bool, watch.Interface, error) {
				return !listed.Load(), nil, errors.New("conversion webhook failed")
			})
			other := stored("of-the-broken-kind", time.Minute, func(u *unstructured.Unstructured) { u.SetKind("MPIJob") })
			if err := s.jobs.Tracker().Create(mpi, other, "ml"); err != nil {
				t.Fatal(err)
			}
			s.api.Resources[0].APIResources = append(s.api.Resources[0].APIResources, metav1.APIResource{Name: "mpijobs"})
			s.seen.discover(t.Context())
			s.wait(40)
			if got := s.told(); got != "" {
				t.Fatalf("the kind was not waited for:\n%s", got)
			}
			s.seen.mu.Lock()
			s.seen.awaited = 0
			s.seen.mu.Unlock()
			s.wait(40)
			if got := s.told(); !strings.HasPrefix(got, "missed: "+lateHead) {
				t.Errorf("of the job of the other kind is told:\n%s", got)
			}
			if restarted {
				s.again(preflight.ModeEnforce)
				s.wait(40)
			}
			listed.Store(true)
			s.until("the kind is listed", s.seen.Synced)
			s.wait(40)
			if got := s.told(); !strings.Contains(got, "of-the-broken-kind: "+lateHead) {
				t.Errorf("of the job that could not be listed is told:\n%s", got)
			}
			_, until, err := s.known.others(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if !until.until.Equal(installedAt.Add(time.Hour)) || len(until.behind) > 0 {
				t.Errorf("jobs are dealt with up to %v; want those of all kinds up to %s", until, installedAt.Add(time.Hour))
			}
		})
	}
}
