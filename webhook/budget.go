package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// budget bounds what requests of many authors hold at the same time: bytes, or values of JSON. One author has half of it, or one
// request however large. Where it is spent, the next is the author who holds least, and of those the one whose last turn is
// longest ago: a queue in the order of arrival would belong to the author who sends most.
type budget struct {
	most, each int64

	mu      sync.Mutex
	taken   int64
	turns   int64                   // that were given
	by      map[string]*authorShare // authors who hold some or wait
	waiting []*budgetRequest        // in the order they came
}

// authorShare is what one author has of a budget.
type authorShare struct {
	held     int64
	requests int   // that hold some or wait
	turn     int64 // the last that was given to it; 0: none
}

type budgetRequest struct {
	author string
	of     *authorShare
	weight int64
	admit  chan struct{} // closed with the lock held, once there is enough left
}

func newBudget(most int64) *budget {
	return &budget{most: most, each: most / 2, by: map[string]*authorShare{}}
}

// acquire waits until an author may hold so much more. What is acquired has to be released.
func (r *budget) acquire(ctx context.Context, author string, weight int64) error {
	r.mu.Lock()
	of := r.by[author]
	if of == nil {
		of = &authorShare{}
		r.by[author] = of
	}
	of.requests++
	e := &budgetRequest{author: author, of: of, weight: weight, admit: make(chan struct{})}
	r.waiting = append(r.waiting, e)
	r.admit()
	r.mu.Unlock()
	select {
	case <-e.admit:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.waiting, e)
	if at < 0 { // it was admitted in the same moment
		return nil
	}
	r.waiting = slices.Delete(r.waiting, at, at+1)
	r.drop(author, of)
	r.admit() // it may have stood before others
	return ctx.Err()
}

func (r *budget) release(author string, weight int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.by[author]
	of.held -= weight
	r.taken -= weight
	r.drop(author, of)
	r.admit()
}

func (r *budget) drop(author string, of *authorShare) {
	if of.requests--; of.requests == 0 {
		delete(r.by, author)
	}
}

// admit lets in the next request, as long as enough is left for it. A next request that needs more holds up the others: it would
// else wait for ever.
func (r *budget) admit() {
	for {
		next := -1
		for i, e := range r.waiting {
			if (e.of.held == 0 || e.of.held+e.weight <= r.each) && (next < 0 || e.of.before(r.waiting[next].of)) {
				next = i
			}
		}
		if next < 0 || r.taken+r.waiting[next].weight > r.most {
			return
		}
		e := r.waiting[next]
		r.waiting = slices.Delete(r.waiting, next, next+1)
		r.turns++
		r.taken += e.weight
		e.of.held += e.weight
		e.of.turn = r.turns
		close(e.admit)
	}
}

func (o *authorShare) before(other *authorShare) bool {
	return o.held < other.held || o.held == other.held && o.turn < other.turn
}

// Names of service accounts, and of the group of all accounts of a namespace, from
// k8s.io/apiserver/pkg/authentication/serviceaccount/util.go.
const (
	serviceAccount  = "system:serviceaccount:"
	serviceAccounts = "system:serviceaccounts:"
)

// authorOf is as whom a user takes part in what all share. Service accounts of one namespace are one author: who may make one of
// them may make a hundred.
func authorOf(user string) string {
	account, is := strings.CutPrefix(user, serviceAccount)
	if !is {
		return user
	}
	namespace, _, _ := strings.Cut(account, ":")
	return serviceAccounts + namespace
}

// headBytes is how much of a body is read before the budget is asked: API servers write who asks before the object
// (k8s.io/api/admission/v1, AdmissionRequest), behind some names of at most 253 letters.
const headBytes = 4 << 10

// authorIn is the author of a review of which the beginning is known; empty where it names none.
func authorIn(head []byte) string {
	_, info, _ := bytes.Cut(head, []byte(`"userInfo":`))
	d := json.NewDecoder(bytes.NewReader(info))
	var tokens [3]json.Token
	for i := range tokens {
		var err error
		if tokens[i], err = d.Token(); err != nil {
			return ""
		}
	}
	user, ok := tokens[2].(string)
	if !ok || tokens[0] != json.Delim('{') || tokens[1] != "username" {
		return ""
	}
	return authorOf(user)
}
