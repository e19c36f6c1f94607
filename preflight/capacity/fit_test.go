package capacity_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestSmoke(t *testing.T) {
	items := build.Nodes(4, "h100", build.GPUs(8))
	items = append(items, build.Node("h100-x", build.GPUs(8), build.Cordoned()), build.Node("l40s-1", build.GPUs(4), build.Taint("gpu=l40s:NoSchedule")), build.Node("l40s-2", build.GPUs(4), build.Taint("gpu=l40s:NoSchedule")))
	s := build.Cluster(items...)
	p := build.Pod("w", build.Asks("8"))
	r := s.Fit(capacity.Gang{Groups: []capacity.Group{{Name: "Master", Count: 1, Pod: job.Pod{Spec: p.Spec}}, {Name: "Worker", Count: 5, Pod: job.Pod{Spec: p.Spec}}}})
	t.Log(r.String())
	for _, l := range r.Lines() {
		t.Log(l)
	}
	t.Logf("%+v", r)
}
