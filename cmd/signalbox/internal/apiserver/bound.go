package apiserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/config/bounded"
)

const (
	// mostAnswer is how many bytes one answer may have: a page has five hundred objects of at most 1.5 MiB, and half a megabyte is
	// much for one.
	mostAnswer = 512 << 20
	// mostHeld is how many bytes the objects may take that were read when a list goes on: half a million pods take less.
	mostHeld = 4 << 30
	// mostPages is how many pages a list may have, those included of what it had to begin anew: five million objects. Pages may be
	// empty, so that what is held does not grow.
	mostPages = 10_000
	// answersWithin is how long an answer may take to begin: the API server gives up after a minute by itself (kube-apiserver,
	// --request-timeout). endsWithin is how long it may take to its end, over a slow line.
	answersWithin = 90 * time.Second
	endsWithin    = 10 * time.Minute
	// mostOwners bounds the way from a pod to its job: pod, Job, JobSet, TrainJob.
	mostOwners = 8
)

// boundedTransport keeps a server that sends without end from taking the memory of whoever asks. What is read by a stream, a log or a
// watch, is bounded where it is read.
type boundedTransport struct {
	next   http.RoundTripper
	answer int64
	held   uint64
	now    func() uint64 // what objects take
	begins time.Duration
	pages  *pages
	silent *atomic.Bool // it did not begin the last answer in time
}

func newBoundedTransport(next http.RoundTripper) http.RoundTripper {
	return boundedTransport{next, mostAnswer, mostHeld, heldNow, answersWithin, &pages{most: mostPages}, &atomic.Bool{}}
}

// pages counts those of the lists that are being read.
type pages struct {
	mu   sync.Mutex
	most int
	of   map[string]int  // by what is listed
	anew map[string]bool // lists that begin anew, because the server does not remember where they were
}

// next counts a page; false: there have been too many.
func (p *pages) next(list string, goesOn bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case goesOn && p.of == nil:
		p.of, p.anew = map[string]int{list: 1}, map[string]bool{}
	case goesOn:
		p.of[list]++
	case !p.anew[list]:
		delete(p.of, list)
	}
	delete(p.anew, list)
	return p.of[list] <= p.most
}

// expired notes that a list begins anew.
func (p *pages) expired(list string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.anew[list] = true
}

// listOf is what a request lists, whichever page of it.
func listOf(r *http.Request) (list string, goesOn bool) {
	asks := r.URL.Query()
	goesOn = asks.Get("continue") != ""
	asks.Del("continue")
	return r.URL.Path + "?" + asks.Encode(), goesOn
}

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	asks := r.URL.Query()
	if asks.Get("continue") != "" && t.now() > t.held {
		if runtime.GC(); t.now() > t.held { // not only garbage
			return nil, fmt.Errorf("the cluster has sent more than %d MiB of objects, and says that there are more: ask for one namespace, or for a kind", t.held>>20)
		}
	}
	list, goesOn := listOf(r)
	if !t.pages.next(list, goesOn) {
		return nil, fmt.Errorf("the cluster has sent more than %d pages of %s, and says that there are more", t.pages.most, r.URL.Path)
	}
	if asks.Has("watch") || strings.HasSuffix(r.URL.Path, "/log") {
		return t.next.RoundTrip(r)
	}
	ctx, stop := context.WithTimeout(r.Context(), endsWithin)
	begins := t.begins
	if t.silent.Load() { // a command may have dozens of questions
		begins = min(begins, AnswersWithin)
	}
	late := time.AfterFunc(begins, stop)
	resp, err := t.next.RoundTrip(r.WithContext(ctx))
	switch inTime := late.Stop(); {
	case err != nil && !inTime && r.Context().Err() == nil:
		t.silent.Store(true)
		return nil, fmt.Errorf("no answer to %s in %s: %w", r.URL.Path, begins, context.DeadlineExceeded)
	case err != nil:
		stop()
		return nil, err
	}
	t.silent.Store(false)
	if goesOn && resp.StatusCode == http.StatusGone {
		t.pages.expired(list)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		boundRefusal(resp, r.URL.Path)
	}
	resp.Body = ending{bounded.Body(resp.Body, t.answer, "the answer to "+r.URL.Path), stop}
	return resp, nil
}

// mostRefusal is how many bytes an answer that refuses may have: a policy that denies says some kilobytes, and all of it is shown.
const mostRefusal = 64 << 10

// boundRefusal keeps of a refusal that is longer only that it is one.
func boundRefusal(resp *http.Response, path string) {
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostRefusal+1))
	if err == nil && len(text) > mostRefusal {
		status := metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(resp.StatusCode),
			Reason: metav1.StatusReasonUnknown, Message: fmt.Sprintf("status %d of %s, in more than %d KiB", resp.StatusCode, path, mostRefusal>>10),
		}
		if text, err = json.Marshal(status); err == nil {
			resp.Header = resp.Header.Clone()
			resp.Header.Set("Content-Type", "application/json")
			resp.ContentLength = int64(len(text))
		}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), failing{err}), resp.Body}
}

// failing is the end of a body, and the error by which it ended; nil: none.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, cmp.Or(f.err, io.EOF) }

// ending is a body whose context ends with it.
type ending struct {
	io.ReadCloser
	stop context.CancelFunc
}

// Close implements io.Closer.
func (e ending) Close() error {
	defer e.stop()
	return e.ReadCloser.Close()
}

// heldNow is what objects take, those included that the next collection frees.
func heldNow() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
