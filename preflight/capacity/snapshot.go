// Package capacity answers whether a gang of pods fits on a cluster, with a proof,
// and what would make it fit. It works on an immutable Snapshot; it is not a
// scheduler: it places nothing, and where it cannot prove an answer it says unknown.
//
// Start reading at Snapshot.Fit.
package capacity

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Snapshot is one view of a cluster; immutable, safe for concurrent use.
type Snapshot struct {
	nodes      []*Node // by name
	taken      time.Time
	incomplete string // why no number may be trusted; empty: complete enough
}

// Node is what the fit knows of one node.
type Node struct {
	Name              string
	Labels            map[string]string
	Taints            []corev1.Taint
	Ready, Cordoned   bool
	Allocatable, Used job.Resources
}

// Builder collects objects into a Snapshot. The zero value is ready to use. It keeps
// what it is given and expects nobody to change it.
type Builder struct{ snap Snapshot }

// Node adds a node. The first node makes nodes known; see Complete.
func (b *Builder) Node(*corev1.Node) {}

// Pod adds a pod; finished pods and pods without a node take no room.
func (b *Builder) Pod(*corev1.Pod) {}

// Object adds any other object (claims, quotas, runtimes, priority classes …).
func (b *Builder) Object(*unstructured.Unstructured) {}

// Complete says that the view holds all objects of a resource: what is not there is
// absent, not unknown.
func (b *Builder) Complete(...schema.GroupResource) {}

// Incomplete records why the view must not be trusted (caches not synced …).
func (b *Builder) Incomplete(why string) { b.snap.incomplete = why }

// Snapshot returns the view. The builder must not be used afterwards.
func (b *Builder) Snapshot(taken time.Time) *Snapshot { b.snap.taken = taken; return &b.snap }

// Lookup finds an object by kind and name. namespace is empty for cluster-scoped ones.
func (s *Snapshot) Lookup(gvk schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, job.Presence) {
	return nil, job.Unknown
}

// Nodes are the nodes by name. The slice and what it points at are read-only.
func (s *Snapshot) Nodes() []*Node { return s.nodes }

// Taken is when the view was made.
func (s *Snapshot) Taken() time.Time { return s.taken }

// Incomplete is why no number may be trusted; empty when they may.
func (s *Snapshot) Incomplete() string { return s.incomplete }

// GangOf is what of a job has to run together.
func GangOf(j *job.Job) Gang {
	return Gang{Name: j.Ref.Name, Namespace: j.Ref.Namespace, MinMembers: j.Gang.MinMembers}
}

// Fit answers whether the gang fits, and proves it.
func (s *Snapshot) Fit(g Gang) Result { return Result{} }

// String is the result in one stable paragraph: the verdict, both numbers, the reason.
func (r Result) String() string { return r.Verdict.String() }
