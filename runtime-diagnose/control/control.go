// Package control reads the platform's side of a failure: pod states, exit codes, events,
// conditions and nodes. Each source has one file and one table. Texts of events run
// through the catalog of signatures as well; what is here needs structure, not text.
//
// It reads no logs and ranks nothing. Start reading at Read.
package control

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Input is what the platform says about one job.
type Input struct {
	Job     string // name, for evidence IDs; may be empty
	Pods    []corev1.Pod
	Gone    []corev1.Pod // of earlier attempts: where they were
	Events  []corev1.Event
	Nodes   []corev1.Node
	Absent  []string                     // what was looked for and is not there, as evidence.Bundle has it
	Objects []*unstructured.Unstructured // claims of devices and slices of nodes among others
	Catalog *signature.Catalog
	// Source places a pod: its role and rank. Nil: unknown.
	Source func(*corev1.Pod) evidence.Source
	// NoRejoin says that a container that ended stays lost to the job although it was
	// restarted, as a worker of a ColossalAIJob does.
	NoRejoin bool
	// Complete says that the job ended well and counts no pod that another one made good: failed pods
	// were retries.
	Complete bool
	// FailedAt and DoneAt are when the job failed or ended well by its operator's word; zero: it did not, or nothing says when.
	FailedAt, DoneAt time.Time
	// Least is with how many pods of each role an elastic job goes on; nil: it is none.
	Least map[string]int
	// Updating says that the operator puts other pods in the place of those that are there, a group after the other.
	Updating bool
	// Wanted is how many pods the job wants at least; 0: unknown.
	Wanted int
	Now    time.Time
}

// Seen is what was read.
type Seen struct {
	Sightings []evidence.Observation
	Pods      []Pod
	// Scheduling sums up the scheduler's newest word per pod that waits for a node.
	Scheduling []Unschedulable
	// Enough says that an elastic job runs with as many pods as it needs, and that others of it wait for nodes.
	Enough bool
	// Transient are refusals that are part of a normal start, one sentence each.
	Transient []string
	// Notes are what is worth knowing and no failure of the job, one sentence each.
	Notes []string
}

// Pod is one pod in short.
type Pod struct {
	Namespace  string
	Name       string
	UID        types.UID
	Source     evidence.Source
	Phase      corev1.PodPhase
	Created    time.Time
	Ready      bool
	ReadySince time.Time
	Placed     bool // bound to a node, or past it
	Waiting    string
	Restarts   int32
	Ended      time.Time // first container failure that counts; zero: none or not said
	Exit       *Exit     // first failed container that counts
	Deleted    bool
	// Disrupted says that the platform took the pod away: an eviction, a preemption, the end of its node.
	Disrupted bool
	// Began and Stopped are of the present life of the program, if it has begun; zero: it has not, or goes on.
	Began, Stopped time.Time
	// Past says that another pod took its place and is well, or that the job is complete without it.
	Past bool
	// Program is the container that the pod is there for.
	Program string

	words map[string][2]Word // by container: of its present life and of the one before
}

// Running says that the pod's containers run now.
func (p Pod) Running() bool { return p.Phase == corev1.PodRunning && p.Waiting == "" }

// Read looks at every source.
func Read(in Input) Seen {
	if in.Source == nil {
		in.Source = func(*corev1.Pod) evidence.Source { return evidence.Source{Rank: -1} }
	}
	in.Pods = slices.Clone(in.Pods)
	slices.SortStableFunc(in.Pods, func(a, b corev1.Pod) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	r := &reader{Input: in, phase: map[string]Pod{}}
	for i := range in.Pods {
		r.readPod(&in.Pods[i])
	}
	r.replace()
	r.readClaimedDevices()
	r.readEvents()
	r.nodes = r.inUse()
	r.judgeScheduling()
	for i := range in.Nodes {
		r.readNode(&in.Nodes[i])
	}
	r.readGoneNodes()
	r.bury()
	if r.unsaid > 0 {
		r.seen.Notes = append(r.seen.Notes, fmt.Sprintf("%s on containers and nodes %s left out.", words.Count(r.unsaid, "more remark", "more remarks"), words.Is(r.unsaid)))
	}
	return r.seen
}

type reader struct {
	Input
	seen  Seen
	phase map[string]Pod // by name
	// placed and lost are of all pods: every one has a node; one failed or waits.
	placed, lost bool
	// there and well are of all pods, too: as many are there as the job wants; all of them are well.
	there, well    bool
	newest, oldest time.Time        // when the last and the first of them were made
	present        map[string]bool  // nodes on which they are, but for those that have ended well
	touched        map[string]bool  // nodes on which a pod of the job is or was
	stays          map[string]*stay // by node
	all            *stay
	gone           map[types.UID]evidence.Source // of pods that are not there any more: their places
	scheduling     map[string]int                // by pod: where its newest message is
	nodes          map[string]bool               // on which a pod is that has not ended well
	unsaid         int                           // notes beyond mostNotes
}

func (r *reader) source(pod *corev1.Pod) evidence.Source {
	s := r.Source(pod)
	s.Pod, s.Node = pod.Name, pod.Spec.NodeName
	return s
}

// sight records a sighting of a rule of this package. Messages of the platform quote programs:
// what is kept of them is masked.
func (r *reader) sight(rule *signature.Signature, item evidence.Item, facts map[string]string) {
	item.Times, item.Text = max(1, item.Times), reduce.Plain(item.Text)
	r.seen.Sightings = append(r.seen.Sightings, evidence.Observation{
		Signature: rule, Item: item, Line: item.Text, Facts: facts, Platform: true,
	})
}

// match records every signature of the catalog found in a text of the platform, and says
// whether there was one that can be a cause.
func (r *reader) match(text string, item evidence.Item, over bool) bool {
	if r.Catalog == nil {
		return false
	}
	root := false
	item.Times, item.Text = max(1, item.Times), reduce.Plain(item.Text)
	for _, m := range ofOneLine(r.Catalog.Match(reduce.Plain(text), item.Kind)) {
		r.seen.Sightings = append(r.seen.Sightings, evidence.Observation{
			Signature: m.Signature, Item: item, Line: item.Text, Facts: m.Facts, Platform: true, Over: over,
		})
		root = root || m.Signature.Role == signature.Root
	}
	return root
}

// ofOneLine leaves out what is known of queues where the line says that nodes were tried: schedulers of gangs have one reason for both.
func ofOneLine(all []signature.Match) []signature.Match {
	if !slices.ContainsFunc(all, func(m signature.Match) bool { return m.Signature.ID == "gang-unschedulable" }) {
		return all
	}
	return slices.DeleteFunc(all, func(m signature.Match) bool { return m.Signature.ID == "queue-quota" })
}

// id builds the ID of an item from its parts: "pod/worker-3/trainer/exit".
func id(parts ...string) evidence.ID {
	parts = slices.DeleteFunc(slices.Clone(parts), func(s string) bool { return s == "" })
	return evidence.ID(strings.Join(parts, "/"))
}
