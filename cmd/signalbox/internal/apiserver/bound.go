package apiserver

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strings"
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

// bounded keeps a server that sends without end from taking the memory of whoever asks. What is read by a stream, a log or a
// watch, is bounded where it is read.
type bounded struct {
	next   http.RoundTripper
	answer int64
	held   uint64
	now    func() uint64 // what objects take
}

func newBounded(next http.RoundTripper) http.RoundTripper {
	return bounded{next, mostAnswer, mostHeld, heldNow}
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	asks := r.URL.Query()
	if asks.Get("continue") != "" && b.now() > b.held {
		if runtime.GC(); b.now() > b.held { // not only garbage
			return nil, fmt.Errorf("the cluster has sent more than %d MiB of objects, and says that there are more: ask for one namespace, or for a kind", b.held>>20)
		}
	}
	resp, err := b.next.RoundTrip(r)
	if err != nil || asks.Has("watch") || strings.HasSuffix(r.URL.Path, "/log") {
		return resp, err
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: b.answer, most: b.answer, path: r.URL.Path}
	return resp, nil
}

// heldNow is what objects take, those included that the next collection frees.
func heldNow() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

type boundedBody struct {
	io.ReadCloser

	left, most int64
	path       string
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("the answer to %s has more than %d MiB", b.path, b.most>>20)
	}
	if int64(len(p)) > b.left+1 { // one more, to see that there is one
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
