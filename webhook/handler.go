package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/trace"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// DefaultDeadline is how long checks and fit may take before the job is admitted without them.
// Whatever is slow, a user of kubectl apply does not feel it.
const DefaultDeadline = 200 * time.Millisecond

// DefaultPolicyDeadline is how long policies may take, before the checks and again after them. It
// is their own: nothing that a check or the fit costs is taken from it.
const DefaultPolicyDeadline = 500 * time.Millisecond

const (
	// patience is when an answer is due, whatever is still going on: the API server waits for
	// timeoutSeconds, and of these the way there and back may take some. Only in a burst of jobs does one wait so long: for its turn.
	patience = 5 * time.Second
	// light is what nearly all jobs weigh at most; the others wait less long for their turn.
	light = 64 << 10
	// begunEach is how many reviews of one user have begun at the same time, for each place.
	begunEach = 2
)

// Reviewer reviews jobs in stages. Stages(*preflight.Reviewer) is the one that runs.
type Reviewer interface {
	// Begin reads the job and asks the policies that need nothing else.
	Begin(context.Context, preflight.Request) (Review, error)
	// Unasked is the report about a job that could not be read, and why.
	Unasked(req preflight.Request, why string) preflight.Report
}

// Review is a review between its stages. It is a value: a stage leaves the one before as it was.
type Review interface {
	Check(context.Context) Review    // runs the checks and the fit
	Conclude(context.Context) Review // asks the other policies
	Cut(why string) preflight.Report // ends the review here
	Report() preflight.Report
}

// Stages makes a Reviewer of the one that also the command line asks.
func Stages(r *preflight.Reviewer) Reviewer { return stages{r} }

type stages struct{ *preflight.Reviewer }

func (s stages) Begin(ctx context.Context, req preflight.Request) (Review, error) {
	p, err := s.Reviewer.Begin(ctx, req)
	return pending{p}, err
}

type pending struct{ preflight.Pending }

func (p pending) Check(ctx context.Context) Review    { return pending{p.Pending.Check(ctx)} }
func (p pending) Conclude(ctx context.Context) Review { return pending{p.Pending.Conclude(ctx)} }

// View is the cluster as informers hold it. None of its methods calls the API or blocks.
type View interface {
	// Snapshot is the cluster as it is now; its Incomplete says what it lacks.
	Snapshot() *cluster.Snapshot
	// Namespace is the labels of a namespace; nil where they are not known.
	Namespace(name string) map[string]string
}

// Stored are the jobs that the API server has, as informers hold them. It does not block.
type Stored interface {
	// Job is a job by its kind and name, of which the caller may change all; nil where it is not known.
	Job(kind schema.GroupKind, namespace, name string) *unstructured.Unstructured
	// UID is the UID of a job; empty where it is not known.
	UID(kind schema.GroupKind, namespace, name string) types.UID
}

// Handler answers admission requests. Make it with NewHandler.
type Handler struct {
	o       HandlerOptions
	begun   *semaphore // of one user: reviews that have begun and are not answered yet
	ruling  *semaphore // for reading jobs and asking policies
	working *semaphore // for checks and fits
	workers workers
}

