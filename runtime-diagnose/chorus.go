package diagnose

import (
	"cmp"
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// chorus is the members of which no more is known than that their logs say what that of another
// member says: its lead.
type chorus struct {
	voice  *voice
	echoes []echo
}

// choruses puts the echoes that are left together. A member with several logs is in one chorus only,
// and one that is known by another log in none.
func (d *diagnosis) choruses() []chorus {
	echoes := d.logs.echoes
	var last string
	n := 0
	for _, e := range echoes {
		v, place := d.logs.voices[e.voice], d.sourceAt(e.place).Place()
		if _, known := d.at[place]; known || v.pasted || v.attempt > 0 {
			continue
		}
		if n > 0 && place == last {
			if e.line[0] > 0 && echoes[n-1].line[0] == 0 { // the other one says nothing
				echoes[n-1] = e
			}
			continue
		}
		echoes[n], last = e, place
		n++
	}
	echoes = echoes[:n]
	d.logs.echoes = nil
	slices.SortFunc(echoes, func(a, b echo) int {
		return cmp.Or(cmp.Compare(a.voice, b.voice), cmp.Compare(a.place, b.place))
	})
	var out []chorus
	for len(echoes) > 0 {
		n := 1
		for n < len(echoes) && echoes[n].voice == echoes[0].voice {
			n++
		}
		c := chorus{d.logs.voices[echoes[0].voice], echoes[:n:n]}
		echoes = echoes[n:]
		if k, ok := d.at[c.voice.lead]; ok {
			d.all[k].Alike += n
		}
		out = append(out, c)
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

// says that the chorus says what a sighting says, in whose places its lead is.
func (c *chorus) says(s *evidence.Observation, in map[string]bool) bool {
	return in[c.voice.lead] && c.told(s.Signature)
}

func (c *chorus) told(of *signature.Signature) bool {
	return slices.ContainsFunc(c.voice.told, func(s evidence.Observation) bool { return s.Signature == of })
}
