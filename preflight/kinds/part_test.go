package kinds_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// TestPartsAreThoseOfTheKind: a part is found by the kind's own names, and by usual names only
// where the author of a job names its roles.
func TestPartsAreThoseOfTheKind(t *testing.T) {
	for name, tc := range map[string]struct {
		ref    job.Ref
		role   string
		part   kinds.Part
		trains bool
	}{
		"a Chief leads":                       {job.Ref{Kind: "TFJob", APIVersion: "kubeflow.org/v1"}, "Chief", kinds.Leader, true},
		"a PS serves":                         {job.Ref{Kind: "TFJob", APIVersion: "kubeflow.org/v1"}, "PS", kinds.Server, false},
		"no role of a PyTorchJob is a driver": {job.Ref{Kind: "PyTorchJob", APIVersion: "kubeflow.org/v1"}, "driver", kinds.PartUnknown, true},
		"T9k writes it small":                 {job.Ref{Kind: "XGBoostTrainingJob", APIVersion: "batch.tensorstack.dev/v1beta1"}, "master", kinds.Leader, true},
		"the launcher of both MPIJobs":        {job.Ref{Kind: "MPIJob", APIVersion: "kubeflow.org/v2beta1"}, "Launcher", kinds.Launcher, false},
		"a launcher of one's own":             {job.Ref{Kind: "JobSet", APIVersion: "jobset.x-k8s.io/v1alpha2"}, "Launcher", kinds.Launcher, false},
		"a name that says nothing":            {job.Ref{Kind: "JobSet", APIVersion: "jobset.x-k8s.io/v1alpha2"}, "west", kinds.PartUnknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := kinds.Of(tc.ref)
			if got, trains := o.Part(tc.role), o.Trains(&job.Role{Name: tc.role}); got != tc.part || trains != tc.trains {
				t.Errorf("%s of %s has part %d, trains %t; want %d, %t", tc.role, tc.ref.Kind, got, trains, tc.part, tc.trains)
			}
		})
	}
}
