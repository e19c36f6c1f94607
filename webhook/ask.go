package webhook

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// AskAnnotation with the value AskFit on a job that is created in a dry run asks for the whole
// answer about its fit, as warnings: whoever may create a job may ask, without the right to list
// nodes. Nothing is said that the warnings of gang-does-not-fit and quota-exceeded would not say:
// counts, and no names of nodes, pods or other jobs.
const (
	AskAnnotation = "signalbox.dev/ask"
	AskFit        = "fit"
)

// fitPrefix begins each warning that is part of the answer.
const fitPrefix = "[fit] "

// fitHead is the answer's first line: what a program needs.
type fitHead struct {
	Verdict string `json:"verdict"`
	Placed  int    `json:"placed"`
	Wanted  int    `json:"wanted"`
	Waits   bool   `json:"waits,omitempty"`
	Rule    string `json:"rule,omitempty"` // of the gravest limit
	Never   bool   `json:"never,omitempty"`
}

// fitLines are an answer about the fit as warnings; each is within the API server's budget.
func fitLines(r *fit.Result) []string {
	if r == nil {
		return nil
	}
	head := fitHead{Verdict: r.Verdict.String(), Placed: r.Placed, Wanted: r.Wanted, Waits: r.WaitsForOthers}
	if r.Held() {
		head.Rule, head.Never = string(r.Violations[0].Rule), r.Blocked()
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil
	}
	out := []string{fitPrefix + string(text)}
	line := func(word, text string) {
		if text != "" {
			out = append(out, clipRunes(fmt.Sprintf("%s%s: %s", fitPrefix, word, oneLine(text)), 256))
		}
	}
	if r.Held() {
		line("limit", r.Violations[0].String())
	}
	if r.Verdict != fit.Fits && !r.Held() {
		line("because", r.Why())
	}
	line("change", r.Change)
	return out
}

// FitOf reads the answer about the fit from the warnings of a dry run; ok is false where
// nobody gave one, because no webhook of Signalbox looked at the job.
func FitOf(warnings []string) (r fit.Result, ok bool) {
	for _, w := range warnings {
		text, ours := strings.CutPrefix(w, fitPrefix)
		if !ours {
			continue
		}
		if strings.HasPrefix(text, "{") {
			var head fitHead
			if json.Unmarshal([]byte(text), &head) != nil {
				continue
			}
			ok = true
			r.Verdict, r.Placed, r.Wanted, r.WaitsForOthers = verdictOf(head.Verdict), head.Placed, head.Wanted, head.Waits
			if head.Rule != "" {
				limit := quota.Violation{Rule: quota.Rule(head.Rule), When: quota.Now}
				if head.Never {
					limit.When = quota.Never
				}
				r.Violations = []quota.Violation{limit}
			}
			continue
		}
		word, text, _ := strings.Cut(text, ": ")
		switch {
		case word == "limit" && len(r.Violations) > 0:
			r.Violations[0] = limitOf(r.Violations[0], text)
		case word == "because" && r.Verdict == fit.Unknown:
			r.Assumed = append(r.Assumed, text)
		case word == "because":
			r.Reason = text
		case word == "change":
			r.Change, r.Changes = text, []string{text}
		}
	}
	return r, ok
}

func verdictOf(word string) fit.Verdict {
	for _, v := range []fit.Verdict{fit.Fits, fit.TooBig, fit.Full, fit.Fragmented} {
		if v.String() == word {
			return v
		}
	}
	return fit.Unknown
}

// limitOf is a limit with what "ResourceQuota ml/gpu: …" says of it.
func limitOf(l quota.Violation, text string) quota.Violation {
	owner, message, _ := strings.Cut(text, ": ")
	kind, name, _ := strings.Cut(owner, " ")
	l.Kind, l.Name, l.Message = kind, name, message
	if namespace, own, ok := strings.Cut(name, "/"); ok {
		l.Namespace, l.Name = namespace, own
	}
	return l
}
