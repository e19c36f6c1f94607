// Package ledger is the account of a job's attempts that failed, whoever tried again: an operator that makes
// the pods anew, a kubelet that starts a container again, a controller of retries above both. Of each it says
// when it began and ended, of what, on which node, and what it took. Pods and logs of earlier attempts go; the
// ledger stays with the job, in a bounded number of bytes.
//
// Values only: Read makes a ledger of what can be seen now, Merge adds it to what is remembered. Start
// reading at Ledger.
package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Annotation is where a job carries its ledger.
const Annotation = "signalbox.dev/attempts"

// Bounds of what a job carries. Attempts beyond them are counted by cause and node.
const (
	Most        = 32      // attempts, the last ones
	mostTallies = 16      // causes and nodes of those before
	Bytes       = 6 << 10 // of the annotation
	longest     = 96      // bytes of a text in it
)

// Ledger is a job's failed attempts, the first one first.
type Ledger struct {
	Attempts []Attempt `json:"attempts,omitempty"`
	Before   []Tally   `json:"before,omitempty"` // those that there is no room for one by one
}

// Attempt is one try of a job that failed.
type Attempt struct {
	Number   int       `json:"n"` // from 1 on, of those that were seen
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended"`           // when the first of its pods failed
	Cause    string    `json:"cause,omitempty"` // a category; empty: nothing names one
	Says     string    `json:"says,omitempty"`  // the first cause in words
	Pod      string    `json:"pod,omitempty"`   // that failed first
	Node     string    `json:"node,omitempty"`  // it was on
	GPUHours float64   `json:"gpuHours,omitempty"`
	Platform bool      `json:"platform,omitempty"` // the platform took it away: a drain, a lost node, a preemption
	System   string    `json:"system,omitempty"`   // what the node ran then
	Upgrade  string    `json:"upgrade,omitempty"`  // what shows that the node was upgraded
	Decided  bool      `json:"-"`                  // the cause is that of a diagnosis, not the first word about the end
}

// Tally counts attempts that ended of one cause on one node.
type Tally struct {
	Cause    string  `json:"cause,omitempty"`
	Node     string  `json:"node,omitempty"`
	Times    int     `json:"times"`
	GPUHours float64 `json:"gpuHours,omitempty"`
}

// Len is how many attempts failed.
func (l Ledger) Len() int {
	n := len(l.Attempts)
	for _, t := range l.Before {
		n += t.Times
	}
	return n
}

// Merge adds what can be seen now to what is remembered. An attempt that is in both is told as it was told
// first, unless it is known better now; Merge of the same twice is the same.
func (l Ledger) Merge(now Ledger) Ledger {
	out := Ledger{Attempts: slices.Clone(l.Attempts), Before: slices.Clone(l.Before)}
	for _, a := range now.Attempts {
		i := slices.IndexFunc(out.Attempts, a.same)
		switch {
		case i < 0 && !out.forgot(a):
			out.Attempts = append(out.Attempts, a)
		case i >= 0:
			out.Attempts[i] = out.Attempts[i].with(a)
		}
	}
	slices.SortStableFunc(out.Attempts, func(a, b Attempt) int { return cmp.Or(a.Began.Compare(b.Began), a.Ended.Compare(b.Ended)) })
	out.bound(Most)
	return out
}

// same says that two accounts are of one attempt: their times overlap.
func (a Attempt) same(b Attempt) bool {
	return a.Began.Equal(b.Began) || a.Ended.Equal(b.Ended) || a.Began.Before(b.Ended) && b.Began.Before(a.Ended)
}

// forgot says that an attempt is older than those that are told one by one: it is counted already.
func (l Ledger) forgot(a Attempt) bool {
	return len(l.Before) > 0 && len(l.Attempts) > 0 && a.Began.Before(l.Attempts[0].Began)
}

// with is an attempt with what another account of it knows better.
func (a Attempt) with(b Attempt) Attempt {
	out := a
	if b.Began.Before(out.Began) {
		out.Began = b.Began
	}
	if b.Cause != "" && (a.Cause == "" || b.Decided) || b.Ended.Before(a.Ended) {
		out.Ended, out.Cause, out.Says, out.Pod, out.Node, out.Platform = b.Ended, b.Cause, b.Says, b.Pod, b.Node, b.Platform
	}
	out.GPUHours = max(a.GPUHours, b.GPUHours)
	if out.Node == b.Node {
		out.System, out.Upgrade = cmp.Or(a.System, b.System), cmp.Or(a.Upgrade, b.Upgrade)
	}
	return out
}

// bound counts what there is no room for, and numbers the rest.
func (l *Ledger) bound(most int) {
	for len(l.Attempts) > most {
		l.count(l.Attempts[0])
		l.Attempts = l.Attempts[1:]
	}
	first := l.Len() - len(l.Attempts)
	for i := range l.Attempts {
		l.Attempts[i].Number = first + i + 1
	}
}

