package main

import (
	"strings"
	"testing"
)

const ran = `goos: linux
cpu: a machine
commit: abc
date: 2026-01-02
"load-average: 0.50, 0.40, 0.30"
,all,
,sec/op,CI
Fit/nodes=5000/frag=high/pods=1024/roles=3/yes-2,0.0009,∞
Live/5000_nodes/100000_pods-2,1,∞
geomean,0.03,

,all,
,p50-sec,CI
Fit/nodes=5000/frag=high/pods=1024/roles=3/yes-2,0.00041,2%
Difference/different=10/podsPerNode=20/answer-2,5.5e-05,∞
Tied/nodes=1000/one_for_each_rack-2,0.002,∞
Adversary/ties_over_8_topologies-2,0.008,∞

,all,
,p99-sec,CI
Fit/nodes=5000/frag=high/pods=1024/roles=3/yes-2,0.00092,2%
Difference/different=10/podsPerNode=20/answer-2,9.9e-05,∞
Tied/nodes=1000/one_for_each_rack-2,0.004,∞
Adversary/ties_over_8_topologies-2,0.012,∞

,all,
,max-sec,CI
Adversary/ties_over_8_topologies-2,0.0139,∞

,all,
,ended-sec,CI
Adversary/ties_over_8_topologies-2,1.5e-05,∞

,all,
,max-MiB,CI
Adversary/ties_over_8_topologies-2,7.09,∞

,all,
,%unknown,CI
Adversary/ties_over_8_topologies-2,50,∞

,all,
,p50-sec/event,CI
Events/of=claims/nodes=5000-2,3.8e-06,∞

,all,
,p50-sec/first-fit,CI
Events/of=claims/nodes=5000-2,0.0007,∞

,all,
,p99-sec/first-fit,CI
Events/of=claims/nodes=5000-2,0.0016,∞

,all,
,MiB/heap,CI
Live/5000_nodes/100000_pods-2,133,∞
`

func TestThePageSaysWhatTheRunSaid(t *testing.T) {
	r, err := read(strings.NewReader(ran))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	write(&b, r, "# Benchmarks\n\n## One question\n\nold\n\n## A snapshot in a file\n\nMeasured long ago.\n\n## The view\n")
	for _, want := range []string{
		"    goos: linux\n",
		"| claims | 5000 | 100000 | 3.80 µs | 0.700 ms (p99 1.60) |\n",
		"| 1024 pods, fits | 3 | high | – | 0.410 ms (p99 0.920) | – |\n",
		"| 10 | 20 | 0.055 ms (p99 0.099) |\n",
		"| one for each rack | 2.00 ms (p99 4.00) | – |\n",
		"| ties over 8 topologies | 8.00 ms (p99 12.0) | 13.9 ms | 0.015 ms | 7.09 MiB | 50 % |\n",
		"| 5000 nodes, 100000 pods | ",
		" | 133 MiB | ",
		"## One question\n\nMeasured on 2026-01-02, on a machine, at a load average of 0.50, 0.40, 0.30, commit abc.\n",
		"\n## A snapshot in a file\n\nMeasured long ago.\n\n## The view of a real API server\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "old") {
		t.Errorf("what was measured anew stands there as it was:\n%s", b.String())
	}
	if _, err := read(strings.NewReader(",all,\n,sec/op,CI\nFit-2,fast,1%\n")); err == nil {
		t.Error("a number that is none is read")
	}
}
