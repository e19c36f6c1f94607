package diagnose

import "github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"

// dateSightings names the clock of what the platform dated: how containers ended comes from
// the node's, the rest from the API server's or from one that is kept as well.
func dateSightings(seen []evidence.Observation) {
	for i := range seen {
		if s := &seen[i]; s.Item.Kind == evidence.Exit && s.Item.Clock == "" {
			s.Item.Clock = s.Item.Source.Clock()
		}
	}
}

// getPast ends what an earlier attempt of a container suffered where a later one got past it
// and failed for a reason of its own: that later one is what stopped the job.
func (d *diagnosis) getPast() {
	advanced := map[string]bool{}
	for i := range d.logs.tracks {
		if t := &d.logs.tracks[i]; t.source.Attempt == 0 && t.steps.Count > 1 {
			advanced[t.source.Pod+"/"+t.source.Container] = true
		}
	}
	failed := map[string]bool{}
	for i := range d.sightings {
		if s := &d.sightings[i]; s.Item.Source.Attempt == 0 && s.Item.Kind == evidence.Log && !s.Over {
			failed[s.Item.Source.Pod+"/"+s.Item.Source.Container] = true
		}
	}
	for i := range d.sightings {
		s := &d.sightings[i]
		key := s.Item.Source.Pod + "/" + s.Item.Source.Container
		if s.Item.Source.Attempt > 0 && advanced[key] && failed[key] {
			s.Over = true
		}
	}
}
