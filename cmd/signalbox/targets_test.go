package main

import (
	"strings"
	"testing"
)

func TestNamesAloneAreJobs(t *testing.T) {
	for args, want := range map[string]string{
		"oom nan":            "any/oom any/nan",
		"pytorchjob oom nan": "PyTorchJob/oom PyTorchJob/nan",
		"pytorchjb oom":      "no such kind of job",
		"oom pytorchjob/nan": "expected KIND NAME… or KIND/NAME…",
		"po oom":             "pod/oom",
	} {
		t.Run(args, func(t *testing.T) {
			targets, err := readTargets(strings.Fields(args))
			var got []string
			for _, to := range targets {
				switch {
				case to.any:
					got = append(got, "any/"+to.name)
				case to.kind == nil:
					got = append(got, "pod/"+to.name)
				default:
					got = append(got, to.kind.Name+"/"+to.name)
				}
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if text := strings.Join(got, " "); !strings.Contains(text, want) {
				t.Errorf("readTargets %s: %s; want %s", args, text, want)
			}
		})
	}
}