// HandlerOptions are what a Handler is made of. Reviewer and View are required.
type HandlerOptions struct {
	Reviewer Reviewer
	View     View
	Stored   Stored // nil: no stored job is known
	// Earlier are the runs that came before a job; nil, or nil for an answer: unknown.
	Earlier func(*unstructured.Unstructured) *preflight.EarlierFacts
	// Kinds are those to review; nil means all that have a reader. Others are waved through.
	Kinds []*kinds.Kind
	// Operators are the users whose parts of reviewed jobs are not reviewed again.
	Operators []string
	// MayWriteStatus says whether a user may write the status of jobs in a namespace, as their operator does; nil: whoever is
	// named among Operators may.
	MayWriteStatus func(context.Context, authenticationv1.UserInfo, schema.GroupVersionResource, string) bool
	// Deadline bounds the checks and the fit; 0 means DefaultDeadline.
	Deadline time.Duration
	// PolicyDeadline bounds policies, before the checks and after them; 0 means DefaultPolicyDeadline.
	PolicyDeadline time.Duration
	// Concurrent bounds the reviews that run at the same time; 0 means two for each CPU. One user,
	// and one namespace, has half of them. A review that ignores its deadline keeps its place until
	// it returns.
	Concurrent int
	// Excluded are namespaces whose jobs are never looked at, besides kube-system and
	// Signalbox's own.
	Excluded []string
	Reviewed *Reviewed // nil: what was reviewed is not recorded
	// Precedence is told of reviews that run; nil: nothing gives way to them.
	Precedence *Precedence
	// MayListNodes says whether a user may be told where the pods of the job would go; nil: none may.
	MayListNodes func(context.Context, authenticationv1.UserInfo) bool
	Version      string       // of the program, for an answer to a user who asks
	Tracer       trace.Tracer // nil: nothing is traced
	Metrics      *Metrics     // nil: not measured
	Log          logr.Logger
}

// NewHandler makes a handler.
func NewHandler(o HandlerOptions) *Handler {
	o.Deadline = cmp.Or(max(o.Deadline, 0), DefaultDeadline)
	o.PolicyDeadline = cmp.Or(max(o.PolicyDeadline, 0), DefaultPolicyDeadline)
	o.Concurrent = cmp.Or(max(o.Concurrent, 0), 2*runtime.GOMAXPROCS(0))
	if o.Kinds == nil {
		o.Kinds = kinds.All()
	}
	o.Excluded = append(slices.Clone(o.Excluded), excludedNamespaces()...)
	return &Handler{o: o, begun: newShares(begunEach * o.Concurrent), ruling: newSemaphore(o.Concurrent), working: newSemaphore(o.Concurrent)}
}

var _ admission.Handler = (*Handler)(nil)

// Handle answers one admission request. It never panics and never returns
// admission.Errored: the API server takes both for a refusal of the job, even where the
// failure policy is Ignore (k8s.io/apiserver, validating dispatcher: an answer with
// allowed=false is ErrWebhookRejection, which the failure policy does not cover).
func (h *Handler) Handle(ctx context.Context, req admission.Request) (resp admission.Response) {
	defer h.o.Precedence.begin()()
	start := time.Now()
	a := answer{}
	ctx, end := h.trace(ctx, req)
	defer func() {
		if v := recover(); v != nil {
			a = h.panicked(req, v)
		}
		if resp = a.response(); !resp.Allowed {
			h.o.Log.Info("denied a job", "kind", named(req.Kind.Kind), "namespace", named(req.Namespace), "name", named(req.Name), "policies", a.deniedBy(), "dryRun", req.DryRun != nil && *req.DryRun)
		}
		end(a)
		h.o.Metrics.observe(h.kindLabel(req), req, a, time.Since(start))
	}()
	if why := h.passes(req); why != "" {
		a = answer{silent: why}
		return
	}
	a = h.within(ctx, req)
	// What is denied is not stored: who stores the very same later, while no webhook answers, has not been reviewed.
	if a.whole() && a.decision() != preflight.Denied && (req.DryRun == nil || !*req.DryRun) {
		h.o.Reviewed.add(stateOf(a.job), a.report)
	}
	return
}

// passes says why a request is admitted without a look; empty: it is to be reviewed.
func (h *Handler) passes(req admission.Request) string {
	switch {
	case req.Operation != admissionv1.Create && req.Operation != admissionv1.Update:
		return "only creations and updates are reviewed"
	case req.SubResource != "" && req.SubResource != scale:
		return "of subresources only scale is reviewed"
	case slices.Contains(h.o.Excluded, req.Namespace):
		return "the namespace is excluded"
	default:
		return ""
	}
}

