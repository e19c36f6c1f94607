package webhook

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// caller takes over the trace of the caller: the API server sends one with its calls
// (https://kubernetes.io/docs/concepts/cluster-administration/system-traces/).
func caller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))))
	})
}

// trace begins the span of one request. It names the job, and neither who asks nor what the job says. Thousands of spans wait to be
// sent.
func (h *Handler) trace(ctx context.Context, req admission.Request) (context.Context, func(answer)) {
	if h.o.Tracer == nil {
		return ctx, func(answer) {}
	}
	ctx, span := h.o.Tracer.Start(ctx, "review", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("k8s.namespace.name", named(req.Namespace)), attribute.String("signalbox.kind", h.kindLabel(req)),
		attribute.String("signalbox.name", named(req.Name)), attribute.String("signalbox.operation", named(string(req.Operation))),
	))
	return ctx, func(a answer) {
		span.SetAttributes(attribute.String("signalbox.decision", a.outcome()), attribute.Int("signalbox.not_checked", len(a.gaps)))
		span.End()
	}
}

// traced is a stage of a review with a span of its own.
func traced[T any](h *Handler, name string, do func(context.Context) T) func(context.Context) T {
	if h.o.Tracer == nil {
		return do
	}
	return func(ctx context.Context) T {
		ctx, span := h.o.Tracer.Start(ctx, name)
		defer span.End()
		return do(ctx)
	}
}
