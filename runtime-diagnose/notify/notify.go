// Package notify tells people's own tools what a diagnosis found: Alertmanager, Slack, or whatever takes a POST. It is
// told of failures and of their end; it reads nothing, decides nothing, and what it cannot deliver it counts and drops.
//
// Start reading at Notifier.Tell.
package notify

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// Failure is what a diagnosis says of one job.
type Failure struct {
	Kind, Namespace, Name, UID string
	Verdict, Category          string
	Error, Analysis, Solution  string
	// Fingerprint tells one failure of a job from another.
	Fingerprint string
	At          time.Time
	// Over says that what was wrong no longer is.
	Over bool
}

// Receiver is one place that is told.
type Receiver struct {
	Name string
	// Form is what it is sent: FormAlertmanager, FormSlack or FormGeneric.
	Form Form
	// URL says where; it is asked for each attempt, because it may be renewed. What is in it may be a secret.
	URL func() (string, error)
	// Token is sent as a bearer token; nil: none is.
	Token func() (string, error)
	// Namespaces whose jobs it is told about; empty: all.
	Namespaces []string
	// Template is the body of the generic form (text/template over a Failure); empty: the failure as JSON.
	Template string
	CAFile   string // PEM; empty: the system's
}

const (
	// mostQueued bounds what waits for one receiver.
	mostQueued = 256
	// mostKnown bounds the failures that are remembered so that none is told twice.
	mostKnown = 4096
	// mostAttempts are made for one notification, with a pause that doubles from the first one.
	mostAttempts = 5
	firstPause   = time.Second
	// mostPause is how long a receiver may ask to be left alone: others wait behind it.
	mostPause = 30 * time.Second
	// callTime bounds one attempt.
	callTime = 10 * time.Second
	// mostLine and mostText are the bytes of what is said of one failure.
	mostLine, mostText = 512, 2048
)

// Results, as they are counted.
const (
	Sent    = "sent"
	Failed  = "failed"  // after all attempts, or refused
	Dropped = "dropped" // the queue was full
)

// Notifier passes failures on. Make it with New; nil tells nobody.
type Notifier struct {
	receivers []*receiver
	count     func(receiver, result string)
	log       *slog.Logger
	told      *told
}

// Options are what a Notifier is made of; all may be left out.
type Options struct {
	Receivers []Receiver
	Count     func(receiver, result string)
	Log       *slog.Logger
}

// New checks the receivers; without any it is nil.
func New(o Options) (*Notifier, error) {
	if len(o.Receivers) == 0 {
		return nil, nil
	}
	n := &Notifier{count: o.Count, log: o.Log, told: newTold(mostKnown)}
	if n.count == nil {
		n.count = func(string, string) {}
	}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	for _, r := range o.Receivers {
		made, err := newReceiver(r)
		if err != nil {
			return nil, fmt.Errorf("prepare notifications to %s: %w", r.Name, err)
		}
		n.receivers = append(n.receivers, made)
	}
	return n, nil
}

// Tell passes a failure on to those who want it. It never waits.
func (n *Notifier) Tell(f Failure) {
	if n == nil || !n.told.fresh(f) {
		return
	}
	f = clean(f)
	for _, r := range n.receivers {
		if len(r.Namespaces) > 0 && !slices.Contains(r.Namespaces, f.Namespace) {
			continue
		}
		if lost, full := r.queue.put(f); full {
			n.count(r.Name, Dropped)
			n.log.Warn("a notification is dropped: too many wait", "receiver", r.Name, "namespace", lost.Namespace, "name", lost.Name)
		}
	}
}

// clean masks what looks like a secret, once more: what leaves the cluster is read by others.
func clean(f Failure) Failure {
	f.Error, f.Analysis, f.Solution = clip(redact.Text(f.Error), mostLine), clip(redact.Text(f.Analysis), mostText), clip(redact.Text(f.Solution), mostText)
	for _, text := range []*string{&f.Error, &f.Analysis, &f.Solution} {
		*text = redact.Visible(*text)
	}
	return f
}

// clip cuts a text between two runes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most - len("…")
	for cut > 0 && text[cut]&0xC0 == 0x80 {
		cut--
	}
	return text[:cut] + "…"
}

// Start sends until the context is done; what waits then is not sent.
func (n *Notifier) Start(ctx context.Context) error {
	if n == nil {
		return nil
	}
	var all sync.WaitGroup
	for _, r := range n.receivers {
		all.Go(func() {
			for ctx.Err() == nil {
				if f, ok := r.queue.take(); ok {
					n.deliver(ctx, r, f)
					continue
				}
				select {
				case <-ctx.Done():
				case <-r.queue.ready:
				}
			}
		})
	}
	all.Wait()
	return nil
}

// deliver sends one failure, more than once where that may help.
func (n *Notifier) deliver(ctx context.Context, r *receiver, f Failure) {
	pause := firstPause
	for try := 1; ; try++ {
		after, err := r.send(ctx, f)
		if err == nil {
			n.count(r.Name, Sent)
			return
		}
		if ctx.Err() != nil || after < 0 || try == mostAttempts {
			n.count(r.Name, Failed)
			n.log.Error("a notification is not delivered", "receiver", r.Name, "namespace", f.Namespace, "name", f.Name, "tries", try, "error", err.Error())
			return
		}
		timer := time.NewTimer(max(pause, after))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		pause *= 2
	}
}
