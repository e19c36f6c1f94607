package controller

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// trace begins the span of one diagnosis. It names the job and what came of it, and no line of a log. end may be told no
// result where there is none.
func (o Options) trace(ctx context.Context, u *unstructured.Unstructured) (_ context.Context, end func(*diagnose.Result)) {
	if o.Tracer == nil {
		return ctx, func(*diagnose.Result) {}
	}
	ctx, span := o.Tracer.Start(ctx, "diagnose", trace.WithAttributes(
		attribute.String("k8s.namespace.name", u.GetNamespace()), attribute.String("signalbox.kind", u.GetKind()), attribute.String("signalbox.name", u.GetName()),
	))
	return ctx, func(r *diagnose.Result) {
		if r != nil {
			span.SetAttributes(attribute.String("signalbox.verdict", string(r.Verdict)), attribute.String("signalbox.category", r.Category))
		}
		span.End()
	}
}

// step is a part of what is traced.
func (o Options) step(ctx context.Context, name string) (context.Context, func()) {
	if o.Tracer == nil {
		return ctx, func() {}
	}
	ctx, span := o.Tracer.Start(ctx, name)
	return ctx, func() { span.End() }
}
