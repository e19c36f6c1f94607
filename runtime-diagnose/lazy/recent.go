package lazy

import "sync"

// mostRecent bounds the texts of one function that are remembered: an answer of a model has tens of sentences, and they
// rest on a few items each.
const mostRecent = 128

// Recent is a function of a text that remembers what it said of the latest ones: each rule about a sentence asks again
// about the same evidence. What it says must not be changed.
type Recent[V any] struct {
	of          func(text string) V
	lock        sync.Mutex
	now, before map[string]V // before: those of now when it was full last
}

// Remember is a function that remembers, for a variable of a package.
func Remember[V any](of func(text string) V) *Recent[V] { return &Recent[V]{of: of} }

// Of is what the function says of a text.
func (r *Recent[V]) Of(text string) V {
	r.lock.Lock()
	said, ok := r.now[text]
	if !ok {
		said, ok = r.before[text]
	}
	r.lock.Unlock()
	if !ok {
		said = r.of(text) // two callers that ask at once both find out
	}
	r.keep(text, said)
	return said
}

func (r *Recent[V]) keep(text string, said V) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if _, ok := r.now[text]; !ok && len(r.now) >= mostRecent/2 {
		r.now, r.before = nil, r.now
	}
	if r.now == nil {
		r.now = map[string]V{}
	}
	r.now[text] = said
}
