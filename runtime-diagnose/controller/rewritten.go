package controller

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Somebody else may write our annotations for ever: a controller that keeps a job as it is in git, or its author in a loop.
// What is new is written at once; what was written already is written again after a pause that doubles.
const (
	firstRewrite = time.Second
	mostRewrite  = 5 * time.Minute
)

// written is what this process wrote last on a job.
type written struct {
	text  [sha256.Size]byte
	at    time.Time
	pause time.Duration // until the same is written again
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

// wait is how long a text is not written because it was before; 0: it may be.
func (w *written) wait(text map[string]string, now time.Time) time.Duration {
	if w.at.IsZero() || w.text != digest(text) {
		return 0
	}
	return max(0, w.at.Add(w.pause).Sub(now))
}

// note says that a text was written.
func (w *written) note(text map[string]string, now time.Time) {
	sum := digest(text)
	if again := w.text == sum && !w.at.IsZero() && now.Sub(w.at) <= 2*mostRewrite; again {
		w.pause = min(2*w.pause, mostRewrite)
	} else {
		w.pause = firstRewrite
	}
	w.text, w.at = sum, now
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