// begun is what the first stage of a review comes to.
type begun struct {
	review Review
	answer *answer                    // there is no review, and this is why
	asks   bool                       // in a dry run, for the whole review as a record
	job    *unstructured.Unstructured // that the answer will be about; nil: of no state that is looked at
	behind string                     // why the job may be another one than was read; empty: it is that one
}

// within reviews in stages, each under a deadline of its own. What an author can make slow, the
// checks and the fit, stands after the policies that do not read it. What is still going on when its
// time is over is abandoned, not stopped (nobody can stop a goroutine); its place stays taken until
// it ends, so that late reviews cannot pile up. A stage is told to end a little earlier, so that
// one that listens can still say what it found.
func (h *Handler) within(parent context.Context, req admission.Request) (a answer) {
	arrived := arrival(parent)
	ctx, cancel := context.WithDeadline(parent, arrived.Add(patience))
	defer cancel()
	ask := h.request(req)
	if preflight.ModeOf(ask.Namespace) == preflight.ModeOff {
		return answer{silent: "the namespace is labelled " + preflight.ModeLabel + "=" + preflight.ModeOff}
	}
	if ask.Namespace == nil && ask.Cluster.Incomplete() == "" {
		// Labels that are not known must not read as those of a namespace that does not enforce: it is reviewed once more.
		defer func() {
			if a.silent == "" {
				a = a.lacking(gap{reasonView, "whether namespace " + req.Namespace + " enforces, which has not been seen yet"})
			}
		}()
	}

	defer h.inTurn(ctx, req, arrived)()
	first, g := stage(ctx, h, seat{h.ruling, req, arrived, h.o.PolicyDeadline + reading(req)}, traced(h, "read", func(ctx context.Context) begun { return h.begin(ctx, req, ask) }))
	switch {
	case g != nil:
		return h.unasked(ask, *g)
	case first.answer != nil:
		return first.answer.of(first.job)
	}
	report := first.review.Report()
	if why := needless(report); why != "" {
		return answer{silent: why} // nothing was looked at: its state is not known to be reviewed
	}
	checked, g := stage(ctx, h, seat{h.working, req, arrived, h.o.Deadline}, traced(h, "check", first.review.Check))
	if g != nil {
		return reported(first.review.Cut(g.text), ask.Cluster.Incomplete()).lacking(*g).uncheck()
	}
	concluded, g := stage(ctx, h, seat{h.ruling, req, arrived, h.o.PolicyDeadline}, traced(h, "conclude", checked.Conclude))
	if g != nil {
		return reported(checked.Cut(g.text), ask.Cluster.Incomplete()).lacking(*g)
	}
	a = reported(concluded.Report(), ask.Cluster.Incomplete()).of(first.job)
	if first.behind != "" && a.decision() != preflight.Denied { // a denial of what was seen stands; silence about it says nothing
		return h.unasked(ask, gap{reasonView, first.behind})
	}
	if first.asks {
		a.record = recordLines(a.report, h.mayListNodes(ctx, req), h.o.Version)
	}
	return a
}

// mayListNodes says whether the user who asks may be told names of nodes. Silence is no leave.
func (h *Handler) mayListNodes(ctx context.Context, req admission.Request) bool {
	if h.o.MayListNodes == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, h.o.Deadline)
	defer cancel()
	return h.o.MayListNodes(ctx, req.UserInfo)
}

// seat is what a stage of a review waits for, and how long it may take once it has it.
type seat struct {
	among   *semaphore
	req     admission.Request
	arrived time.Time
	limit   time.Duration
}

