package diagnose

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// choruses puts the members together of which no more is known than what their logs say.
func (d *diagnosis) choruses() []chorus {
	out := d.logs.alikes(d.sourceAt, func(place string) bool { _, known := d.at[place]; return known })
	for i := range out {
		if k, ok := d.at[out[i].voice.lead]; ok {
			d.all[k].Alike += len(out[i].echoes)
		}
	}
	return out
}

// recall makes a member of its own of an echo: it turns out to matter more than those whose voice it
// speaks with.
func (d *diagnosis) recall(place int32) *timeline.Member {
	source := d.sourceAt(place)
	m := timeline.Member{Place: source.Place(), Source: source}
	for _, call := range d.logs.calls {
		if call.place == place {
			m.Calls = append(m.Calls, call.call())
		}
	}
	if k, known := d.at[m.Place]; known { // by another log
		d.all[k].Calls = append(d.all[k].Calls, m.Calls...)
		return &d.all[k]
	}
	for i := range d.echoing {
		c := &d.echoing[i]
		k := slices.IndexFunc(c.echoes, func(e echo) bool { return e.place == place })
		if k < 0 {
			continue
		}
		t := c.echoes[k].track(source, c.voice)
		m.Clock = t.clock()
		log := t.log()
		m.Prints(&log)
		said := c.echoes[k].sightings(&t, c.voice)
		d.sightings, d.logs.tracks = append(d.sightings, said...), append(d.logs.tracks, t)
		state := d.marks.States[c.voice.lead]
		if len(said) > 0 && !state.Sign.At.IsZero() {
			state.Sign = timeline.Moment{Clock: said[0].Item.Clock, At: said[0].Item.At}
			state.First = state.Sign
		}
		d.marks.States[m.Place] = state
		if lead, ok := d.at[c.voice.lead]; ok {
			d.all[lead].Alike--
		}
		c.echoes = slices.Delete(c.echoes, k, k+1)
		break
	}
	d.at[m.Place] = len(d.all)
	d.all = append(d.all, m)
	return &d.all[len(d.all)-1]
}

// sourceAt is the source of the log at a place.
func (d *diagnosis) sourceAt(place int32) evidence.Source { return d.Logs[d.logs.order[place]].Source }