func (l *Ledger) count(a Attempt) {
	i := slices.IndexFunc(l.Before, func(t Tally) bool { return t.Cause == a.Cause && t.Node == a.Node })
	if i < 0 && len(l.Before) == mostTallies {
		i = mostTallies - 1 // the last one is of all the others
		l.Before[i].Cause, l.Before[i].Node = "", ""
	}
	if i < 0 {
		l.Before = append(l.Before, Tally{Cause: a.Cause, Node: a.Node})
		i = len(l.Before) - 1
	}
	l.Before[i].Times++
	l.Before[i].GPUHours += a.GPUHours
}

// Encode is the ledger in at most Bytes bytes; empty: there is nothing to tell.
func (l Ledger) Encode() string {
	l.Attempts, l.Before = slices.Clone(l.Attempts), slices.Clone(l.Before)
	for i := range l.Attempts {
		a := &l.Attempts[i]
		for _, text := range []*string{&a.Cause, &a.Says, &a.Pod, &a.Node, &a.System, &a.Upgrade} {
			*text = words.OneLine(*text, longest)
		}
	}
	for l.Len() > 0 {
		text, err := json.Marshal(l)
		if err != nil || len(text) <= Bytes {
			return string(text)
		}
		if len(l.Attempts) == 0 {
			l.Before = l.Before[1:]
			continue
		}
		l.bound(len(l.Attempts) - 1)
	}
	return ""
}

// Decode reads what a job carries. An account that may write the job may have written it: what is out of bounds is not
// taken.
func Decode(text string) (Ledger, error) {
	if text == "" {
		return Ledger{}, nil
	}
	var l Ledger
	if len(text) > Bytes {
		return Ledger{}, fmt.Errorf("%s has %d bytes; at most %d are written", Annotation, len(text), Bytes)
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return Ledger{}, fmt.Errorf("%s: %w", Annotation, err)
	}
	if len(l.Attempts) > Most || len(l.Before) > mostTallies {
		return Ledger{}, fmt.Errorf("%s has %d attempts and %d counts; at most %d and %d are written", Annotation, len(l.Attempts), len(l.Before), Most, mostTallies)
	}
	for _, a := range l.Attempts {
		if a.Ended.Before(a.Began) || a.GPUHours < 0 {
			return Ledger{}, fmt.Errorf("%s: attempt %d ended before it began, or took less than nothing", Annotation, a.Number)
		}
	}
	for _, t := range l.Before {
		if t.Times < 1 || t.Times > 1<<20 || t.GPUHours < 0 {
			return Ledger{}, fmt.Errorf("%s: a count of %d attempts", Annotation, t.Times)
		}
	}
	return l, nil
}

// Since is a ledger without what ended before a time: a job that was exported and created again carries the
// account of the one before it.
func (l Ledger) Since(t time.Time) Ledger {
	if i := slices.IndexFunc(l.Attempts, func(a Attempt) bool { return a.Ended.Before(t) }); i < 0 {
		return l
	}
	out := Ledger{Attempts: slices.DeleteFunc(slices.Clone(l.Attempts), func(a Attempt) bool { return a.Ended.Before(t) })}
	out.bound(Most)
	return out
}

// Told is the ledger as text for people, one line an attempt; empty: nothing was tried twice.
func (l Ledger) Told() string {
	if l.Len() < 2 {
		return ""
	}
	var out strings.Builder
	for _, t := range l.Before {
		fmt.Fprintf(&out, "  %4s  %s\n", fmt.Sprintf("%d ×", t.Times), line(cmp.Or(t.Cause, "of several causes"), "", t.Node, t.GPUHours))
	}
	for _, a := range l.Attempts {
		what := cmp.Or(a.Says, "nothing says why")
		if a.Upgrade != "" {
			what += ", in an upgrade (" + a.Upgrade + ")"
		}
		fmt.Fprintf(&out, "  %4d  %s, %6s  %s\n", a.Number, a.Began.UTC().Format("Jan 02 15:04"), words.Short(a.Ended.Sub(a.Began)), line(what, a.Pod, a.Node, a.GPUHours))
	}
	return out.String()
}

func line(what, pod, node string, hours float64) string {
	if pod != "" {
		what = pod + ": " + what
	}
	if node != "" {
		what += "; node " + node
	}
	if hours > 0 {
		what += fmt.Sprintf("; %s GPU hours", Hours(hours))
	}
	return what
}

// Hours is an amount of GPU hours in words.
func Hours(h float64) string {
	if h < 10 {
		return fmt.Sprintf("%.1f", h)
	}
	return fmt.Sprintf("%.0f", h)
}
