package tracing

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// What a collector is sent is what OTLP says: the field names and encodings of the example in the specification's repository
// (github.com/open-telemetry/opentelemetry-proto, examples/trace.json).
func TestSpansArriveAsOTLP(t *testing.T) {
	bodies := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer t0ken" || r.URL.Path != "/v1/traces" {
			t.Errorf("%s with %v", r.URL, r.Header)
		}
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	defer server.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t0ken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{Endpoint: server.URL + "/v1/traces", Sample: 1, TokenFile: token, Version: "v0"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, parent := p.Tracer("webhook").Start(t.Context(), "review", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("kind", "Job"), attribute.Int("gpus", 8), attribute.Bool("dry", true)))
	_, child := p.Tracer("webhook").Start(ctx, "check")
	child.SetStatus(codes.Error, "never said")
	child.End()
	parent.End()
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := p.Start(ended); err != nil { // what is left is sent
		t.Fatal(err)
	}
	var got exportRequest
	text := <-bodies
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	if len(spans) != 2 || spans[0].Name != "check" || spans[0].ParentSpanID != spans[1].SpanID || spans[0].TraceID != spans[1].TraceID ||
		len(spans[1].TraceID) != 32 || len(spans[1].SpanID) != 16 || spans[1].ParentSpanID != "" {
		t.Errorf("spans: %s", text)
	}
	for _, want := range []string{
		`"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"signalbox"}},{"key":"service.version","value":{"stringValue":"v0"}}]}`,
		`"scope":{"name":"webhook"}`, `"kind":2`, `"status":{"code":2}`, `"status":{}`,
		`{"key":"gpus","value":{"intValue":"8"}}`, `{"key":"dry","value":{"boolValue":true}}`, `{"key":"kind","value":{"stringValue":"Job"}}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
	if strings.Contains(text, "never said") {
		t.Error("the text of an error leaves the program")
	}
}

// Without a decision upstream a part is sent; with one, that one holds.
func TestSamplingFollowsWhoAsked(t *testing.T) {
	p, err := New(Options{Endpoint: "http://127.0.0.1:1/", Sample: 0})
	if err != nil {
		t.Fatal(err)
	}
	_, s := p.Tracer("x").Start(t.Context(), "a")
	if s.IsRecording() {
		t.Error("nothing is to be sent, and a span is recorded")
	}
	asked := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, Remote: true}))
	_, s = p.Tracer("x").Start(asked, "a")
	if !s.IsRecording() || s.SpanContext().TraceID() != (trace.TraceID{1}) {
		t.Error("who asked records, and this part is missing")
	}
}

// A collector that is away costs the spans, says so once, and what waits is bounded.
func TestACollectorThatIsAwayCostsSpansOnly(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 503 Bearer t0ken\x1b[31m\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") // what it was sent
		_ = conn.Close()
	}))
	defer server.Close()
	var lines []string
	p, err := New(Options{Endpoint: server.URL, Sample: 1, Log: funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, s := p.Tracer("x").Start(t.Context(), "a")
		s.End()
		if err := p.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls != 3 || len(lines) != 1 || !strings.Contains(lines[0], `"the collector answers 503 Service Unavailable"`) {
		t.Errorf("%d calls, log %q; want three, one line", calls, lines)
	}
	if _, err := New(Options{CAFile: "/nowhere"}); err == nil {
		t.Error("a CA file that is not there is taken")
	}
}

// Spans that wait for a collector are bounded, and so are those of one call.
func TestSpansThatWaitAreBounded(t *testing.T) {
	var sent, largest int
	first, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		n := strings.Count(string(text), `"spanId"`)
		if sent == 0 {
			close(first)
			<-release
		}
		sent, largest = sent+n, max(largest, n)
	}))
	defer server.Close()
	p, err := New(Options{Endpoint: server.URL, Sample: 1})
	if err != nil {
		t.Fatal(err)
	}
	record := func(n int) {
		for range n {
			_, s := p.Tracer("x").Start(t.Context(), "a")
			s.End()
		}
	}
	record(mostBatch) // these are on their way
	<-first
	record(mostQueued + 1)
	close(release)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sent != mostBatch+mostQueued || largest != mostBatch {
		t.Errorf("%d spans were sent, at most %d in one call; want %d and %d", sent, largest, mostBatch+mostQueued, mostBatch)
	}
}
