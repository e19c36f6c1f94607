package controller

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/config/tracing"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// A diagnosis is a span with its parts below it: which job, and what came of it. What a log says is not in it.
func TestADiagnosisIsTraced(t *testing.T) {
	bodies := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- string(body)
	}))
	defer collector.Close()
	provider, err := tracing.New(tracing.Options{Endpoint: collector.URL, Sample: 1})
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	u.SetKind("PyTorchJob")
	u.SetNamespace("ml")
	u.SetName("train")
	for _, o := range []Options{{}, {Tracer: provider.Tracer("diagnosis")}} { // without a tracer nothing happens
		ctx, end := o.trace(t.Context(), u)
		_, collected := o.step(ctx, "collect")
		collected()
		end(&diagnose.Result{Verdict: diagnose.Diagnosed, Category: "out-of-memory", Error: "the last line of a log"})
		_, failed := o.trace(t.Context(), u)
		failed(nil)
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := <-bodies
	for want, times := range map[string]int{
		`"name":"diagnose"`: 2, `"name":"collect"`: 1, `"parentSpanId"`: 1, `{"key":"signalbox.name","value":{"stringValue":"train"}}`: 2,
		`{"key":"signalbox.verdict","value":{"stringValue":"diagnosed"}}`: 1, `{"key":"signalbox.category","value":{"stringValue":"out-of-memory"}}`: 1, "the last line": 0,
	} {
		if got := strings.Count(text, want); got != times {
			t.Errorf("%s is there %d times; want %d:\n%s", want, got, times, text)
		}
	}
}
