package controller

import (
	"maps"
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
	mu    sync.Mutex
	jobs  map[types.UID]*remembered
	uids  map[Request][]types.UID // by name: each look asks for those of one
	fresh map[Request]*fresh      // those that were created and not looked at yet; none of them is in jobs
}

// fresh is a job that was just created: of ten thousand of an hour, most wait for their turn, and what is remembered of one
// that was looked at takes kilobytes.
type fresh struct {
	uid       types.UID
	warned    Remembered // what admission said of it
	turn      *turn
	untouched bool // nothing has become of it since; see early
}

type remembered struct {
	seen      string // what the caches showed at the last thorough look
	at        time.Time
	result    diagnose.Result
	told      string                 // fingerprint of what was told as an Event alone
	shown     *diagnose.Case         // beside the whole result, what a model is shown; nil: the result is slim
	looks     int                    // thorough looks at this state that found no cause
	stories   map[string]*storyState // by fingerprint of the finding
	key       Request
	watched   watched
	unsettled unsettled
	written   written
	// reviewed says that it was asked what admission says of the job.
	reviewed bool
	warned   Remembered // what it said; the caches may be behind
	noted    bool       // that was written by itself
	note     *turn      // for writing it by itself
	turn     *turn      // for looking at the job while it has no pods
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

// unsettled is a failure that has not come to rest.
type unsettled struct {
	since time.Time
	seen  string // what the caches showed at the last look
}

// storyState is where a finding stands with the model.
type storyState struct {
	story *diagnose.Story // nil: none yet, or none to be had
	done  bool            // answered or given up
}

func (m *memory) of(uid types.UID, key Request) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[uid]; r != nil {
		return r
	}
	r := m.add(uid, key)
	if f := m.fresh[key]; f != nil && f.uid == uid {
		r.reviewed, r.warned, r.turn = true, f.warned, f.turn
		delete(m.fresh, key)
	}
	return r
}

// add makes an entry; the lock is held.
func (m *memory) add(uid types.UID, key Request) *remembered {
	if m.jobs == nil {
		m.jobs, m.uids = map[types.UID]*remembered{}, map[Request][]types.UID{}
	}
	r := &remembered{stories: map[string]*storyState{}, key: key, note: new(turn), turn: new(turn)}
	m.jobs[uid] = r
	m.uids[key] = append(m.uids[key], uid)
	return r
}

// introduce notes a job that was just created, and what admission said of it, unless it is known.
func (m *memory) introduce(uid types.UID, key Request, warned Remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.fresh[key]; m.jobs[uid] != nil || f != nil && f.uid == uid {
		return
	}
	if m.fresh == nil {
		m.fresh = map[Request]*fresh{}
	}
	m.fresh[key] = &fresh{uid: uid, warned: warned, turn: new(turn), untouched: true}
}

// touch notes that something has become of the jobs of a name.
func (m *memory) touch(key Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.fresh[key]; f != nil {
		f.untouched = false
	}
}

// untouched says that there is one job of a name, and nothing has become of it since it was created.
func (m *memory) untouched(key Request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.fresh[key]
	return f != nil && f.untouched && len(m.uids[key]) == 0
}

// turnOf is how long it is until the turn of a job that is untouched; once it has come, the job is so no more.
func (m *memory) turnOf(key Request, of *pacer, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.fresh[key]
	if f == nil || !f.untouched {
		return 0
	}
	left := of.until(f.turn, key.Namespace, now, firstEvery)
	f.untouched = left > 0
	return left
}

// forget drops all jobs of that name except the one that is there now; "" is none.
func (m *memory) forget(key Request, except types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.fresh[key]; f != nil && f.uid != except {
		delete(m.fresh, key)
	}
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
	maps.DeleteFunc(m.fresh, func(key Request, _ *fresh) bool { return key.Kind == kind })
}

// story answers whether the model was asked about a finding, and with what.
func (m *memory) story(uid types.UID, print string) (storyState, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.jobs[uid]; r != nil && r.stories[print] != nil {
		return *r.stories[print], true
	}
	return storyState{}, false
}

// setStory notes where a finding stands. A job that is forgotten stays so.
func (m *memory) setStory(uid types.UID, print string, s storyState) {
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
