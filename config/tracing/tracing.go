// Package tracing sends spans of reviews and diagnoses to an OpenTelemetry collector, where a configuration names one. A span
// says what was looked at, how long it took and what came of it; no name of a user, no line of a log, no part of an
// object.
//
// Spans travel as OTLP over HTTP in its JSON encoding (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding),
// which every collector takes: gRPC and generated messages would double what this program is made of.
//
// Start reading at New.
package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/signalbox-dev/signalbox/config/client"
	"github.com/signalbox-dev/signalbox/config/mounted"
)

// Options say where spans go. Endpoint is required.
type Options struct {
	Endpoint  string  // up to and including the path, http://collector:4318/v1/traces
	Sample    float64 // of those that no caller upstream has decided about; 0 to 1
	TokenFile string  // of a bearer token, read anew for each call; empty: none
	CAFile    string  // PEM; empty: the system's
	Version   string
	Log       logr.Logger
}

const (
	// callTime bounds one call of the collector.
	callTime = 10 * time.Second
	// mostQueued bounds the spans that wait; one more is dropped. One takes about a kilobyte.
	mostQueued = 2048
	mostBatch  = 512
	every      = 5 * time.Second
)

// Provider makes tracers. Make it with New.
type Provider struct{ *sdk.TracerProvider }

// Tracer is for the package of a name.
func (p *Provider) Tracer(name string) trace.Tracer { return p.TracerProvider.Tracer(name) }

// Start waits until the context is done, and sends what is left.
func (p *Provider) Start(ctx context.Context) error {
	<-ctx.Done()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	return p.Shutdown(bounded)
}

// New makes a provider; nothing is sent before there is a span.
func New(o Options) (*Provider, error) {
	c, err := client.New(o.CAFile, callTime)
	if err != nil {
		return nil, fmt.Errorf("prepare tracing: %w", err)
	}
	out := &exporter{o: o, client: c}
	return &Provider{sdk.NewTracerProvider(
		sdk.WithBatcher(out, sdk.WithMaxQueueSize(mostQueued), sdk.WithMaxExportBatchSize(mostBatch), sdk.WithBatchTimeout(every), sdk.WithExportTimeout(callTime)),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Sample))),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "signalbox"), attribute.String("service.version", o.Version))),
		sdk.WithoutPanicRecording(), // a panic may quote what was looked at
	)}, nil
}

// exporter implements sdk.SpanExporter.
type exporter struct {
	o      Options
	client *http.Client
	said   string // the last error; the SDK calls one at a time
}

// ExportSpans sends one batch, once: spans are not worth a second call. The same fault is said once.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.send(ctx, spans)
	if err == nil {
		e.said = ""
		return nil
	}
	if text := err.Error(); text != e.said {
		e.said = text
		e.o.Log.Info("spans are lost", "spans", len(spans), "error", text)
	}
	return nil // the SDK would write it to a log of its own
}

// Shutdown implements sdk.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

func (e *exporter) send(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(message(spans))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.o.Endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.o.TokenFile != "" {
		token, err := mounted.Read(e.o.TokenFile)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	resp, err := e.client.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the address may hold a password
		}
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16)) // so that the connection is used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)) // what it writes beside the number may be the token
	}
	return nil
}

// The message, as far as it is used (opentelemetry-proto, collector/trace/v1/trace_service.proto, trace/v1/trace.proto).
type (
	exportRequest struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributes   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	attributes struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []span `json:"spans"`
	}
	span struct {
		TraceID      string     `json:"traceId"` // in hexadecimal, unlike other bytes of JSON messages
		SpanID       string     `json:"spanId"`
		ParentSpanID string     `json:"parentSpanId,omitempty"`
		Name         string     `json:"name"`
		Kind         int        `json:"kind"`
		Start        string     `json:"startTimeUnixNano"` // 64 bits are texts
		End          string     `json:"endTimeUnixNano"`
		Attributes   []keyValue `json:"attributes,omitempty"`
		Status       status     `json:"status"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	status struct {
		Code int `json:"code,omitempty"`
	}
)

// message is a batch, the spans of one scope together.
func message(spans []sdk.ReadOnlySpan) exportRequest {
	var out resourceSpans
	at := map[string]int{}
	for _, s := range spans {
		if len(out.ScopeSpans) == 0 {
			out.Resource.Attributes = keyValues(s.Resource().Attributes())
		}
		scope := s.InstrumentationScope().Name
		i, known := at[scope]
		if !known {
			i = len(out.ScopeSpans)
			at[scope] = i
			out.ScopeSpans = append(out.ScopeSpans, scopeSpans{})
			out.ScopeSpans[i].Scope.Name = scope
		}
		one := span{
			TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(), Name: s.Name(), Kind: int(s.SpanKind()),
			Start: strconv.FormatInt(s.StartTime().UnixNano(), 10), End: strconv.FormatInt(s.EndTime().UnixNano(), 10), Attributes: keyValues(s.Attributes()),
			Status: status{Code: map[codes.Code]int{codes.Ok: 1, codes.Error: 2}[s.Status().Code]},
		}
		if s.Parent().HasSpanID() {
			one.ParentSpanID = s.Parent().SpanID().String()
		}
		out.ScopeSpans[i].Spans = append(out.ScopeSpans[i].Spans, one)
	}
	return exportRequest{ResourceSpans: []resourceSpans{out}}
}

func keyValues(of []attribute.KeyValue) (out []keyValue) {
	for _, a := range of {
		value := map[string]any{"stringValue": a.Value.String()}
		switch a.Value.Type() { //nolint:exhaustive // what is not a number or a truth is its text
		case attribute.INT64:
			value = map[string]any{"intValue": strconv.FormatInt(a.Value.AsInt64(), 10)}
		case attribute.BOOL:
			value = map[string]any{"boolValue": a.Value.AsBool()}
		}
		out = append(out, keyValue{string(a.Key), value})
	}
	return out
}
