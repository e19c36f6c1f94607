package webhook

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// AskAnnotation with the value AskReview asks, in a dry run, for the whole review as one warning
// for a program: what a shell would find that lists the cluster. Names of nodes are in it only
// for users who may list nodes; of other jobs and pods nothing is said.
const (
	AskAnnotation = "signalbox.dev/ask"
	AskReview     = "review"
)

// recordPrefix begins the warning that holds a record.
const recordPrefix = "[review] "

// recordBytes bounds a record: all warnings of a response share 4096 (see finding.KubectlBudget),
// and those of other webhooks come beside it.
const recordBytes = 3400

// mostOfARecord bounds what a record may unfold to.
const mostOfARecord = 1 << 20

// Record is a review as the webhook answers it to a shell.
type Record struct {
	Fit       *RecordedFit       `json:"fit,omitempty"`
	Findings  []RecordedFinding  `json:"findings,omitempty"`
	Rulings   []preflight.Ruling `json:"rulings,omitempty"`
	Skipped   []preflight.Skip   `json:"skipped,omitempty"`
	Failed    []string           `json:"failed,omitempty"` // of those skipped, by a fault of ours
	Undecided []string           `json:"undecided,omitempty"`
	Exempted  []string           `json:"exempted,omitempty"`
	Revision  string             `json:"revision,omitempty"`
	Version   string             `json:"version,omitempty"` // of the program that answers
	Ran       int                `json:"ran"`
	Left      int                `json:"left,omitempty"` // findings for which there was no room
}

// RecordedFinding is a finding with what its JSON leaves out; its facts are for users who may list nodes.
type RecordedFinding struct {
	finding.Finding
	Rule  string `json:"rule,omitempty"`
	Meant string `json:"meant,omitempty"`
}

// RecordedFit is the answer about the fit.
type RecordedFit struct {
	Verdict string   `json:"verdict"`
	Placed  int      `json:"placed"`
	Wanted  int      `json:"wanted"`
	Waits   bool     `json:"waits,omitempty"`
	Paused  string   `json:"paused,omitempty"`
	Changes []string `json:"changes,omitempty"`
	Idle    string   `json:"idle,omitempty"`
	// Preempts names nobody: whose pods those are is not for everybody.
	Preempts *fit.Preemption `json:"preempts,omitempty"`
	Limits   []recordedLimit `json:"limits,omitempty"`
	Assumed  []string        `json:"assumed,omitempty"`
	Asks     []fit.Ask       `json:"asks,omitempty"`
	// What a no of today may become is for everybody: it names no node.
	Autoscaler    string `json:"autoscaler,omitempty"`
	WithNodesBack bool   `json:"withNodesBack,omitempty"`
	Unresolvable  bool   `json:"unresolvable,omitempty"`

	Why   string         `json:"why,omitempty"`   // for users who may not list nodes
	Nodes *RecordedNodes `json:"nodes,omitempty"` // for users who may
}

// RecordedNodes is what the answer rests on, in which nodes have names.
type RecordedNodes struct {
	Plan             []fit.Placement     `json:"plan,omitempty"`
	Unlisted         bool                `json:"unlisted,omitempty"` // there was no room for the plan
	Shortfall        []recordedShortfall `json:"shortfall,omitempty"`
	Rejected         fit.Rejections      `json:"rejected"`
	Group            string              `json:"group,omitempty"`
	Usable           int                 `json:"usable,omitempty"`
	Reason           string              `json:"reason,omitempty"`
	Queue            string              `json:"queue,omitempty"`
	PodTooBig        bool                `json:"podTooBig,omitempty"`
	NotWithNodesBack bool                `json:"notWithNodesBack,omitempty"`
	Running          int                 `json:"running,omitempty"`
}

// recordedShortfall is a shortfall with what its JSON leaves out.
type recordedShortfall struct {
	fit.Shortfall
	Pods int `json:"pods"`
	Fits int `json:"fits"`
}

// recordedLimit is a limit with whether waiting helps as a word.
type recordedLimit struct {
	quota.Violation
	When string `json:"when"`
}

// recordOf is a review for the user who asks; nodes says that this user may list them.
func recordOf(r *preflight.Report, nodes bool) Record {
	out := Record{
		Rulings: r.Rulings, Skipped: r.Skipped, Undecided: r.Undecided, Exempted: r.Exempted, Revision: r.Revision, Ran: r.Ran,
	}
	for _, f := range r.Findings {
		if f.Message = redact.Text(f.Message); !nodes {
			f.Facts = nil
		}
		out.Findings = append(out.Findings, RecordedFinding{f, f.Rule, f.Meant})
	}
	for _, s := range r.Skipped {
		if s.Failed {
			out.Failed = append(out.Failed, s.Check)
		}
	}
	if r.Fit == nil {
		return out
	}
	f := r.Fit
	out.Fit = &RecordedFit{
		Verdict: f.Verdict.String(), Placed: f.Placed, Wanted: f.Wanted, Waits: f.WaitsForOthers, Paused: f.Paused, Changes: f.Changes, Idle: f.Idle, Preempts: f.Preempts.Unnamed(), Asks: f.Asks,
		Autoscaler: f.Autoscaler, WithNodesBack: f.WithNodesBack, Unresolvable: f.Unresolvable,
	}
	for _, l := range f.Violations {
		out.Fit.Limits = append(out.Fit.Limits, recordedLimit{l, l.When.String()})
	}
	switch {
	case nodes:
		out.Fit.Assumed, out.Fit.Nodes = f.Assumed, nodesOf(f)
	case f.Verdict == fit.Unknown:
		out.Fit.Assumed = f.Assumed
	case f.Verdict != fit.Fits:
		onNodes := *f
		onNodes.Violations = nil // they stand by themselves
		out.Fit.Why = onNodes.Why()
		if come := f.NodesToCome(); come != "" {
			out.Fit.Assumed = []string{come}
		}
	}
	return out
}

