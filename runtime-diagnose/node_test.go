package diagnose_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func TestTheNodeIsTheDifference(t *testing.T) {
	driver := "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver"
	oom := "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 512.00 MiB is free."
	lost := "torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5"
	cases := map[string]struct {
		says  [4]string // the pods' last lines; two pods on a node
		owner signature.Domain
		named bool
	}{
		"both pods of one node, none of the other": {[4]string{driver, driver, lost, lost}, signature.Platform, true},
		"pods of both nodes":                       {[4]string{driver, lost, driver, lost}, signature.Platform, false},
		"one pod is not a node":                    {[4]string{driver, lost, lost, lost}, signature.Platform, false},
		"memory is the program's, whatever node":   {[4]string{oom, oom, lost, lost}, signature.User, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Job: train(3), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon}
			for i, pod := range names(4) {
				c.Pods = append(c.Pods, ended(pod, []string{"gpu-1", "gpu-2"}[i/2], 1, "Error", noon))
				c.Logs = append(c.Logs, logOf(pod, tc.says[i]))
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if r.Root == nil || r.Root.Owner != tc.owner {
				t.Fatalf("owner of %+v; want %s", r.Root, tc.owner)
			}
			if got := strings.Contains(r.Analysis, "the difference is node gpu-1"); got != tc.named {
				t.Errorf("node named: %v, want %v: %s", got, tc.named, r.Analysis)
			}
		})
	}
}
