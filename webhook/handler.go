package webhook

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// DefaultDeadline is how long a review may take before the job is admitted without it.
// It is a tenth of the timeout in the webhook configuration: whatever is slow, a user
// of kubectl apply does not feel it.
const DefaultDeadline = 200 * time.Millisecond

// Reviewer reviews one job. *preflight.Reviewer is the one that runs.
type Reviewer interface {
	Review(context.Context, preflight.Request) (preflight.Report, error)
}

// View is the cluster as informers hold it. None of its methods calls the API or blocks.
type View interface {
	// Snapshot is the cluster as it is now; its Incomplete says what it lacks.
	Snapshot() *capacity.Snapshot
	// Namespace is the labels of a namespace; nil where they are not known.
	Namespace(name string) map[string]string
}

// Handler answers admission requests. Make it with NewHandler.
type Handler struct {
	reviewer Reviewer
	view     View
	kinds    []*kinds.Kind
	broken   func() string
	deadline time.Duration
	excluded []string
	slots    chan struct{} // one for each review that runs, abandoned ones included
	metrics  *Metrics
	log      logr.Logger
}

// HandlerOptions are what a Handler is made of. Reviewer and View are required.
type HandlerOptions struct {
	Reviewer Reviewer
	View     View
	// Kinds are those to review; nil means all that have a reader. Others are waved through.
	Kinds []*kinds.Kind
	// Broken says which policies do not load and so are not asked; nil: never any.
	Broken func() string
	// Deadline bounds one review; 0 means DefaultDeadline.
	Deadline time.Duration
	// Concurrent bounds the reviews that run at the same time; 0 means four for each CPU.
	// A review that ignores its deadline keeps its place until it returns.
	Concurrent int
	// Excluded are namespaces whose jobs are never looked at, besides kube-system and
	// Signalbox's own.
	Excluded []string
	Metrics  *Metrics // nil: not measured
	Log      logr.Logger
}

// NewHandler makes a handler.
func NewHandler(o HandlerOptions) *Handler {
	if o.Deadline <= 0 {
		o.Deadline = DefaultDeadline
	}
	if o.Concurrent <= 0 {
		o.Concurrent = 4 * runtime.GOMAXPROCS(0)
	}
	if o.Kinds == nil {
		o.Kinds = kinds.All()
	}
	if o.Broken == nil {
		o.Broken = func() string { return "" }
	}
	return &Handler{
		broken:   o.Broken,
		kinds:    o.Kinds,
		reviewer: o.Reviewer,
		view:     o.View,
		deadline: o.Deadline,
		excluded: append(slices.Clone(o.Excluded), excludedNamespaces()...),
		slots:    make(chan struct{}, o.Concurrent),
		metrics:  o.Metrics,
		log:      o.Log,
	}
}

var _ admission.Handler = (*Handler)(nil)

// Handle answers one admission request. It never panics and never returns
// admission.Errored: the API server takes both for a refusal of the job, even where the
// failure policy is Ignore (k8s.io/apiserver, validating dispatcher: an answer with
// allowed=false is ErrWebhookRejection, which the failure policy does not cover).
func (h *Handler) Handle(ctx context.Context, req admission.Request) (resp admission.Response) {
	start := time.Now()
	a := answer{}
	defer func() {
		if v := recover(); v != nil {
			a = h.panicked(req, v)
		}
		resp = a.response()
		h.metrics.observe(h.kindLabel(req), req, a, time.Since(start))
	}()
	if why := h.passes(req); why != "" {
		a = answer{silent: why}
		return
	}
	a = h.within(ctx, req)
	return
}

// passes says why a request is admitted without a look; empty: it is to be reviewed.
func (h *Handler) passes(req admission.Request) string {
	switch {
	case req.Operation != admissionv1.Create && req.Operation != admissionv1.Update:
		return "only creations and updates are reviewed"
	case req.SubResource != "":
		return "subresources are not reviewed"
	case slices.Contains(h.excluded, req.Namespace):
		return "the namespace is excluded"
	default:
		return ""
	}
}

// within runs the review in a goroutine of its own and waits for it until the deadline.
// The review itself is told to end a little earlier, so that one that listens can still
// say what it found.
// A late review is abandoned, not stopped (nobody can stop a goroutine); its slot stays
// taken until it ends, so that late reviews cannot pile up.
func (h *Handler) within(parent context.Context, req admission.Request) answer {
	ctx, cancel := context.WithTimeout(parent, h.deadline)
	defer cancel()
	soft, stop := context.WithTimeout(ctx, h.deadline*4/5)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		stop()
		return notChecked(reasonBusy, fmt.Sprintf("%d reviews are running already, which is the limit", cap(h.slots)))
	}
	done := make(chan answer, 1) // buffered: an abandoned review must be able to end
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- h.panicked(req, v)
			}
			stop()
			<-h.slots
		}()
		done <- h.review(soft, req)
	}()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
		if errors.Is(parent.Err(), context.Canceled) {
			return notChecked(reasonDeadline, "the API server went away before the review ended")
		}
		return notChecked(reasonDeadline, fmt.Sprintf("the review took longer than %s", h.deadline))
	}
}

// panicked is the answer after a panic outside the checks; those recover by themselves.
func (h *Handler) panicked(req admission.Request, v any) answer {
	h.log.Error(fmt.Errorf("panic: %v", v), "review a job", "kind", req.Kind.Kind,
		"namespace", req.Namespace, "name", req.Name, "stack", string(debug.Stack()))
	return notChecked(reasonPanic, fmt.Sprintf("the review panicked: %v", v))
}
