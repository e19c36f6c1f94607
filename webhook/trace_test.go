package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/config/tracing"
	"github.com/signalbox-dev/signalbox/preflight"
)

// A review is a span of the API server's trace, with its stages below it; who asks and what the job says are not in it.
func TestAReviewIsPartOfTheCallersTrace(t *testing.T) {
	bodies := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	defer collector.Close()
	provider, err := tracing.New(tracing.Options{Endpoint: collector.URL, Sample: 0})
	if err != nil {
		t.Fatal(err)
	}
	reviewer := reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
		return preflight.Report{Decision: preflight.Warned, Ran: 1}, nil
	})
	o := Options{Reviewer: reviewer, View: world{}, Tracer: provider.Tracer("webhook")}
	w := &Webhook{o: o, handler: NewHandler(HandlerOptions{Reviewer: o.Reviewer, View: o.View, Tracer: o.Tracer})}
	server := w.server(newConnections(1))
	body, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request(func(r *admissionv1.AdmissionRequest) { r.UserInfo.Username = "grace" })})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, bytes.NewReader(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	answer := httptest.NewRecorder()
	server.Handler.ServeHTTP(answer, req)
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `"allowed":true`) {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := <-bodies
	for _, want := range []string{
		`"traceId":"0af7651916cd43dd8448eb211c80319c"`, `"parentSpanId":"b7ad6b7169203331","name":"review","kind":2`,
		`"name":"read"`, `"name":"check"`, `"name":"conclude"`, `{"key":"signalbox.decision","value":{"stringValue":"warned"}}`,
		`{"key":"k8s.namespace.name","value":{"stringValue":"ml"}}`, `{"key":"signalbox.name","value":{"stringValue":"train"}}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the spans lack %s:\n%s", want, text)
		}
	}
	for _, never := range []string{"grace", "train:1", "spec"} {
		if strings.Contains(text, never) {
			t.Errorf("the spans hold %q:\n%s", never, text)
		}
	}
}

// A neighbour may name what he posts as he likes; spans of it wait for their turn to be sent.
func TestASpanHoldsNoLongName(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	h := NewHandler(HandlerOptions{View: world{}, Tracer: provider.Tracer("webhook"), Reviewer: reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
		return preflight.Report{Ran: 1}, nil
	})})
	long := strings.Repeat("x", 1<<20)
	h.Handle(t.Context(), admission.Request{AdmissionRequest: *request(func(r *admissionv1.AdmissionRequest) {
		r.Name, r.Namespace, r.Operation, r.Kind.Kind = long, long, admissionv1.Operation(long), long
	})})
	got := spans.GetSpans()
	if len(got) == 0 {
		t.Fatal("there is no span")
	}
	for _, s := range got {
		for _, a := range s.Attributes {
			if n := len(a.Value.String()); n > 253 {
				t.Errorf("%s has %d bytes", a.Key, n)
			}
		}
	}
}
