package evidence

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
)

// NotALog ends what Missing says of a file that holds no log: what it was passed over for bounds no verdict.
const NotALog = ": it was not read as a log"

// Bundle is everything that was collected about one job. Any part may be missing: a bundle
// of one bare log is a bundle.
type Bundle struct {
	Job     *job.Job // nil: no job object (bare logs)
	Kind    *kinds.Kind
	State   kinds.State
	Pods    []corev1.Pod
	Gone    []corev1.Pod   // of earlier attempts, as they were seen last: history, and members no more
	Events  []corev1.Event // of the job, its pods and the objects between
	Nodes   []corev1.Node  // those the pods run on
	Objects []*unstructured.Unstructured
	Logs    []ContainerLog
	Cluster *cluster.Snapshot // for why a job waits; nil: unknown
	Good    *familiar.Good    // the last run of the same job that ended well; nil: none is known
	Watched []Observation     // what somebody who watched the job while it ran has found
	Missing []string          // sources that failed, as sentences for Coverage
	Unread  bool              // a log that is there could not be opened, and may hold a failure; Missing says which
	Absent  []string          // what was looked for and is not there: "Deployment training-operator"
	Barred  []string          // what whoever asks may not read: "nodes", "node gpu-7"
	Now     time.Time
}

// ContainerLog is one log of one container. Open may be called more than once; every call
// starts at the first byte that is kept.
type ContainerLog struct {
	Source Source
	// Pasted says that the text comes from kubectl (events, a description), not from a
	// container: signatures of events apply to it too, and it is no proof of progress.
	Pasted bool
	// Understood are lines of a pasted text that are in the bundle as events already.
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

// AddLog adds the log of one container, of which nothing else is known.
func (b *Bundle) AddLog(name string, data []byte) {
	b.Logs = append(b.Logs, ContainerLog{
		Source: Source{File: name, Rank: RankIn(name)},
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil },
	})
}

var rankName = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:rank|log)[-_.]?(\d{1,5})(?:\D|$)`)

// RankIn is the rank that a log's file name tells: log-3.txt, train.rank3.log; else -1.
func RankIn(name string) int {
	m := rankName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return -1
	}
	return n
}

// Adopt makes the first training job among the objects that files hold the job of the bundle.
func (b *Bundle) Adopt() {
	for _, o := range b.Objects {
		k := kinds.For(o.GroupVersionKind())
		if k == nil {
			continue
		}
		j, err := k.Read(o, nil)
		b.Kind, b.State = k, kinds.StateOf(k, o, j)
		if err != nil {
			b.Missing = append(b.Missing, "job spec: "+strings.Join(strings.Fields(err.Error()), " "))
		}
		if b.Job = j; j != nil {
			b.onlyOwn()
			return
		}
	}
}

// onlyOwn leaves out pods of other jobs, and what happened to them: "kubectl get pytorchjob/a,pods -o yaml" prints the pods of
// everybody. Pods without a UID come from pasted text and stay.
func (b *Bundle) onlyOwn() {
	own, others := b.Kind.Select(b.Job.Ref, b.Job.Source), map[string]bool{}
	var names []string
	b.Pods = slices.DeleteFunc(b.Pods, func(p corev1.Pod) bool {
		others[p.Name] = p.UID != "" && !b.controls(&p) && !slices.ContainsFunc(own, func(s labels.Selector) bool { return s.Matches(labels.Set(p.Labels)) })
		if others[p.Name] {
			names = append(names, p.Name)
		}
		return others[p.Name]
	})
	b.Events = slices.DeleteFunc(b.Events, func(e corev1.Event) bool {
		return e.InvolvedObject.Kind == "Pod" && others[e.InvolvedObject.Name]
	})
	if len(names) > 0 && len(b.Pods) == 0 { // the job may have none, or their labels were lost on the way here
		b.Missing = append(b.Missing, fmt.Sprintf("pods: %s read, and none has the labels of a pod of %s (%s): %s",
			words.Count(len(names), "pod was", "pods were"), b.Job.Ref.Name, own[0], words.Clip(strings.Join(names, ", "), widestNames)))
	}
}

// widestNames is how much is said of the names of pods that are not the job's, in bytes.
const widestNames = 120

// controls says that the job is the controller of a pod, whatever its labels are: operators of other versions set other ones.
func (b *Bundle) controls(p *corev1.Pod) bool {
	owner, ref := metav1.GetControllerOfNoCopy(p), b.Job.Ref
	if owner == nil || owner.Name != ref.Name || owner.APIVersion != ref.APIVersion || owner.Kind != b.Kind.API() {
		return false
	}
	return p.Namespace == ref.Namespace && (ref.UID == "" || string(owner.UID) == ref.UID)
}

// JobName is the job's name; empty: there is no job object.
func (b *Bundle) JobName() string {
	if b.Job == nil {
		return ""
	}
	return b.Job.Ref.Name
}

// Place asks the kind for a pod's role and index.
func (b *Bundle) Place(pod *corev1.Pod) Source {
	s := Source{Pod: pod.Name, Rank: -1, Node: pod.Spec.NodeName}
	if b.Kind != nil && b.Kind.Place != nil {
		if role, index, ok := b.Kind.Place(pod); ok {
			s.Role, s.Rank = role, index
		}
	}
	return s
}

// JobSource is the job as the API server has it; nil: not read.
func (b *Bundle) JobSource() map[string]any {
	if b.Job == nil || b.Job.Source == nil {
		return nil
	}
	return b.Job.Source.Object
}