func nodesOf(f *fit.Result) *RecordedNodes {
	out := &RecordedNodes{
		Plan: f.Plan, Rejected: f.Rejected, Group: f.Group, Usable: f.Usable, Reason: f.Reason, Queue: f.Queue,
		PodTooBig: f.PodTooBig, NotWithNodesBack: f.NotWithNodesBack, Running: f.Running,
	}
	out.Rejected.Selectors = slices.Clone(f.Rejected.Selectors)
	for i, label := range out.Rejected.Selectors {
		out.Rejected.Selectors[i] = redact.Text(label)
	}
	for _, s := range f.Shortfall {
		out.Shortfall = append(out.Shortfall, recordedShortfall{s, s.LargestPods, s.LargestFit})
	}
	return out
}

// Warning is the record as one warning. What there is no room for is left out, mildest first, and
// counted.
func (r Record) Warning() (string, error) {
	for {
		text, err := r.pack()
		switch {
		case err != nil || len(text) <= recordBytes:
			return recordPrefix + text, err
		case r.Fit != nil && r.Fit.Nodes != nil && len(r.Fit.Nodes.Plan) > 0:
			f, n := *r.Fit, *r.Fit.Nodes
			n.Plan, n.Unlisted = nil, true
			f.Nodes = &n
			r.Fit = &f
		case len(r.Findings) > 0:
			half := len(r.Findings) / 2
			r.Left += len(r.Findings) - half
			r.Findings = r.Findings[:half]
		case len(r.Skipped) > 0:
			r.Skipped = nil
		case len(r.Rulings) > 0:
			r.Left += len(r.Rulings)
			r.Rulings = nil
		default:
			return "", fmt.Errorf("the record has %d bytes, of which %d are allowed", len(text), recordBytes)
		}
	}
}

func (r Record) pack() (string, error) {
	var packed bytes.Buffer
	to, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if err := errors.Join(json.NewEncoder(to).Encode(r), to.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// recordLines are the warnings of a review that was asked for; none where it cannot be written.
func recordLines(r *preflight.Report, nodes bool, version string) []string {
	if r == nil {
		return nil
	}
	said := recordOf(r, nodes)
	said.Version = version
	line, err := said.Warning()
	if err != nil {
		return nil
	}
	return []string{line}
}

// RecordOf reads the record from the warnings of a dry run; ok is false where there is none, or
// only a part of it.
func RecordOf(warnings []string) (r Record, ok bool) {
	at := slices.IndexFunc(warnings, func(w string) bool { return strings.HasPrefix(w, recordPrefix) })
	if at < 0 {
		return r, false
	}
	packed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(warnings[at], recordPrefix))
	if err != nil {
		return r, false
	}
	from, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return r, false
	}
	text, err := io.ReadAll(io.LimitReader(from, mostOfARecord+1))
	if err != nil || len(text) > mostOfARecord {
		return r, false
	}
	if json.Unmarshal(text, &r) != nil {
		return Record{}, false
	}
	return r, true
}

// Found are the findings as a review has them.
func (r Record) Found() []finding.Finding {
	var out []finding.Finding
	for _, f := range r.Findings {
		f.Finding.Rule, f.Finding.Meant = f.Rule, f.Meant
		out = append(out, f.Finding)
	}
	return out
}

// Result is the answer about the fit as a shell prints it; nil where there was none.
func (r Record) Result() *fit.Result {
	f := r.Fit
	if f == nil {
		return nil
	}
	out := &fit.Result{
		Verdict: verdictOf(f.Verdict), Placed: f.Placed, Wanted: f.Wanted, WaitsForOthers: f.Waits, Paused: f.Paused,
		Reason: f.Why, Changes: f.Changes, Idle: f.Idle, Preempts: f.Preempts, Assumed: f.Assumed, Asks: f.Asks,
		Autoscaler: f.Autoscaler, WithNodesBack: f.WithNodesBack, Unresolvable: f.Unresolvable,
	}
	if n := f.Nodes; n != nil {
		out.Plan, out.Rejected, out.Group, out.Usable, out.Reason = n.Plan, n.Rejected, n.Group, n.Usable, n.Reason
		out.Queue, out.PodTooBig, out.NotWithNodesBack, out.Running = n.Queue, n.PodTooBig, n.NotWithNodesBack, n.Running
		for _, s := range n.Shortfall {
			s.LargestPods, s.LargestFit = s.Pods, s.Fits
			out.Shortfall = append(out.Shortfall, s.Shortfall)
		}
	}
	if len(f.Changes) > 0 {
		out.Change = f.Changes[0]
	}
	for _, l := range f.Limits {
		l.Violation.When = quota.Now
		if l.When == quota.Never.String() {
			l.Violation.When = quota.Never
		}
		out.Violations = append(out.Violations, l.Violation)
	}
	return out
}

func verdictOf(word string) fit.Verdict {
	for _, v := range []fit.Verdict{fit.Fits, fit.TooBig, fit.Full, fit.Fragmented} {
		if v.String() == word {
			return v
		}
	}
	return fit.Unknown
}
