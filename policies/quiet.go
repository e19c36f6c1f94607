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

// Decide implements preflight.Engine.
func (quiet) Decide(context.Context, preflight.Input) (preflight.Ruled, error) {
	return preflight.Ruled{}, nil
}

// Revision implements preflight.Engine.
func (q quiet) Revision() string { return q.revision }
