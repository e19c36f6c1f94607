// Package kinds reads the resources of training operators into job.Job: one file per
// kind, one literal per file. A reader holds no client; whatever else it needs (a
// runtime that the job names) it asks for through Needs and is handed.
//
// Readers apply the defaults that exist only in the operators' controllers, because
// an admission review and the stored object both show nothing but user input.
package kinds

//go:generate go run generate.go

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Kind is one kind of training job: everything the rest of the project knows about it.
type Kind struct {
	// Name is "PyTorchJob", as docs and flags have it. It is unique: where two groups have a kind of one
	// name, the one that most people mean has it, the other is called with its group, as kubectl does.
	Name     string
	Resource string                    // plural, for the API, RBAC and the webhook: "pytorchjobs"
	GVKs     []schema.GroupVersionKind // all versions this reader understands
	Doc      string                    // what it reads, what it ignores, in a few sentences
	// Runs says, to explain a failure of such a job, which pod starts which, whose end is the job's, and what
	// is only a consequence when one member fails.
	Runs Told
	// Scale is where the subresource scale writes the number of pods (specReplicasPath of the CRD);
	// empty: the kind has no such subresource.
	Scale string
	// Needs names the other objects the reader wants to see; nil: none.
	Needs func(*unstructured.Unstructured) []Want
	// Read turns the object into a job. A wrong type or value is a *ReadError that names
	// the path, what is there and what was expected; what could be read is returned beside it
	// as far as it goes (nil if nothing could).
	Read func(*unstructured.Unstructured, Got) (*job.Job, error)
	// Pods selects the pods of a job by label. It may select too much (jobs of two kinds with
	// one name); the caller checks owners.
	Pods func(job.Ref) labels.Selector
	// AlsoPods selects pods that have no label in common with those, by what the operator wrote
	// into the status; nil, or nil for an answer: there are none.
	AlsoPods func(*unstructured.Unstructured) labels.Selector
	// Between are the kinds of objects between a job and its pods; none: it owns them itself.
	Between []schema.GroupVersionKind
	// NamedAt is where the status has the name of the first of these, which AlsoPods asks for; nil: nowhere.
	NamedAt []string
	// Traces selects pods of a job by what the operator writes on them and Pods does not ask for; nil: there is
	// nothing. As Pods it may select too much.
	Traces func(job.Ref) labels.Selector
	// Place says which role and which index in the role a pod has.
	Place func(pod *corev1.Pod) (role string, index int, ok bool)
	// Operator is what the controller of the kind does, Versions what another one does that has the
	// jobs of a version.
	Operator Operator
	Versions map[string]*Operator
	// State reads the status the operator wrote, with the operator's quirks.
	State func(*unstructured.Unstructured) State
	// Completed are by role the pods that have completed for good, of those that would run together: no operator makes them
	// again. nil: the status does not say.
	Completed func(*job.Job) map[string]int
}

// Told is a text in the two languages in which a model may be asked.
type Told struct{ English, Chinese string }

// API is the name of the kind in the API, which its objects bear: MPIJob of MPIJob.batch.tensorstack.dev.
func (k *Kind) API() string { return k.GVKs[0].Kind }

// Select is Pods and AlsoPods: a pod of the job is selected by one of them.
func (k *Kind) Select(ref job.Ref, u *unstructured.Unstructured) []labels.Selector {
	out := []labels.Selector{k.Pods(ref)}
	if k.AlsoPods != nil {
		if also := k.AlsoPods(u); also != nil {
			out = append(out, also)
		}
	}
	return out
}

// Objects between jobs and their pods.
var (
	batchJobs    = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	statefulSets = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	pods         = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// Want names an object that a reader needs.
type Want struct {
	GVK             schema.GroupVersionKind
	Namespace, Name string // Namespace is empty for cluster-scoped objects
}

// Got answers wants. A nil Got knows nothing: every answer is Unknown.
type Got func(Want) (*unstructured.Unstructured, job.Presence)

// Get is the answer to one want; it is safe on a nil Got.
func (g Got) Get(w Want) (*unstructured.Unstructured, job.Presence) {
	if g == nil {
		return nil, job.Unknown
	}
	return g(w)
}

// Phase is where a job stands in its life, in one vocabulary for all kinds.
type Phase int

const (
	PhaseUnknown Phase = iota // the operator has not said anything yet
	Created                   // accepted; no pod runs yet
	Running                   // the operator says it runs (which does not mean that all pods do)
	Restarting                // pods are being replaced after a failure
	Suspended                 // asked to have no pods, or waiting in a queue
	Succeeded                 // the operator says it ended well (some kinds lie; see Kind.Doc)
	Failed                    // ended badly; nothing changes any more
)

// State is what the operator says about a job.
type State struct {
	Phase           Phase
	Reason, Message string // of the condition that decided the phase
	Since           string // RFC 3339, as written; empty: not said
	// Trigger is the pod or task that ended the job, where the operator names it.
	Trigger string
}

// stopReasons are those with which operators end a job because somebody asked for it
// (FrameworkController pkg/apis/frameworkcontroller/v1/completion.go, StopFrameworkRequested). OpenPAI shows an
// attempt that ended with -220 as stopped, too, though nobody may have asked for it
// (src/rest-server/src/models/v2/job/k8s.js, convertState).
var stopReasons = []string{"JobCancelled", stopRequested, rayStopped, volcanoAborted, volcanoTerminated}

const stopRequested = "StopFrameworkRequested (-210)"

// Stopped says that the job ended because somebody asked for it: operators call it failed.
func (s State) Stopped() bool { return s.Phase == Failed && slices.Contains(stopReasons, s.Reason) }

// ByPolicy says that a policy of the job's own ended it, which Message names.
func (s State) ByPolicy() bool { return s.Phase == Failed && s.Reason == volcanoByPolicy }

// StateOf is what the operator says of a job, held against what the job asks for: where a pause is over and the
// operator calls the job suspended still, it resumes.
func StateOf(k *Kind, u *unstructured.Unstructured, j *job.Job) State {
	if k.State == nil {
		return State{}
	}
	s := k.State(u)
	if s.Phase == Suspended && j != nil && !j.Suspended && j.MinPods() > 0 {
		return State{Phase: Created, Reason: s.Reason, Message: "it resumes after a pause", Since: s.Since}
	}
	return s
}

// For finds the kind that reads a group, version and kind; nil if none does.
func For(gvk schema.GroupVersionKind) *Kind {
	for _, k := range All() {
		if slices.Contains(k.GVKs, gvk) {
			return k
		}
	}
	return nil
}
