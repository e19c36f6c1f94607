package kinds

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestPodsLeadToTheirJob(t *testing.T) {
	controller := func(kind, name, uid string) metav1.OwnerReference {
		yes := true
		return metav1.OwnerReference{Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes}
	}
	between := func(owner ...metav1.OwnerReference) Got {
		return func(w Want) (*unstructured.Unstructured, job.Presence) {
			if w.Name != "train-w-0" || w.Namespace != "ml" || w.GVK.Kind != "Job" {
				return nil, job.Absent
			}
			u := &unstructured.Unstructured{}
			u.SetOwnerReferences(owner)
			return u, job.Present
		}
	}
	set, batch := job.Ref{Kind: "JobSet", Namespace: "ml", Name: "train", UID: "2"}, job.Ref{Kind: "Job", Namespace: "ml", Name: "train", UID: "2"}
	for name, tc := range map[string]struct {
		kind *Kind
		ref  job.Ref
		of   metav1.OwnerReference
		got  Got
		want job.Presence
		uid  string
	}{
		"the Job itself":                    {batchJob, batch, controller("Job", "train", "2"), nil, job.Present, "2"},
		"one that does not say by UID":      {batchJob, batch, controller("Job", "train", ""), nil, job.Present, ""},
		"an earlier one of the name":        {batchJob, batch, controller("Job", "train", "1"), nil, job.Absent, "1"},
		"no controller":                     {batchJob, batch, metav1.OwnerReference{}, nil, job.Unknown, ""},
		"a controller of another kind":      {batchJob, batch, controller("ReplicaSet", "train", "2"), nil, job.Unknown, ""},
		"the Job of the JobSet":             {jobSet, set, controller("Job", "train-w-0", "5"), between(controller("JobSet", "train", "2")), job.Present, "2"},
		"the Job of an earlier JobSet":      {jobSet, set, controller("Job", "train-w-0", "5"), between(controller("JobSet", "train", "1")), job.Absent, "1"},
		"the Job of another JobSet":         {jobSet, set, controller("Job", "train-w-0", "5"), between(controller("JobSet", "other", "2")), job.Absent, ""},
		"a Job of nobody":                   {jobSet, set, controller("Job", "train-w-0", "5"), between(), job.Absent, ""},
		"a Job that is gone":                {jobSet, set, controller("Job", "train-w-1", "5"), between(), job.Absent, ""},
		"a Job of which nothing is known":   {jobSet, set, controller("Job", "train-w-0", "5"), nil, job.Unknown, ""},
		"the set of a leader's workers":     {leaderWorkerSet, job.Ref{Kind: "LeaderWorkerSet", Namespace: "ml", Name: "train"}, controller("Pod", "train-0", "5"), between(), job.Unknown, ""},
		"a job that is not stored by a UID": {jobSet, job.Ref{Kind: "JobSet", Namespace: "ml", Name: "train"}, controller("Job", "train-w-0", "5"), between(controller("JobSet", "train", "1")), job.Present, "1"},
	} {
		if owns, uid := tc.kind.Owns(tc.ref, tc.of, tc.got); owns != tc.want || uid != tc.uid {
			t.Errorf("%s: %v of UID %q, want %v of %q", name, owns, uid, tc.want, tc.uid)
		}
	}
}
