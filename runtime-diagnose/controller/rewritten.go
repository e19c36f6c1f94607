package controller

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/config/backoff"
)

// written is what this process wrote last on a job.
type written struct {
	texts backoff.Written[[sha256.Size]byte]
	// said is what the last diagnosis that was written says of itself; the text of it is on the job.
	said stored
}

func digest(of map[string]string) (sum [sha256.Size]byte) {
	h := sha256.New()
	m := comparable(of)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(h, "%q%q", key, m[key])
	}
	h.Sum(sum[:0])
	return sum
}

// before is the diagnosis that stands on a job, or, where somebody else has written there, the last of this process: it
// was told, and is not told again.
func (w *written) before(u *unstructured.Unstructured) stored {
	if s, ok := storedOn(u); ok {
		return s
	}
	return w.said
}

// tells notes what was told of a job.
func (w *written) tells(f finding) {
	w.said = stored{Verdict: f.result.Verdict, Category: f.result.Category, State: stateMark(f.state)}
}
