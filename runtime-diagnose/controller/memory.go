package controller

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// memory is what the controller knows of jobs between two looks. It may be lost at any time:
// what counts stands on the job. Entries are by UID, so that a job of the same name knows
// nothing of the one before.
type memory struct {
	mu   sync.Mutex
	jobs map[types.UID]*remembered
	uids map[Request][]types.UID // by name: each look asks for those of one
}

type remembered struct {
	seen    string // what the caches showed at the last thorough look
	at      time.Time
	result  diagnose.Result
	told    string             // fingerprint of what was told as an Event alone
	shown   *diagnose.Case     // beside the whole result, what a model is shown; nil: the result is slim
	looks   int                // thorough looks at this state that found no cause
	stories map[string]*stance // by fingerprint of the finding
	key     Request
	watched watched
	spread  spread
	// untouched says that the job was created and nothing has become of it since; see early.
	untouched atomic.Bool
	// reviewed says that it was asked what admission says of the job.
	reviewed bool
	warned   Remembered // what it said; the caches may be behind
	noted    bool       // that was written by itself
	note     turn       // for writing it by itself
	turn     turn       // for looking at the job while it has no pods
	// listens says that the job is looked at again when an Event comes that may be about it; news counts those.
	listens atomic.Bool
	news    atomic.Int64
}

// slim keeps of the result what is said of it again and again: a job stays for weeks after its end, and
// the excerpts of a thousand logs are many megabytes.
func (r *remembered) slim() {
	r.shown = nil
	all := r.result
	r.result = diagnose.Result{
		Job: all.Job, Verdict: all.Verdict, Waiting: all.Waiting, Category: all.Category, Error: all.Error, Analysis: all.Analysis,
		Solution: all.Solution, Remarks: all.Remarks, Root: all.Root, Coverage: all.Coverage, Observed: all.Observed,
		Attempts: all.Attempts,
	}
	for _, e := range all.Effects {
		r.result.Effects = append(r.result.Effects, diagnose.Cause{
			Signature: e.Signature, Source: evidence.Source{Pod: e.Source.Pod}, Cites: slices.Clone(e.Cites[:min(1, len(e.Cites))]),
		})
	}
}

// spread is a failure that has not come to rest.
type spread struct {
	since time.Time
	seen  string // what the caches showed at the last look
}

// stance is where a finding stands with the model.
type stance struct {
	story *diagnose.Story // nil: none yet, or none to be had
	done  bool            // answered or given up
}

func (m *memory) of(uid types.UID, key Request) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[uid]; r != nil {
		return r
	}
	return m.add(uid, key)
}

// add makes an entry; the lock is held.
func (m *memory) add(uid types.UID, key Request) *remembered {
	if m.jobs == nil {
		m.jobs, m.uids = map[types.UID]*remembered{}, map[Request][]types.UID{}
	}
	r := &remembered{stories: map[string]*stance{}, key: key}
	m.jobs[uid] = r
	m.uids[key] = append(m.uids[key], uid)
	return r
}

// introduce notes a job that was just created, and what admission said of it, unless it is known.
func (m *memory) introduce(uid types.UID, key Request, warned Remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs[uid] != nil {
		return
	}
	r := m.add(uid, key)
	r.reviewed, r.warned = true, warned
	r.untouched.Store(true)
}

// touch notes that something has become of the jobs of a name.
func (m *memory) touch(key Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, uid := range m.uids[key] {
		m.jobs[uid].untouched.Store(false)
	}
}

// untouched is the job of a name where there is one, and nothing has become of it since it was created; else nil.
func (m *memory) untouched(key Request) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if of := m.uids[key]; len(of) == 1 && m.jobs[of[0]].untouched.Load() {
		return m.jobs[of[0]]
	}
	return nil
}

// forget drops all jobs of that name except the one that is there now; "" is nobody.
func (m *memory) forget(key Request, except types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var left []types.UID
	for _, uid := range m.uids[key] {
		if uid == except {
			left = []types.UID{uid}
			continue
		}
		delete(m.jobs, uid)
	}
	if left == nil {
		delete(m.uids, key)
	} else {
		m.uids[key] = left
	}
}

// forgetKind drops all jobs of a kind.
func (m *memory) forgetKind(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid, r := range m.jobs {
		if r.key.Kind == kind {
			delete(m.jobs, uid)
			delete(m.uids, r.key)
		}
	}
}

// story answers whether the model was asked about a finding, and with what.
func (m *memory) story(uid types.UID, print string) (stance, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[uid]; r != nil && r.stories[print] != nil {
		return *r.stories[print], true
	}
	return stance{}, false
}

// setStory notes where a finding stands. A job that is forgotten stays so.
func (m *memory) setStory(uid types.UID, print string, s stance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.jobs[uid]
	if r == nil {
		return
	}
	if len(r.stories) >= mostStories && r.stories[print] == nil {
		clear(r.stories) // a job whose finding changes that often has no story worth keeping
	}
	r.stories[print] = &s
}

// unsetStory forgets that the model was to be asked: it had too much to do.
func (m *memory) unsetStory(uid types.UID, print string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[uid]; r != nil {
		delete(r.stories, print)
	}
}

const mostStories = 16
