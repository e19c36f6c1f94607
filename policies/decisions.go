package policies

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/signalbox-dev/signalbox/preflight"
)

// Decision is what policies were asked about one job and what they said, in the form of an event of
// OPA's decision log (https://www.openpolicyagent.org/docs/management-decision-logs), masked.
type Decision struct {
	Labels    map[string]string         `json:"labels"`
	ID        string                    `json:"decision_id"`
	Bundles   map[string]BundleRevision `json:"bundles"` // "signalbox": the whole set
	Path      string                    `json:"path"`    // signalbox
	Input     json.RawMessage           `json:"input"`
	Result    Result                    `json:"result"`
	Erased    []string                  `json:"erased,omitempty"` // of the input, as JSON pointers: they were too large
	Masked    []string                  `json:"masked,omitempty"` // where something secret stood; 64 at most
	Timestamp time.Time                 `json:"timestamp"`
	Metrics   map[string]int64          `json:"metrics"` // timer_rego_query_eval_ns
	Custom    Lacking                   `json:"custom"`
}

// BundleRevision is the revision of a set.
type BundleRevision struct {
	Revision string `json:"revision"`
}

// Result is what a set said.
type Result struct {
	Allow     bool               `json:"allow"`
	Rulings   []preflight.Ruling `json:"rulings"`
	Undecided []string           `json:"undecided,omitempty"`
	Exempted  []string           `json:"exempted,omitempty"`
}

// Lacking is what the input lacked.
type Lacking struct {
	Lacks []preflight.Lack `json:"lacks,omitempty"`
}

const (
	mostDecision = 256 << 10 // bytes of one decision
	mostWaiting  = 256       // decisions that wait to be written
)

// Recorder keeps decisions without holding up those who ask. Make it with NewRecorder.
type Recorder struct {
	write   func([]byte, time.Time) error
	now     func() time.Time
	labels  map[string]string
	waiting chan asked
	dropped atomic.Int64
}

type asked struct {
	in    preflight.Input
	ruled preflight.Ruled
	lacks []preflight.Lack
	took  time.Duration
	rev   string
	at    time.Time
}

// NewRecorder writes decisions by write, one line each, with labels on all of them. It writes nothing
// before Start.
func NewRecorder(write func(line []byte, at time.Time) error, labels map[string]string, now func() time.Time) *Recorder {
	return &Recorder{write: write, now: now, labels: labels, waiting: make(chan asked, mostWaiting)}
}

// Dropped is how many decisions were not written: too many came at once, or they were too large.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// Start writes until the context is done; failed is told when writing begins to fail, and every thousandth
// time after that.
func (r *Recorder) Start(ctx context.Context, failed func(error)) error {
	failures := 0
	for {
		select {
		case <-ctx.Done():
			return nil
		case a := <-r.waiting:
			line, err := r.line(a)
			if err == nil {
				err = r.write(line, a.at)
			}
			if err == nil {
				failures = 0
				continue
			}
			r.dropped.Add(1)
			if failures%1000 == 0 {
				failed(err)
			}
			failures++
		}
	}
}

// line is a decision as it is written.
func (r *Recorder) line(a asked) ([]byte, error) {
	input, hide, err := maskedInput(a.in)
	if err != nil {
		return nil, fmt.Errorf("write a decision: %w", err)
	}
	d := Decision{
		Labels: r.labels, ID: string(uuid.NewUUID()), Bundles: map[string]BundleRevision{"signalbox": {a.rev}}, Path: "signalbox",
		Result:    Result{Allow: true, Rulings: append([]preflight.Ruling{}, a.ruled.Rulings...), Undecided: hide.texts(a.ruled.Undecided), Exempted: hide.texts(a.ruled.Exempted)},
		Masked:    hide.places,
		Timestamp: a.at.UTC(), Metrics: map[string]int64{"timer_rego_query_eval_ns": a.took.Nanoseconds()}, Custom: Lacking{a.lacks},
	}
	for i := range d.Result.Rulings {
		d.Result.Allow = d.Result.Allow && d.Result.Rulings[i].Effect != preflight.Deny
		d.Result.Rulings[i] = hide.ruling(d.Result.Rulings[i])
	}
	for _, part := range []string{"", "old_object", "object", "findings"} {
		if part != "" {
			if _, there := input[part]; !there {
				continue
			}
			delete(input, part)
			d.Erased = append(d.Erased, "/"+part)
			d.Custom.Lacks = append(slices.Clip(d.Custom.Lacks), preflight.Lack{Part: part, Why: "it was too large to be recorded"})
		}
		if d.Input, err = json.Marshal(input); err != nil {
			return nil, fmt.Errorf("write a decision: %w", err)
		}
		line, err := json.Marshal(d)
		if err != nil {
			return nil, fmt.Errorf("write a decision: %w", err)
		}
		if len(line) < mostDecision {
			return append(line, '\n'), nil
		}
	}
	return nil, fmt.Errorf("write a decision: that about %s %s/%s has more than %d bytes", a.in.Job.Kind, a.in.Job.Namespace, a.in.Job.Name, mostDecision)
}

// Around is an engine whose decisions are recorded. While it is, inputs are built whole: who replays them
// asks other policies, which may read what these do not.
func (r *Recorder) Around(e preflight.Engine) preflight.Engine { return recorded{e, r} }

type recorded struct {
	preflight.Engine
	to *Recorder
}

// InForce implements preflight.Engine.
func (r recorded) InForce() preflight.Policies {
	return &oneReview{Policies: r.Engine.InForce(), to: r.to}
}

// oneReview is the policies of one review, and what they have said in it so far.
type oneReview struct {
	preflight.Policies
	to *Recorder

	mu   sync.Mutex
	said asked
	done bool
}

// Decide passes the question on.
func (o *oneReview) Decide(ctx context.Context, in preflight.Input, q preflight.Question) (preflight.Ruled, error) {
	start := o.to.now()
	ruled, err := o.Policies.Decide(ctx, in, q)
	if err == nil {
		o.mu.Lock()
		o.said.in, o.said.lacks, o.said.at = in, q.Lacks, start
		o.said.took += o.to.now().Sub(start)
		o.mu.Unlock()
		o.add(ruled, q.Stage)
	}
	return ruled, err
}

// Unasked passes the question on.
func (o *oneReview) Unasked(mode string, stage preflight.Stage, why string) preflight.Ruled {
	ruled := o.Policies.Unasked(mode, stage, why)
	o.add(ruled, stage)
	return ruled
}

// add files what a stage said; the last stage of a review is its end. A review of which nothing was read
// has no input, and is not recorded.
func (o *oneReview) add(ruled preflight.Ruled, stage preflight.Stage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return // cut, and answered since
	}
	r := &o.said.ruled
	r.Rulings, r.Undecided, r.Exempted = append(r.Rulings, ruled.Rulings...), append(r.Undecided, ruled.Undecided...), append(r.Exempted, ruled.Exempted...)
	if stage != preflight.OnTheReview {
		return
	}
	o.done = true
	if o.said.at.IsZero() || o.said.in.Request.Mode == preflight.ModeOff {
		return
	}
	o.said.rev = o.Revision()
	select {
	case o.to.waiting <- o.said:
	default:
		o.to.dropped.Add(1)
	}
}
