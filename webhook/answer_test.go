package webhook

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Whatever checks, policies and panics say, the answer fits into what the API server lets
// through (k8s.io/apiserver, pkg/endpoints/filters/warning.go) and every annotation key is
// one that it accepts.
func FuzzSpeak(f *testing.F) {
	f.Add("gang-does-not-fit", "asks for 6 pods; 4 fit", "spec.replicas", 1, false)
	f.Add("long", strings.Repeat("ä", 5000), "spec", 40, true)
	f.Add("odd\n\x00", "\xff\xfe line\r\nbreak\u202e", "a\tb", 7, true)
	f.Add("", "", "", 0, false)
	f.Fuzz(func(t *testing.T, name, text, path string, n int, deny bool) {
		n = min(max(n, 0), 200)
		r := preflight.Report{Decision: preflight.Warned, Revision: text}
		for range n {
			r.Findings = append(r.Findings, finding.Finding{Check: name, Severity: finding.Error, Path: job.Path(path), Message: text, Remedy: text})
			r.Rulings = append(r.Rulings, preflight.Ruling{Policy: name, Effect: preflight.Warn, Message: text, Remedy: text, Path: job.Path(path)})
			r.Skipped = append(r.Skipped, preflight.Skip{Check: name, Reason: text, Failed: true})
			r.Undecided = append(r.Undecided, text)
			r.Exempted = append(r.Exempted, text)
		}
		if deny && n > 0 {
			r.Decision = preflight.Denied
			for i := range r.Rulings {
				r.Rulings[i].Effect = preflight.Deny
			}
		}
		resp := reported(r, text).response()
		runes := 0
		for _, w := range resp.Warnings {
			runes += utf8.RuneCountInString(w)
			if utf8.RuneCountInString(w) > 256 {
				t.Errorf("a warning of %d characters: %q", utf8.RuneCountInString(w), w)
			}
			if !utf8.ValidString(w) || strings.ContainsFunc(w, unicode.IsControl) {
				t.Errorf("the API server drops the warning %q", w)
			}
		}
		if runes > 4096 || len(resp.Warnings) > 7 {
			t.Errorf("%d warnings of %d characters; at most 7 and 4096", len(resp.Warnings), runes)
		}
		for key, value := range resp.AuditAnnotations {
			if why := validation.IsQualifiedName(Name + "/" + key); len(why) > 0 {
				t.Errorf("key %s: %v", key, why)
			}
			if len(value) > auditBytes || !utf8.ValidString(value) {
				t.Errorf("annotation %s has %d bytes (valid %v)", key, len(value), utf8.ValidString(value))
			}
		}
		if resp.Allowed == (deny && n > 0) {
			t.Errorf("allowed %v with %d denials (%v)", resp.Allowed, n, deny)
		}
		if m := resp.Result.Message; len(m) > denialBytes+200 || !utf8.ValidString(m) {
			t.Errorf("a denial of %d bytes", len(m))
		}
	})
}

// TestExceptionsAreInTheAuditLog: who was let past which policy, and why.
func TestExceptionsAreInTheAuditLog(t *testing.T) {
	r := preflight.Report{Decision: preflight.Allowed, Exempted: []string{"max-gpus: ana may", "queue: nobody waits"}}
	if got := reported(r, "").response().AuditAnnotations["exempted"]; got != "max-gpus: ana may; queue: nobody waits" {
		t.Errorf("exempted: %q", got)
	}
}

// Checks that failed for one reason are named while they are few, and counted where they are more.
func TestChecksThatFailForOneReasonAreNamedUpToABound(t *testing.T) {
	var r preflight.Report
	for _, check := range []string{"a", "b", "c"} {
		r.Skipped = append(r.Skipped, preflight.Skip{Check: check, Reason: "it panicked", Failed: true})
	}
	more := preflight.Report{Skipped: append(slices.Clone(r.Skipped), preflight.Skip{Check: "d", Reason: "it panicked", Failed: true})}
	for want, of := range map[string]preflight.Report{"a, b, c: it panicked": r, "4 checks: it panicked": more} {
		if a := reported(of, ""); len(a.gaps) != 1 || a.gaps[0].text != want {
			t.Errorf("of %d checks that failed is said %v; want %q", mostNamed+1, a.gaps, want)
		}
	}
}
