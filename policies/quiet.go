package policies

import (
	"context"
	"io/fs"

	"github.com/signalbox-dev/signalbox/preflight"
)

// quiet is the library without data.
type quiet struct{ revision string }

// Quiet is the library as it is without data: it rules nothing. It answers as Load(Library())
// does, under the same revision, and compiles nothing, which is most of what a short command
// would do.
func Quiet() (preflight.Engine, error) {
	rules, documents, err := collect([]fs.FS{Library()})
	if err != nil {
		return nil, err
	}
	return quiet{digest(rules, documents)}, nil
}

// InForce implements preflight.Engine.
func (q quiet) InForce() preflight.Policies { return q }

// Decide implements preflight.Policies.
func (quiet) Decide(context.Context, preflight.Input, preflight.Question) (preflight.Ruled, error) {
	return preflight.Ruled{}, nil
}

// ReadsAnnotation implements preflight.Policies.
func (quiet) ReadsAnnotation(string) bool { return false }

// Unasked implements preflight.Policies.
func (quiet) Unasked(string, preflight.Stage, string) preflight.Ruled { return preflight.Ruled{} }

// Revision implements preflight.Policies.
func (q quiet) Revision() string { return q.revision }

// Reads implements preflight.Selective.
func (quiet) Reads(preflight.Stage, string) bool { return false }

// Asks implements preflight.Selective.
func (quiet) Asks(preflight.Stage) bool { return false }
