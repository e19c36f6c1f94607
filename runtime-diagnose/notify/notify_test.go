package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// heard is a server that writes down what it is sent, and answers what it is told to.
type heard struct {
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	answers []int  // in order; 200 when they are over
	later   string // how long it asks to be left alone where it is told to answer that it is called too often; empty: 20 s
	at      []time.Time
}

func (h *heard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bodies, h.headers, h.at = append(h.bodies, string(body)), append(h.headers, r.Header), append(h.at, time.Now())
	if len(h.answers) > 0 {
		code := h.answers[0]
		h.answers = h.answers[1:]
		if code == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		if code == http.StatusTeapot { // which writes the address and what a terminal obeys beside the number
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 418 http://hooks.example/services/T00/SECRET \x1b[31m"+strings.Repeat("x", 1<<20)+"\r\nContent-Length: 0\r\n\r\n")
				_ = conn.Close()
			}
			return
		}
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "20")
			if h.later != "" {
				w.Header().Set("Retry-After", h.later)
			}
		}
		w.WriteHeader(code)
	}
}

// counts are results by receiver.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(receiver, result string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[receiver+" "+result]++
}

// A log may be written so that a message seems to be of two jobs.
func TestASummaryIsOneLine(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r", "\v", "\u0085", "\u2028", "\u2029"} {
		f := failed
		f.Error = "out of memory" + end + "PyTorchJob prod/other: broken-node"
		if got, want := summary(f), "PyTorchJob ml/train: out-of-memory: out of memory PyTorchJob prod/other: broken-node"; got != want {
			t.Errorf("%q is told as %q", f.Error, got)
		}
	}
}

var failed = Failure{
	Kind: "PyTorchJob", Namespace: "ml", Name: "train", UID: "u1", Verdict: "diagnosed", Category: "out-of-memory",
	Error: "worker-3 was killed for memory <!channel>", Analysis: "token=hf_abcdefghijklmnopqrstuvwxyz0123456789 in the log", Solution: "Ask for more & try again.",
	Fingerprint: "f1", At: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC),
}

