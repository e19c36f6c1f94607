package fit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

const amd = "amd.com/gpu"

// workers is an answer about two pods that ask for eight devices each.
func workers(r fit.Result) fit.Result {
	r.Wanted, r.Asks = 2, []fit.Ask{{Role: "Worker", Roles: "2 Workers", Pods: 2, Each: job.Resources{amd: 8}}}
	return r
}

// TestOneAnswerOneSentence: the finding (OnNodes), the shell (String) and the diagnosis (Why, Lacks)
// say the same words of the same thing.
func TestOneAnswerOneSentence(t *testing.T) {
	for name, tc := range map[string]struct {
		answer fit.Result
		why    string
	}{
		"too few at all": {
			fit.Result{Verdict: fit.TooBig, Placed: 1, Usable: 1, Shortfall: []fit.Shortfall{{Resource: amd, Asked: 16, Free: 8, LargestFree: 8, LargestAsked: 8, LargestPods: 2, LargestFit: 1}}},
			"they ask for 16 amd.com/gpu, but the 1 node they may use has 8 even idle",
		},
		"too few now": {
			fit.Result{Verdict: fit.Full, Placed: 1, Usable: 2, Shortfall: []fit.Shortfall{{Resource: amd, Asked: 16, Free: 8, LargestFree: 8, LargestAsked: 8, LargestPods: 2, LargestFit: 1}}},
			"they ask for 16 amd.com/gpu, but only 8 are free on the 2 nodes they may use",
		},
		"in pieces": {
			fit.Result{Verdict: fit.Fragmented, Usable: 4, Shortfall: []fit.Shortfall{{Resource: amd, Asked: 16, Free: 2000, LargestFree: 6, LargestAsked: 8, LargestPods: 2}}},
			"they ask for 8 amd.com/gpu each, but no node has more than 6 free (2000 in all)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := workers(tc.answer)
			for where, said := range map[string]string{"shell": r.String(), "finding": r.OnNodes(), "why": r.Why(), "lacks": r.Lacks(amd)} {
				if !strings.HasSuffix(said, tc.why) {
					t.Errorf("%s says %q; want at its end %q", where, said, tc.why)
				}
			}
		})
	}
}

// TestWhatRulesMatterNotIsNotSaid: of a pod that is larger than any node nothing else is told, and of
// room nothing where every node is refused; where a rule between pods is the reason, no word of devices.
func TestWhatRulesMatterNotIsNotSaid(t *testing.T) {
	none := []fit.Shortfall{{Resource: amd, Asked: 16, LargestAsked: 8, LargestPods: 2}, {Resource: "cpu", Asked: 4000, Free: 64000, LargestFree: 32000, LargestAsked: 2000, LargestPods: 2}}
	for name, tc := range map[string]struct {
		answer        fit.Result
		text          string
		lines, silent []string
	}{
		"no node has the device": {
			fit.Result{Verdict: fit.TooBig, PodTooBig: true, Usable: 2, Reason: "2 Workers need a node each", Shortfall: none, Rejected: fit.Rejections{Total: 2, TooSmall: 2}},
			"0 of 2 pods fit: one Worker asks for 8 amd.com/gpu, but no node it may use has any; 2 nodes too small",
			[]string{"  short    amd.com/gpu: 8 asked by one pod, 0 on the largest node it may use"},
			[]string{"because", "cpu:"},
		},
		"every node is refused": {
			fit.Result{Verdict: fit.TooBig, PodTooBig: true, Shortfall: none, Rejected: fit.Rejections{Total: 14, Selector: 12, Cordoned: 2}},
			"0 of 2 pods fit: no node may take them (2 nodes cordoned, 12 not selected)",
			[]string{"  nodes    2 nodes cordoned, 12 not selected"},
			[]string{"short"},
		},
		"a rule between pods": {
			fit.Result{Verdict: fit.TooBig, Placed: 1, Usable: 1, Reason: "2 Workers keep apart over zone; the nodes that may take them are in 1 domain", Rejected: fit.Rejections{Total: 1, Open: 1}},
			"1 of 2 pods fit: 2 Workers keep apart over zone; the nodes that may take them are in 1 domain",
			[]string{"  because  2 Workers keep apart over zone; the nodes that may take them are in 1 domain"},
			[]string{"short"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := workers(tc.answer)
			if got := r.String(); got != tc.text {
				t.Errorf("String() is %q, want %q", got, tc.text)
			}
			lines := r.Lines()
			for _, want := range tc.lines {
				if !slices.Contains(lines, want) {
					t.Errorf("lines are %q; want among them %q", lines, want)
				}
			}
			for _, word := range tc.silent {
				if slices.ContainsFunc(lines, func(l string) bool {
					return strings.HasPrefix(strings.TrimSpace(l), word) || strings.Contains(l, "  "+word)
				}) {
					t.Errorf("lines are %q; want none about %q", lines, word)
				}
			}
		})
	}
}
