package webhook

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// endless is a body that holds no memory but its beginning, and counts what was read of it.
type endless struct {
	head string
	left int64
	read *atomic.Int64
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(b)), e.left)
	e.head = e.head[copy(b[:n], e.head):]
	e.left -= n
	e.read.Add(n)
	return int(n), nil
}

func (e *endless) Close() error { return nil }

// posted is how many requests were made, each of another user.
var posted atomic.Int64

func post(ctx context.Context, size int64, read *atomic.Int64) *http.Request {
	r := httptest.NewRequest(http.MethodPost, Path, nil).WithContext(ctx)
	r.Body, r.ContentLength = &endless{fmt.Sprintf(`{"request":{"userInfo":{"username":"user-%d"`, posted.Add(1)), size, read}, size
	return r
}

// 500 bodies of 7 MB at the same time: no more of them is read than there is room for, whoever sends
// them, and small ones pass.
func TestBodiesInFlightAreBounded(t *testing.T) {
	const callers, size = 500, 7 << 20
	var inside atomic.Int32
	full, release := make(chan struct{}), make(chan struct{})
	h := bounded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.ContentLength == size && len(body) != size {
			t.Errorf("read %d bytes: %v", len(body), err)
		}
		if r.ContentLength != size {
			return
		}
		if inside.Add(1) == mostInFlight/size {
			close(full)
		}
		<-release
		runtime.KeepAlive(body)
	}))
	runtime.GC()
	var before, at runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var read atomic.Int64
	answers := make(chan int, callers)
	for range callers {
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, post(ctx, size, &read))
			answers <- w.Code
		}()
	}
	<-full
	small := httptest.NewRecorder()
	h.ServeHTTP(small, post(t.Context(), 20<<10, new(atomic.Int64)))
	if small.Code != http.StatusOK {
		t.Errorf("a small body is answered %d behind the large ones", small.Code)
	}
	cancel() // the others go, as they would when they have waited long enough
	for range callers - mostInFlight/size {
		if code := <-answers; code != http.StatusServiceUnavailable {
			t.Errorf("answered %d; want %d", code, http.StatusServiceUnavailable)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&at)
	if most := int64(mostInFlight + callers*headBytes); read.Load() > most {
		t.Errorf("%d bytes were read; at most %d may be in flight, and who asks", read.Load(), most)
	}
	if n := int64(at.HeapAlloc) - int64(before.HeapAlloc); n > 64<<20 {
		t.Errorf("%d MiB are held", n>>20)
	}
	close(release)
	for range mostInFlight / size {
		if code := <-answers; code != http.StatusOK {
			t.Errorf("answered %d; want 200", code)
		}
	}
}

func TestBodiesThatAreTooLarge(t *testing.T) {
	h := bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	unsaid := post(t.Context(), mostBody+1, new(atomic.Int64))
	unsaid.ContentLength = -1
	cases := map[string]struct {
		r    *http.Request
		want int
	}{
		"as large as may be":       {post(t.Context(), mostBody, new(atomic.Int64)), http.StatusOK},
		"one byte more":            {post(t.Context(), mostBody+1, new(atomic.Int64)), http.StatusRequestEntityTooLarge},
		"one byte more, not said":  {unsaid, http.StatusBadRequest},
		"the length is not a body": {httptest.NewRequest(http.MethodPost, Path, strings.NewReader("")), http.StatusOK},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, tc.r)
			if w.Code != tc.want {
				t.Errorf("answered %d; want %d", w.Code, tc.want)
			}
		})
	}
}

// The weight of a request is given back when the last stage that works on it ends, not when it is
// answered: an abandoned review still holds its object.
func TestAbandonedReviewsKeepTheirWeight(t *testing.T) {
	stuck := make(chan struct{})
	h := bounded(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		drop := hold(r.Context())
		go func() { <-stuck; drop() }()
	}))
	var read atomic.Int64
	for _, size := range []int64{mostBody, mostBody, mostInFlight - 2*mostBody} {
		h.ServeHTTP(httptest.NewRecorder(), post(t.Context(), size, &read))
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, post(gone, smallBody+1, &read))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("answered %d while all room is held", w.Code)
	}
	close(stuck)
}

// Who announces bodies and sends nothing does not hold the room of others.
func TestBodiesThatDoNotComeHoldLittle(t *testing.T) {
	entered := make(chan struct{}, 100)
	server := httptest.NewServer(bounded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})))
	defer server.Close()
	neighbour := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for size, room := range map[int]int{mostBody: mostInFlight, smallBody: smallFlight} {
		for i := range 2 * room / size {
			c, err := neighbour.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Skip("there is no second address: ", err)
			}
			defer c.Close()
			if _, err := fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%*d", Path, size, headBytes, 1); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				<-entered // it is let in, and the rest of its body is waited for
			}
		}
	}
	for _, size := range []int{20 << 10, 1 << 20} {
		resp, err := http.Post(server.URL+Path, "application/json", strings.NewReader(strings.Repeat(" ", size)))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("a body of %d bytes is answered %d behind those that do not come", size, resp.StatusCode)
		}
	}
}
