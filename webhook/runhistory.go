package webhook

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight"
)

// runHistory are how jobs ended, by their series. A job that is deleted is still known, until so many others
// have ended: jobs are often deleted before the next one of their name is created. The zero value is
// ready.
//
// Where there are too many runs, or series, the namespace that has most of them loses the oldest of its own: an author who makes
// thousands of jobs leaves the policies of others what they read.
type runHistory struct {
	mu     sync.Mutex
	byUID  map[types.UID]*endedRun
	series map[string]map[string]*series // by namespace
	n      int                           // of series
	lost   map[string]time.Time          // by namespace: when the newest run ended of which nothing is left
	oldest map[string][]types.UID        // by namespace, in the order in which they were noted
}

type endedRun struct {
	run       preflight.RunFacts
	namespace string
	series    []string
}

type series struct {
	of      []types.UID
	dropped int       // that found no room
	last    time.Time // when the newest of them ended
}

const (
	mostRuns   = 4096  // that are known: some 2 MiB
	mostSeries = 16384 // of which only the number of runs may be left
	mostRunsOf = 32    // of one series
	mostLost   = 4096  // namespaces that are known to miss runs
	// missed is how long a run that found no room is missed: a namespace of thousands of names a week would else never again be
	// known whole.
	missed = 7 * 24 * time.Hour
)

// note takes over how a job ended, if it has.
func (r *runHistory) note(object any) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok || u.GetUID() == "" {
		return
	}
	run, ended := preflight.RunOf(u)
	if !ended {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byUID == nil {
		r.byUID, r.series, r.lost, r.oldest = map[types.UID]*endedRun{}, map[string]map[string]*series{}, map[string]time.Time{}, map[string][]types.UID{}
	}
	now := time.Now()
	at, err := time.Parse(time.RFC3339, run.Ended)
	future := at.After(now)
	if err != nil || future {
		at = now
	}
	if known := r.byUID[u.GetUID()]; known != nil { // a diagnosis may have come
		if future {
			run.Ended = known.run.Ended
		}
		known.run = run
		return
	}
	// A status is written by whoever may: a success of the year 2099 would for ever be the last run of its series, and of whoever has
	// the namespace's name next.
	if future {
		run.Ended = now.UTC().Format(time.RFC3339)
	}
	noted := &endedRun{run: run, namespace: u.GetNamespace(), series: preflight.Series(u)}
	r.byUID[u.GetUID()] = noted
	r.oldest[noted.namespace] = append(r.oldest[noted.namespace], u.GetUID())
	for _, name := range noted.series {
		s := r.seriesOf(noted.namespace, name)
		s.last = at
		if s.of = append(s.of, u.GetUID()); len(s.of) > mostRunsOf {
			s.of = s.of[1:]
			s.dropped++
		}
	}
	if len(r.byUID) > mostRuns {
		most := largest(r.oldest, func(uids []types.UID) int { return len(uids) })
		r.forget(r.oldest[most][0])
		if r.oldest[most] = r.oldest[most][1:]; len(r.oldest[most]) == 0 {
			delete(r.oldest, most)
		}
	}
}

// seriesOf is a series, which is made where it is not there.
func (r *runHistory) seriesOf(namespace, name string) *series {
	if s := r.series[namespace][name]; s != nil {
		return s
	}
	if r.n >= mostSeries {
		r.shorten()
	}
	if r.series[namespace] == nil {
		r.series[namespace] = map[string]*series{}
	}
	s := &series{}
	r.series[namespace][name] = s
	r.n++
	return s
}

// shorten drops an eighth of the series of the namespace that has most of them, the oldest.
func (r *runHistory) shorten() {
	most := largest(r.series, func(of map[string]*series) int { return len(of) })
	of := r.series[most]
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(of[a].last.Compare(of[b].last), cmp.Compare(a, b)) })
	gone := names[:len(names)/8+1]
	for _, name := range gone {
		r.lose(most, of[name].last)
		delete(of, name)
	}
	if r.n -= len(gone); len(of) == 0 {
		delete(r.series, most)
	}
	maps.DeleteFunc(r.lost, func(_ string, last time.Time) bool { return time.Since(last) > missed })
	if len(r.lost) > mostLost { // whose they are is no longer remembered: no namespace is known whole
		for _, last := range r.lost {
			r.lose("", last)
		}
		maps.DeleteFunc(r.lost, func(namespace string, _ time.Time) bool { return namespace != "" })
	}
}

// lose notes that of a run nothing is left. A namespace without a name is each.
func (r *runHistory) lose(namespace string, ended time.Time) {
	if ended.After(r.lost[namespace]) {
		r.lost[namespace] = ended
	}
}

// misses says whether a run of a namespace may be missing.
func (r *runHistory) misses(namespace string) bool {
	return time.Since(r.lost[namespace]) <= missed || time.Since(r.lost[""]) <= missed
}

// largest is the namespace that has most of something.
func largest[T any](by map[string]T, size func(T) int) (most string) {
	n := 0
	for namespace, of := range by {
		if has := size(of); has > n || has == n && namespace < most {
			most, n = namespace, has
		}
	}
	return most
}

// forget leaves of a run that there was one.
func (r *runHistory) forget(uid types.UID) {
	gone := r.byUID[uid]
	for _, name := range gone.series {
		if s := r.series[gone.namespace][name]; s != nil {
			if at := slices.Index(s.of, uid); at >= 0 {
				s.of = slices.Delete(s.of, at, at+1)
				s.dropped++
			}
		}
	}
	delete(r.byUID, uid)
}

// before are the runs of a job's series; false: there is no telling.
func (r *runHistory) before(u *unstructured.Unstructured) (preflight.EarlierFacts, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []preflight.RunFacts
	dropped, seen := 0, []types.UID{u.GetUID()}
	for _, name := range preflight.Series(u) {
		s := r.series[u.GetNamespace()][name]
		if s == nil && r.misses(u.GetNamespace()) {
			return preflight.EarlierFacts{}, false
		}
		if s == nil {
			continue
		}
		dropped = max(dropped, s.dropped)
		for _, uid := range s.of {
			if known := r.byUID[uid]; known != nil && !slices.Contains(seen, uid) {
				seen = append(seen, uid)
				found = append(found, known.run)
			}
		}
	}
	return preflight.EarlierOf(found, dropped), true
}

// Earlier are the runs that came before a job, as far as the jobs that are stored and those that were
// deleted since this process began tell; nil: not all jobs have been seen yet.
func (j *Jobs) Earlier(u *unstructured.Unstructured) *preflight.EarlierFacts {
	if !j.Synced() {
		return nil
	}
	facts, known := j.runs.before(u)
	if !known {
		return nil
	}
	return &facts
}
