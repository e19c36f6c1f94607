package preflight

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Reviewer reviews jobs. All fields are read-only after construction; safe for concurrent use.
type Reviewer struct {
	Checks *check.Set
	// Namespaces are checks for jobs of a namespace instead of Checks, by its name.
	Namespaces map[string]*check.Set
	Policies   Engine // nil: no policies
}

// Request is one job to review and everything known about it.
type Request struct {
	Object, Old *unstructured.Unstructured // Old only on update
	Cluster     *cluster.Snapshot          // nil: no cluster view
	Namespace   map[string]string          // labels; nil: unknown
	Supposed    bool                       // the namespace was not looked at: Namespace holds what is supposed of it
	Operation   string                     // CREATE or UPDATE; empty: CREATE
	User        string                     // empty: unknown
	Groups      []string
	// Now is when it is asked; zero: when the view of the cluster was taken.
	Now    time.Time
	DryRun bool
	Live   bool // the view is kept up to date: what it lacks is our fault
	// Admission says that an API server asks before it stores the object: what it refuses itself,
	// and what the operator's webhook refuses, is said there.
	Admission bool
	Source    string
	// Earlier are the runs that came before, as far as a rule reads them; nil: those in the view, if it
	// holds the jobs.
	Earlier       *EarlierFacts
	DuplicateKeys []job.DuplicateKey // keys that the file holds more than once
}
