package apiserver

import (
	"fmt"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"

	"github.com/signalbox-dev/signalbox/config/bounded"
)

const (
	// mostAnswer is how many bytes one answer may have: a page has five hundred objects of at most 1.5 MiB, and half a megabyte is
	// much for one.
	mostAnswer = 512 << 20
	// mostHeld is how many bytes the objects may take that were read when a list goes on: half a million pods take less.
	mostHeld = 4 << 30
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
}

func newBoundedTransport(next http.RoundTripper) http.RoundTripper {
	return boundedTransport{next, mostAnswer, mostHeld, heldNow}
}

// RoundTrip implements http.RoundTripper.
func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	asks := r.URL.Query()
	if asks.Get("continue") != "" && t.now() > t.held {
		if runtime.GC(); t.now() > t.held { // not only garbage
			return nil, fmt.Errorf("the cluster has sent more than %d MiB of objects, and says that there are more: ask for one namespace, or for a kind", t.held>>20)
		}
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil || asks.Has("watch") || strings.HasSuffix(r.URL.Path, "/log") {
		return resp, err
	}
	resp.Body = bounded.Body(resp.Body, t.answer, "the answer to "+r.URL.Path)
	return resp, nil
}

// heldNow is what objects take, those included that the next collection frees.
func heldNow() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
