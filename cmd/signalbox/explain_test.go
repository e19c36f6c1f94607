package main

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/webhook"
)

// TestEveryNameThatIsPrintedIsExplained goes through the names that the code itself can print.
func TestEveryNameThatIsPrintedIsExplained(t *testing.T) {
	printed := map[string][]string{
		"rules":     controller.KnownRules(),
		"decisions": {string(preflight.Allowed), string(preflight.Warned), string(preflight.Denied)},
		"effects":   {string(preflight.Deny), string(preflight.Warn)},
		"modes":     {preflight.ModeOff, preflight.ModeWarn, preflight.ModeEnforce},
		"verdicts":  {string(diagnose.Unknown), string(diagnose.Healthy), string(diagnose.Diagnosed), string(diagnose.Inconclusive)},
		"standings": {string(diagnose.Hypothesis), string(diagnose.Supported), string(diagnose.Established)},
		"findings":  {dryrun.Check, preflight.UnreadableField, "ignore-annotation", "namespace-mode", "namespace-missing", "unreadable-input"},
		"exits":     {"0", "1", "2", "3", "4", "75"},
		"events": {
			controller.DiagnosisChanged, controller.JobHealthy, controller.StragglerSeen, controller.BottleneckSeen,
			controller.PromptInvalid, controller.ExplanationFailed, controller.ExplanationLeftOut, controller.NominationRefused,
			"PolicyLoaded", "PolicyBroken", "SignatureLoaded", "SignatureBroken", "PolicyBundleLoaded", "PolicyBundleBroken",
		},
		"states": {string(gang.Paused), string(gang.Suspended)},
		"limits": {quota.Now.String(), quota.Never.String(), quota.Unsure.String()},
		"annotations": {
			controller.Healthy, controller.Error, controller.Analysis, controller.Solution, controller.Diagnosis, controller.Waiting,
			webhook.AskAnnotation, webhook.PolicyLabel, check.IgnoreAnnotation, check.ReasonAnnotation,
		},
	}
	for v := fit.Unknown; v <= fit.Fragmented; v++ {
		printed["fit"] = append(printed["fit"], v.String())
	}
	for _, rule := range []quota.Rule{
		quota.RuleQueueMissing, quota.RuleQueueClosed, quota.RuleQueueQuota, quota.RuleObject, quota.RuleRange, quota.RuleAmount,
		quota.RuleQuota, quota.RuleMembers, quota.RulePool, quota.RuleDevices,
	} {
		printed["rules of limits"] = append(printed["rules of limits"], string(rule))
		held := fit.Result{Verdict: fit.Fits, Violations: []quota.Violation{{Rule: rule, When: quota.Never}}}
		printed["fit"] = append(printed["fit"], held.Answer())
	}
	for _, v := range []diagnose.Verdict{diagnose.Unknown, diagnose.Healthy, diagnose.Diagnosed, diagnose.Inconclusive} {
		printed["health"] = append(printed["health"], report.HealthyWord(v))
	}
	for _, kind := range []evidence.Kind{evidence.Log, evidence.Event, evidence.Status, evidence.Exit, evidence.Node, evidence.Metric, evidence.Frame} {
		printed["evidence"] = append(printed["evidence"], string(kind))
	}
	jobs, _, err := newRoot(&shell.Shell{Name: "signalbox"}).Find([]string{"get", "jobs"})
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(jobs.Flags().Lookup("state").Value.Type(), "|") {
		if name != "-" {
			printed["phases"] = append(printed["phases"], name)
		}
	}
	for _, need := range []int{shell.ExitFine, shell.ExitFindings, shell.ExitUsage, shell.ExitOurs, shell.ExitUnknown, shell.ExitBusy} {
		printed["exits"] = append(printed["exits"], strconv.Itoa(need))
	}
	for s := finding.Note; s <= finding.Error; s++ {
		printed["severities"] = append(printed["severities"], s.String())
	}
	for _, c := range append(signature.Categories(), signature.Category{Slug: signature.HealthyCategory}) {
		printed["categories"] = append(printed["categories"], c.Slug)
		printed["owners"] = append(printed["owners"], string(c.Owner))
	}
	for _, r := range reference.Rules() {
		printed["rules"] = append(printed["rules"], r.ID)
		printed["categories"] = append(printed["categories"], r.Category)
		printed["retry"] = append(printed["retry"], string(r.Retry))
		printed["roles"] = append(printed["roles"], string(r.Role))
	}
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range catalog.All() {
		printed["signatures"] = append(printed["signatures"], s.ID)
		printed["categories"] = append(printed["categories"], s.Category)
	}
	known := reference.Names(shelves())
	for what, names := range printed {
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if name != "" && !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
				t.Errorf("%s: explain does not know %q", what, name)
			}
		}
	}
	var out bytes.Buffer
	if code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &out, Now: time.Now}, []string{"explain", "gpu-oom"}); code != shell.ExitFine {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	for _, want := range []string{"gpu-oom (category)", "device memory exhausted", "the author of the job", "- gpu-oom-torch"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("explain gpu-oom does not say %q:\n%s", want, out.String())
		}
	}
}

// A name that is none is looked for in every part of the reference, in several ways: reading it each time took seconds.
func TestTheReferenceIsReadOnce(t *testing.T) {
	for _, s := range shelves() {
		if _, err := s.Entries(); err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(1, func() { _, _ = s.Entries() }); n > 2 {
			t.Errorf("reading %s again takes %v allocations", s.Name, n)
		}
	}
}
