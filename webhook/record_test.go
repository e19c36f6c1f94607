package webhook

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// fullReview is a review that names nodes wherever it may.
func fullReview() *preflight.Report {
	return &preflight.Report{
		Fit: &fit.Result{
			Verdict: fit.Full, Placed: 4, Wanted: 6, WaitsForOthers: true, Change: "fits with 3 Workers", Changes: []string{"fits with 3 Workers"},
			Plan:      []fit.Placement{{Group: "Worker", Node: "node-of-others", Count: 4}},
			Shortfall: []fit.Shortfall{{Resource: "nvidia.com/gpu", Asked: 16, Free: 8, LargestFree: 5, LargestAsked: 8, LargestPods: 2, LargestFit: 0}},
			Rejected:  fit.Rejections{Total: 12, Cordoned: 1, Full: 6, Selector: 5}, Usable: 6, Group: "Worker", Assumed: []string{"2 pods of others wait"},
			Asks:       []fit.Ask{{Role: "Worker", Roles: "2 Workers", Pods: 2, Each: job.Resources{corev1.ResourceCPU: 32000}}},
			Preempts:   &fit.Preemption{Class: "high", Priority: 7, Pods: 3, Victims: []fit.Victim{{Namespace: "theirs", Name: "pod-of-others", Pods: 3}}},
			Idle:       "on idle nodes it fits with 5 Workers instead of 6",
			Violations: []quota.Violation{{Rule: quota.RuleQuota, When: quota.Never, Kind: "ResourceQuota", Namespace: "ml", Name: "gpu", Message: "16 asked; 8 allowed"}},
		},
		Findings: []finding.Finding{{Check: "priority-class-missing", Severity: finding.Error, Path: "spec.x", Message: "is not there", Remedy: "Name one.", Facts: []finding.Fact{{Name: "a", Value: "node-of-others"}}, Rule: "quota"}},
		Rulings:  []preflight.Ruling{{Policy: "whole-node", Effect: preflight.Warn, Message: "takes a node"}},
		Skipped:  []preflight.Skip{{Check: "a", Reason: "panicked", Failed: true}},
		Revision: "r1", Ran: 7,
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	want := fullReview()
	r, ok := RecordOf(append([]string{"[shm-missing] spec: none"}, recordLines(want, true, "v1.2.3")...))
	if !ok {
		t.Fatal("no record is read")
	}
	want.Fit.Preempts = want.Fit.Preempts.Unnamed()
	if diff := cmp.Diff(want.Fit, r.Result()); diff != "" {
		t.Errorf("the fit (-want +got):\n%s", diff)
	}
	if len(r.Findings) != 1 || r.Findings[0].Severity != finding.Error || r.Findings[0].Remedy == "" || len(r.Findings[0].Facts) != 1 || r.Found()[0].Rule != "quota" {
		t.Errorf("findings: %+v", r.Findings)
	}
	if len(r.Rulings) != 1 || r.Rulings[0].Effect != preflight.Warn || len(r.Failed) != 1 || r.Revision != "r1" || r.Version != "v1.2.3" || r.Ran != 7 {
		t.Errorf("the record is %+v", r)
	}
}

// TestARecordNamesNodesOnlyForWhoMayListThem looks at every byte of it.
func TestARecordNamesNodesOnlyForWhoMayListThem(t *testing.T) {
	r, ok := RecordOf(recordLines(fullReview(), false, "v1.2.3"))
	if !ok || r.Fit.Nodes != nil {
		t.Fatalf("read: %t, nodes: %+v", ok, r.Fit.Nodes)
	}
	if text, err := json.Marshal(r); err != nil || strings.Contains(string(text), "-of-others") {
		t.Errorf("somebody else's node or pod is named: %s, %v", text, err)
	}
	if got, want := r.Result().String(), "more than the ResourceQuota allows; 4 of 6 pods fit now: "; !strings.HasPrefix(got, want) {
		t.Errorf("the answer is %q; want it to begin with %q", got, want)
	}
}

// TestWhatANoMayBecomeIsForEverybody: who may not list nodes is told no never where others are told not now.
func TestWhatANoMayBecomeIsForEverybody(t *testing.T) {
	for name, of := range map[string]fit.Result{
		"nodes are away":           {WithNodesBack: true},
		"nodes may come":           {Autoscaler: "Karpenter"},
		"no node would help":       {Autoscaler: "Karpenter", Unresolvable: true},
		"never, as far as is seen": {},
	} {
		t.Run(name, func(t *testing.T) {
			of.Verdict, of.Wanted, of.Group = fit.TooBig, 6, "Worker"
			report := fullReview()
			report.Fit = &of
			r, ok := RecordOf(recordLines(report, false, "v1.2.3"))
			if !ok || r.Fit.Nodes != nil {
				t.Fatalf("read: %t, nodes: %+v", ok, r.Fit.Nodes)
			}
			got := r.Result()
			if got.WithNodesBack != of.WithNodesBack || got.NodesToCome() != of.NodesToCome() || strings.Join(got.Assumed, "") != of.NodesToCome() {
				t.Errorf("%+v; want what is so of %+v", got, of)
			}
		})
	}
}

// TestALongRecordSaysWhatItLeavesOut has more than there is room for: the plan goes first, then findings.
func TestALongRecordSaysWhatItLeavesOut(t *testing.T) {
	long := fullReview()
	for i := range 900 {
		long.Fit.Plan = append(long.Fit.Plan, fit.Placement{Group: "Worker", Node: fmt.Sprintf("gpu-%x", i*7919%65521), Count: i%8 + 1})
	}
	r, ok := RecordOf(recordLines(long, true, "v1.2.3"))
	if !ok || !r.Fit.Nodes.Unlisted || len(r.Fit.Nodes.Plan) > 0 || r.Left != 0 {
		t.Errorf("a long plan: read %t, %+v, %d left out", ok, r.Fit.Nodes, r.Left)
	}
	for i := range 400 {
		long.Findings = append(long.Findings, finding.Finding{Check: fmt.Sprintf("check-%x", i*7919%65521), Severity: finding.Warning, Message: fmt.Sprintf("is %x; %x would do", i*104729%999983, i*1299709%999979)})
	}
	lines := recordLines(long, true, "v1.2.3")
	r, ok = RecordOf(lines)
	if !ok || r.Left == 0 || r.Left+len(r.Findings) != 401 {
		t.Errorf("many findings: read %t, %d of them and %d left out", ok, len(r.Findings), r.Left)
	}
	if r.Findings[0].Check != "priority-class-missing" {
		t.Errorf("the gravest is left out: %+v", r.Findings[0])
	}
	if n := len(lines[0]); n > recordBytes+len(recordPrefix) {
		t.Errorf("the record has %d bytes of %d", n, recordBytes)
	}
	if _, ok := RecordOf([]string{lines[0][:256]}); ok {
		t.Error("a part of a record is taken for one")
	}
}

// What a record unfolds to is bounded: a server that answers with one may not be ours.
func TestARecordUnfoldsToSoMuch(t *testing.T) {
	for size, want := range map[int]bool{mostOfARecord: true, mostOfARecord + 1: false} {
		var packed bytes.Buffer
		to := gzip.NewWriter(&packed)
		if _, err := fmt.Fprintf(to, `{"revision":%q}`, strings.Repeat("r", size-len(`{"revision":""}`))); err != nil {
			t.Fatal(err)
		}
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		if _, ok := RecordOf([]string{recordPrefix + base64.StdEncoding.EncodeToString(packed.Bytes())}); ok != want {
			t.Errorf("a record of %d bytes is read: %v; want %v", size, ok, want)
		}
	}
}
