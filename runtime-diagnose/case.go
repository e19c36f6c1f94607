package diagnose

import (
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
)

// Case is everything that was collected about one job. Any part may be missing: a case
// of one bare log is a case.
type Case struct {
	Job     *job.Job // nil: no job object (bare logs)
	Kind    *kinds.Kind
	State   kinds.State
	Pods    []corev1.Pod
	Events  []corev1.Event // of the job, its pods and the objects between
	Nodes   []corev1.Node  // those the pods run on
	Objects []*unstructured.Unstructured
	Logs    []Log
	Cluster *cluster.Snapshot // for why a job waits; nil: unknown
	Good    *keep.Good        // the last run of the same job that ended well; nil: none is known
	Watched []rank.Sighting   // what somebody who watched the job while it ran has found
	Missing []string          // sources that failed, as sentences for Coverage
	Absent  []string          // what was looked for and is not there: "Deployment training-operator"
	Now     time.Time
}

// Log is one log of one container. Open may be called more than once; every call
// starts at the first byte that is kept.
type Log struct {
	Source evidence.Source
	// Pasted says that the text comes from kubectl (events, a description), not from a
	// container: signatures of events apply to it too, and it is no proof of progress.
	Pasted bool
	// Understood are lines of a pasted text that are in the case as events already.
	Understood []int
	// Numbers are those of the lines in the log that the text was kept of; nil: all of it is here.
	Numbers []int
	// Past says that what the log tells is over: the container was replaced since by one that
	// runs or has ended well.
	Past bool
	// Skipped are bytes of that log that are not in the text.
	Skipped int64
	Open    func() (io.ReadCloser, error)
}