// world is a notifier that runs, in a bubble of its own, with a server at the other end of a pipe.
func world(t *testing.T, server *heard, log io.Writer, receivers ...Receiver) (*Notifier, *counts) {
	t.Helper()
	for i := range receivers {
		if receivers[i].URL == nil {
			receivers[i].URL = func() (string, error) { return "http://hooks.example/services/T00/SECRET", nil }
		}
	}
	seen := &counts{}
	n, err := New(Options{Receivers: receivers, Count: seen.add, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	listener := &pipes{to: make(chan net.Conn), done: make(chan struct{})}
	s := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { _ = s.Serve(listener) })
	for _, r := range n.receivers {
		transport, ok := r.client.Transport.(*http.Transport)
		if !ok {
			t.Fatal("no transport")
		}
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			select {
			case listener.to <- theirs:
				return ours, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	all.Go(func() { _ = n.Start(ctx) })
	t.Cleanup(func() {
		stop()
		for _, r := range n.receivers {
			r.client.CloseIdleConnections()
		}
		_ = s.Close()
		all.Wait()
	})
	return n, seen
}

// pipes is a listener without a network, so that the clock is the test's.
type pipes struct {
	to   chan net.Conn
	done chan struct{}
	once sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.to:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// settle lets everything that waits come to its end.
func settle() {
	time.Sleep(10 * time.Minute) //nolint:forbidigo // the clock is the test's
	synctest.Wait()
}

func TestFormsAreThoseOfTheReceivers(t *testing.T) {
	cases := map[string]struct {
		receiver Receiver
		want     string
	}{
		"slack": {Receiver{Form: FormSlack}, `{"mrkdwn":false,"text":"PyTorchJob ml/train: out-of-memory: worker-3 was killed for memory \u0026lt;!channel\u0026gt;\nAsk for more \u0026amp; try again.","unfurl_links":false,"unfurl_media":false}`},
		"a template": {
			Receiver{Form: FormGeneric, Template: `{"job": "{{.Name}}", "what": {{json .Error}}}`},
			`{"job": "train", "what": "worker-3 was killed for memory \u003c!channel\u003e"}`,
		},
		"alertmanager": {Receiver{Name: "am", Form: FormAlertmanager}, `{"alerts":[{"annotations":{"description":"token=[masked] in the log","solution":"Ask for more \u0026 try again.","summary":"PyTorchJob ml/train: out-of-memory: worker-3 was killed for memory \u003c!channel\u003e"},"endsAt":"0001-01-01T00:00:00Z","fingerprint":"u1","generatorURL":"","labels":{"alertname":"SignalboxJobFailed","category":"out-of-memory","kind":"PyTorchJob","name":"train","namespace":"ml","severity":"warning","verdict":"diagnosed"},"startsAt":"2026-05-04T03:02:01Z","status":"firing"}],"commonAnnotations":{"description":"token=[masked] in the log","solution":"Ask for more \u0026 try again.","summary":"PyTorchJob ml/train: out-of-memory: worker-3 was killed for memory \u003c!channel\u003e"},"commonLabels":{"alertname":"SignalboxJobFailed","category":"out-of-memory","kind":"PyTorchJob","name":"train","namespace":"ml","severity":"warning","verdict":"diagnosed"},"externalURL":"","groupKey":"{}:{alertname=\"SignalboxJobFailed\", namespace=\"ml\"}","groupLabels":{"alertname":"SignalboxJobFailed","namespace":"ml"},"receiver":"am","status":"firing","truncatedAlerts":0,"version":"4"}`},
		"generic":      {Receiver{Form: FormGeneric}, `{"analysis":"token=[masked] in the log","apiVersion":"signalbox.dev/notification/v1","at":"2026-05-04T03:02:01Z","category":"out-of-memory","error":"worker-3 was killed for memory \u003c!channel\u003e","kind":"PyTorchJob","name":"train","namespace":"ml","solution":"Ask for more \u0026 try again.","status":"firing","uid":"u1","verdict":"diagnosed"}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &heard{}
				tc.receiver.Token = func() (string, error) { return "t0ken\n", nil }
				n, _ := world(t, server, io.Discard, tc.receiver)
				n.Tell(failed)
				settle()
				if diff := cmp.Diff([]string{tc.want}, server.bodies); diff != "" {
					t.Errorf("bodies (-want +got):\n%s", diff)
				}
				if got := server.headers[0].Get("Authorization"); got != "Bearer t0ken" {
					t.Errorf("authorization %q", got)
				}
				if !json.Valid([]byte(server.bodies[0])) {
					t.Error("it is no JSON")
				}
			})
		})
	}
}

// What is said of one failure is cut at a bound, between two runes, and shows it.
func TestALongFailureShowsThatItIsCut(t *testing.T) {
	type told struct{ Error, Analysis, Solution string }
	for _, by := range []int{-1, 0, 1, 1 << 20} {
		synctest.Test(t, func(t *testing.T) {
			server := &heard{}
			n, _ := world(t, server, io.Discard, Receiver{Form: FormGeneric})
			f := failed
			text := func(most int) string { return strings.Repeat("ä", (most+by)/2) + strings.Repeat("x", (most+by)%2) }
			f.Error, f.Analysis, f.Solution = text(mostLine), text(mostText), text(mostText)
			n.Tell(f)
			settle()
			var got told
			if err := json.Unmarshal([]byte(server.bodies[0]), &got); err != nil {
				t.Fatal(err)
			}
			for _, one := range []struct {
				most      int
				was, told string
			}{{mostLine, f.Error, got.Error}, {mostText, f.Analysis, got.Analysis}, {mostText, f.Solution, got.Solution}} {
				if cut := len(one.was) > one.most; (one.told != one.was) != cut || strings.HasSuffix(one.told, "…") != cut || len(one.told) > one.most || strings.Contains(one.told, "\ufffd") {
					t.Errorf("of %d bytes %d are told, ending with %q; want %d at most", len(one.was), len(one.told), one.told[len(one.told)-6:], one.most)
				}
			}
		})
	}
}

// A receiver that asks to be left alone is, up to a bound: what waits behind it is told too.
func TestAReceiverMayAskForAPause(t *testing.T) {
	for later, want := range map[string]time.Duration{
		"-5": time.Second, "0": time.Second, "29": 29 * time.Second, "30": 30 * time.Second, "31": 30 * time.Second, "86400": 30 * time.Second,
		"99999999999999999999": 30 * time.Second, "Mon, 30 Nov 2026 12:00:00 GMT": time.Second,
	} {
		t.Run(later, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &heard{answers: []int{http.StatusTooManyRequests}, later: later}
				n, _ := world(t, server, io.Discard, Receiver{Name: "slack", Form: FormSlack})
				n.Tell(failed)
				settle()
				if len(server.at) != 2 || server.at[1].Sub(server.at[0]) != want {
					t.Errorf("told at %v; want twice, %v apart", server.at, want)
				}
			})
		})
	}
}

func TestAFailureIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &heard{}
		n, _ := world(t, server, io.Discard, Receiver{Name: "ml", Form: FormSlack, Namespaces: []string{"ml"}}, Receiver{Name: "vision", Form: FormSlack, Namespaces: []string{"vision"}})
		told := func(change func(*Failure), want int) {
			t.Helper()
			f := failed
			change(&f)
			before := len(server.bodies)
			n.Tell(f)
			settle()
			if got := len(server.bodies) - before; got != want {
				t.Errorf("told %d times; want %d", got, want)
			}
		}
		told(func(f *Failure) { f.Over = true }, 0) // nobody heard that it began
		told(func(*Failure) {}, 1)
		told(func(*Failure) {}, 0)
		told(func(f *Failure) { f.Fingerprint = "another cause" }, 1)
		told(func(f *Failure) { f.Over = true }, 1)
		told(func(f *Failure) { f.Over = true }, 0)
		told(func(*Failure) {}, 1) // it failed again
		told(func(f *Failure) { f.UID = "another job" }, 1)
		told(func(f *Failure) { f.UID, f.Namespace = "elsewhere", "audio" }, 0)
		var nobody *Notifier
		nobody.Tell(failed)
	})
}

func TestWhatFailsIsTriedAgain(t *testing.T) {
	cases := map[string]struct {
		answers []int
		calls   int
		result  string
	}{
		"it answers at once":             {nil, 1, Sent},
		"it is away for a while":         {[]int{503, 500, 429}, 4, Sent},
		"it stays away":                  {[]int{503, 503, 503, 503, 503, 503}, mostAttempts, Failed},
		"it refuses":                     {[]int{400, 200}, 1, Failed},
		"it sends the token somewhere":   {[]int{http.StatusFound, 200}, 1, Failed},
		"it answers with the address":    {[]int{http.StatusTeapot, 200}, 1, Failed},
		"it accepts on the last attempt": {[]int{500, 500, 500, 500}, mostAttempts, Sent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, log := &heard{answers: tc.answers}, &strings.Builder{}
				n, seen := world(t, server, log, Receiver{Name: "ml", Form: FormSlack})
				n.Tell(failed)
				settle()
				if len(server.bodies) != tc.calls || seen.of["ml "+tc.result] != 1 || len(seen.of) != 1 {
					t.Errorf("%d calls, %v; want %d, one %s", len(server.bodies), seen.of, tc.calls, tc.result)
				}
				if len(log.String()) > 4096 || strings.Contains(log.String(), "SECRET") || strings.Contains(log.String(), "hooks.example") {
					t.Errorf("the log holds the address, or more than there is to say: %.300s", log)
				}
			})
		})
	}
}

// A receiver that hangs costs what its queue holds, and no other anything.
func TestAReceiverThatHangsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, log := &heard{}, &strings.Builder{}
		hangs := Receiver{Name: "hangs", Form: FormSlack, URL: func() (string, error) { return "", fmt.Errorf("no file") }}
		n, seen := world(t, server, log, hangs, Receiver{Name: "answers", Form: FormSlack})
		synctest.Wait()
		f := failed
		f.UID = "first" // the one that is being tried
		n.Tell(f)
		synctest.Wait()
		for i := range mostQueued + 1 {
			f.UID = fmt.Sprint("u", i)
			n.Tell(f)
			synctest.Wait()
		}
		if seen.of["hangs "+Dropped] != 1 {
			t.Errorf("%v; want one dropped of one more than %d", seen.of, mostQueued)
		}
		if seen.of["answers "+Sent] != mostQueued+2 {
			t.Errorf("%v; want %d sent to the other", seen.of, mostQueued+2)
		}
	})
}

// TestANamespaceThatFailsAllTheTimeSilencesNoOther: a receiver takes one at a time, and others are told of in their turn.
func TestANamespaceThatFailsAllTheTimeSilencesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &heard{}
		n, seen := world(t, server, io.Discard, Receiver{Name: "slow", Form: FormGeneric, Template: "{{.Namespace}}"})
		server.mu.Lock() // nothing is answered
		f := failed
		for i := range 2 * mostQueued {
			f.UID, f.Namespace = fmt.Sprint("noisy", i), "noisy"
			n.Tell(f)
		}
		for i := range 3 {
			f.UID, f.Namespace = fmt.Sprint("quiet", i), "quiet"
			n.Tell(f)
		}
		server.mu.Unlock()
		settle()
		told := 0
		for i, namespace := range server.bodies {
			if namespace != "quiet" {
				continue
			}
			if told++; i > 2*told+1 {
				t.Errorf("number %d of the quiet namespace is told after %d others", told, i)
			}
		}
		if told != 3 {
			t.Errorf("%d of 3 are told; %v", told, seen.of)
		}
	})
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	n := newTold(mostKnown)
	for i := range mostKnown + 1 {
		n.fresh(Failure{UID: fmt.Sprint(i), Fingerprint: "f"})
	}
	if len(n.prints) != mostKnown || len(n.of[""]) != mostKnown {
		t.Errorf("%d failures are remembered, %d in order; want %d", len(n.prints), len(n.of[""]), mostKnown)
	}
	if n.fresh(Failure{UID: fmt.Sprint(mostKnown), Fingerprint: "f"}) {
		t.Error("the newest was forgotten")
	}
	if !n.fresh(Failure{UID: "0", Fingerprint: "f"}) {
		t.Error("the oldest was not")
	}
}

// TestOneNamespaceMakesNobodyForget: who was told of a failure is not told again, and is told of its end, however many others fail.
func TestOneNamespaceMakesNobodyForget(t *testing.T) {
	n := newTold(mostKnown)
	quiet := Failure{UID: "quiet", Namespace: "quiet", Fingerprint: "f"}
	n.fresh(quiet)
	for i := range 2 * mostKnown {
		n.fresh(Failure{UID: fmt.Sprint(i), Namespace: fmt.Sprint("noisy-", i%8), Fingerprint: "f"})
	}
	if n.fresh(quiet) {
		t.Error("it is told again")
	}
	if quiet.Over = true; !n.fresh(quiet) {
		t.Error("its end is not told")
	}
	if len(n.prints) != mostKnown-1 || len(n.of["quiet"]) != 0 {
		t.Errorf("%d failures are remembered, %d of the quiet namespace", len(n.prints), len(n.of["quiet"]))
	}
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		receiver Receiver
		want     string
	}{
		"an unknown form":             {Receiver{Name: "a", Form: "pager"}, `form is "pager"; expected alertmanager, slack or generic`},
		"a template that breaks off":  {Receiver{Name: "a", Form: FormGeneric, Template: "{{.Name"}, "unclosed action"},
		"a name that no failure has":  {Receiver{Name: "a", Form: FormGeneric, Template: "{{.Pod}}"}, "can't evaluate field Pod"},
		"a template without an end":   {Receiver{Name: "a", Form: FormGeneric, Template: `{{printf "%99999d" 1}}`}, "the template makes more than 32768 bytes"},
		"a text that ends its string": {Receiver{Name: "a", Form: FormGeneric, Template: `{"text": "{{.Error}}"}`}, "a quotation mark in a text ends its string"},
		"one of a branch":             {Receiver{Name: "a", Form: FormGeneric, Template: `{"text": {{json .Error}}, "hint": "{{if .Over}}{{else}}{{.Solution}}{{end}}"}`}, "write {{json .Error}}"},
		"a CA file that is not there": {Receiver{Name: "a", Form: FormSlack, CAFile: "/nowhere"}, "no such file"},
	} {
		if _, err := New(Options{Receivers: []Receiver{tc.receiver}}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %q", name, err, tc.want)
		}
	}
	if n, err := New(Options{}); n != nil || err != nil {
		t.Errorf("without receivers: %v, %v", n, err)
	}
}
