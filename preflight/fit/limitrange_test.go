package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestDefaultsOfTheNamespaceCountBeforeTheFit(t *testing.T) {
	node := build.Node("a", build.Allocatable("cpu", "8"), build.GPUs(8))
	cases := map[string]struct {
		entry string
		gang  gang.Gang
		want  string
	}{
		"nothing written, nothing filled in": {"type: Pod, max: {storage: 1Gi}", in("ml", gangOf(group("Worker", 2, build.Asks("4")))), "fits"},
		"a request is filled in":             {"type: Container, defaultRequest: {cpu: 5}", in("ml", gangOf(group("Worker", 2, build.Asks("4")))), "too-big"},
		"a limit is filled in, and its request": {
			"type: Container, default: {cpu: 5}", in("ml", gangOf(group("Worker", 2, build.Asks("4")))), "too-big",
		},
		"what is written stays": {"type: Container, defaultRequest: {cpu: 5}", in("ml", gangOf(group("Worker", 2, build.Requests("cpu=4", "nvidia.com/gpu=4")))), "fits"},
		"another namespace":     {"type: Container, defaultRequest: {cpu: 5}", in("web", gangOf(group("Worker", 2, build.Asks("4")))), "fits"},
		"what the job was read to ask for is worked out anew": {
			"type: Container, defaultRequest: {cpu: 5}", in("ml", gang.Gang{Groups: []gang.Group{{
				Name: "Worker", Count: 2, Pod: job.Pod{Spec: build.Pod("x", build.Asks("4")).Spec, Requests: job.Resources{"nvidia.com/gpu": 4}},
			}}}), "too-big",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.gang.Groups[0].Pod.Spec.DeepCopy()
			if got := whatif.Answer(t.Context(), ruled(t, rangeOf(tc.entry), nil, node), tc.gang).Verdict.String(); got != tc.want {
				t.Errorf("Fit says %s, want %s", got, tc.want)
			}
			if diff := cmp.Diff(before, tc.gang.Groups[0].Pod.Spec.DeepCopy()); diff != "" {
				t.Errorf("the gang that was asked about has changed (-before +after):\n%s", diff)
			}
		})
	}
}
