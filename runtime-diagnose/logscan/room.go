package logscan

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// makeRoom is asked for a sighting on a line, of a signature that was seen often or in a log that is full: of what is said again
// and again the first sightings tell when it began, and the last whether anything followed. So one more is kept, in the place
// of the last one. Where a log is full of others, the last of what it says most often goes. false: the same was said
// just above, and there it stands, unless that was called less than an error, or only said, and this is not, or is raised.
func (r *logReader) makeRoom(id string, line int, raised, mild bool) bool {
	at := r.lastOf(id)
	if r.saidAbove(id, line) && !(raised && !r.sightings[at].Raised) && !(!mild && r.sightings[at].Mild) {
		return false
	}
	if len(r.sightings) < mostSightings && (at < 0 || !r.latest[id]) { // those that were kept may be gone
		r.latest[id] = true
		return true
	}
	if at < 0 {
		at = r.lastOf(r.mostOften())
	}
	r.drop(at)
	return true
}

// saidAbove says that a signature was seen a few lines above a line.
func (r *logReader) saidAbove(id string, line int) bool {
	at := r.lastOf(id)
	return at >= 0 && line-r.sightings[at].Item.Source.Line <= signature.SaidAbove
}

// saysAgain says that a line matches a signature, or any where none is named, of which there were more sightings than are kept:
// close below the last that is, another one was not looked for.
func (r *logReader) saysAgain(text, id string) bool {
	if len(r.latest) == 0 || id != "" && !r.latest[id] {
		return false
	}
	matches := r.catalog.MatchWithout(func(s *signature.Signature) bool { return !r.latest[s.ID] || id != "" && s.ID != id }, reduce.Body(text), r.kinds()...)
	return slices.ContainsFunc(matches, says)
}

// lastOf is where the last sighting of a signature stands; -1: there is none.
func (r *logReader) lastOf(id string) int {
	for i := range slices.Backward(r.sightings) {
		if r.sightings[i].Signature.ID == id {
			return i
		}
	}
	return -1
}

// mostOften is the signature with most sightings.
func (r *logReader) mostOften() (most string) {
	times := map[string]int{}
	for i := range r.sightings {
		id := r.sightings[i].Signature.ID
		if times[id]++; times[id] > times[most] {
			most = id
		}
	}
	return most
}

// drop takes out one sighting, and counts the places of those behind it anew.
func (r *logReader) drop(at int) {
	r.sightings, r.said = slices.Delete(r.sightings, at, at+1), slices.Delete(r.said, at, at+1)
	behind := func(place *int) {
		if *place > at {
			*place--
		}
	}
	for i := range r.launches.runs {
		behind(&r.launches.runs[i].seen)
	}
	behind(&r.launches.seen)
	for lane, place := range r.generic {
		if place == at {
			delete(r.generic, lane)
		} else if place > at {
			r.generic[lane] = place - 1
		}
	}
}
