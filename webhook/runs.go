package webhook

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight"
)

// runs are how jobs ended, by their series. A job that is deleted is still known, until so many others
// have ended: jobs are often deleted before the next one of their name is created. The zero value is
// ready.
type runs struct {
	mu     sync.Mutex
	byUID  map[types.UID]*endedRun
	series map[string]*series
	oldest []types.UID // in the order in which they were noted
}

type endedRun struct {
	run    preflight.RunFacts
	series []string
}

type series struct {
	of      []types.UID
	dropped int // that found no room
}

const (
	mostRuns   = 4096  // that are known: some 2 MiB
	mostSeries = 16384 // of which only the number of runs may be left
	mostRunsOf = 32    // of one series
)

// note takes over how a job ended, if it has.
func (r *runs) note(object any) {
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
		r.byUID, r.series = map[types.UID]*endedRun{}, map[string]*series{}
	}
	if known := r.byUID[u.GetUID()]; known != nil {
		known.run = run // a diagnosis may have come
		return
	}
	noted := &endedRun{run: run, series: preflight.Series(u)}
	r.byUID[u.GetUID()] = noted
	r.oldest = append(r.oldest, u.GetUID())
	for _, name := range noted.series {
		s := r.series[name]
		if s == nil {
			if len(r.series) >= mostSeries {
				continue
			}
			s = &series{}
			r.series[name] = s
		}
		if s.of = append(s.of, u.GetUID()); len(s.of) > mostRunsOf {
			s.of = s.of[1:]
			s.dropped++
		}
	}
	if len(r.oldest) > mostRuns {
		r.forget(r.oldest[0])
		r.oldest = slices.Clone(r.oldest[1:])
	}
}

// forget leaves of a run that there was one.
func (r *runs) forget(uid types.UID) {
	for _, name := range r.byUID[uid].series {
		if s := r.series[name]; s != nil {
			if at := slices.Index(s.of, uid); at >= 0 {
				s.of = slices.Delete(s.of, at, at+1)
				s.dropped++
			}
		}
	}
	delete(r.byUID, uid)
}

// before are the runs of a job's series; false: there is no telling.
func (r *runs) before(u *unstructured.Unstructured) (preflight.EarlierFacts, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []preflight.RunFacts
	dropped, seen := 0, []types.UID{u.GetUID()}
	for _, name := range preflight.Series(u) {
		s := r.series[name]
		if s == nil && len(r.series) >= mostSeries {
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