// stage runs one stage of a review in a goroutine of its own, once it has its seat, and waits for
// it. Its time begins then: that others had theirs before is no fault of the job. The gap says why it did not
// come to an end.
func stage[T any](parent context.Context, h *Handler, s seat, do func(context.Context) T) (T, *gap) {
	var none T
	leave, why := s.take(parent, s.req.Namespace)
	if leave == nil {
		return none, &gap{reasonBusy, why}
	}
	type outcome struct {
		value T
		gap   *gap
	}
	done := make(chan outcome, 1) // buffered: an abandoned stage must be able to end
	over := time.NewTimer(s.limit)
	defer over.Stop()
	soft, stop := context.WithTimeout(parent, min(s.limit, time.Until(deadline(parent)))*4/5)
	keep := hold(parent)
	h.workers.run(func() {
		var out outcome
		defer func() {
			if v := recover(); v != nil {
				h.log(s.req, v)
				out.gap = &gap{reasonPanic, fmt.Sprintf("the review panicked: %v", v)}
			}
			stop()
			leave()
			keep()
			done <- out
		}()
		out.value = do(soft)
	})
	select {
	case out := <-done:
		return out.value, out.gap
	case <-over.C:
	case <-parent.Done():
	}
	if errors.Is(parent.Err(), context.Canceled) {
		return none, &gap{reasonDeadline, "the API server went away before the review ended"}
	}
	return none, &gap{reasonDeadline, fmt.Sprintf("the review took longer than %s", min(s.limit, patience))}
}

// take waits for the seat. A heavy request waits no longer than its stage may take: while it waits it holds room that all share,
// and whoever sends many slow ones would have that of everybody.
func (s seat) take(ctx context.Context, in string) (leave func(), why string) {
	if len(s.req.Object.Raw)+len(s.req.OldObject.Raw) > light {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.limit)
		defer cancel()
	}
	return s.among.acquire(ctx, s.req.UserInfo.Username, in, s.arrived, 2*s.limit) // those that take all their time move, too
}

// inTurn waits while many reviews of the same author have begun: what was begun is ended first. Else all jobs of a burst are decoded
// before the first is answered, and each of them waits for all. It is no bound: where they do not end, or for too long, the review begins all the same. Nobody waits here for others of
// the namespace: where there are seats, the author who has fewest comes first.
func (h *Handler) inTurn(ctx context.Context, req admission.Request, arrived time.Time) (end func()) {
	author := authorOf(req.UserInfo.Username)
	leave, _ := h.begun.tryAcquire(author, author)
	if leave == nil {
		ctx, cancel := context.WithDeadline(ctx, arrived.Add(patience/2))
		defer cancel()
		leave, _ = seat{h.begun, req, arrived, h.o.PolicyDeadline}.take(ctx, author)
	}
	if leave == nil {
		return func() {}
	}
	return leave
}

// reading is what the first stage gets on top for its size: a second for a million bytes, which take some 70 ms of a
// processor that is free. On one that is not, an author who pads his job would have its policies undecided. It costs
// nobody else anything: what is abandoned goes on to its end as well.
func reading(req admission.Request) time.Duration {
	return time.Duration(len(req.Object.Raw)+len(req.OldObject.Raw)) * time.Microsecond
}

func deadline(ctx context.Context) time.Time {
	at, _ := ctx.Deadline()
	return at
}

// unasked is the answer where a job was not even read: its policies are undecided.
func (h *Handler) unasked(ask preflight.Request, g gap) answer {
	return reported(h.o.Reviewer.Unasked(ask, g.text), "").lacking(g).uncheck()
}

// panicked is the answer after a panic outside of all stages.
func (h *Handler) panicked(req admission.Request, v any) answer {
	h.log(req, v)
	return notChecked(reasonPanic, fmt.Sprintf("the review panicked: %v", v))
}

func (h *Handler) log(req admission.Request, v any) {
	h.o.Log.Error(fmt.Errorf("panic: %v", v), "review a job", "kind", named(req.Kind.Kind),
		"namespace", named(req.Namespace), "name", named(req.Name), "stack", string(debug.Stack()))
}

// named is a name as the log has it, no longer than names are (k8s.io/apimachinery, pkg/util/validation, DNS1123SubdomainMaxLength):
// a neighbour's may have megabytes. It holds nothing of a longer one.
func named(s string) string { return strings.Clone(clip(s, 253)) }
