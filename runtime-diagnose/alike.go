package diagnose

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// membersAlike puts the members together of which no more is known than what their logs say.
func (d *diagnosis) membersAlike() []logscan.Alike {
	out := d.logs.Alike(d.sourceAt, func(place string) bool { _, known := d.at[place]; return known })
	for i := range out {
		if k, ok := d.at[out[i].Group.Exemplar]; ok {
			d.all[k].Alike += len(out[i].Logs)
		}
	}
	return out
}

// recall makes a member of its own of one that is only counted: it turns out to matter more than those that print
// the same.
func (d *diagnosis) recall(place int32) *timeline.Member {
	source := d.sourceAt(place)
	m := timeline.Member{Place: source.Place(), Source: source}
	for _, call := range d.logs.Calls {
		if call.Place == place {
			m.Calls = append(m.Calls, call.Call())
		}
	}
	if k, known := d.at[m.Place]; known { // by another log
		d.all[k].Calls = append(d.all[k].Calls, m.Calls...)
		return &d.all[k]
	}
	for i := range d.alike {
		c := &d.alike[i]
		k := slices.IndexFunc(c.Logs, func(e logscan.Summary) bool { return e.Place == place })
		if k < 0 {
			continue
		}
		t := c.Logs[k].Course(source, c.Group)
		m.Clock = t.Clock()
		log := t.Log()
		m.Prints(&log)
		said := c.Logs[k].Sightings(&t, c.Group)
		d.sightings, d.logs.Courses = append(d.sightings, said...), append(d.logs.Courses, t)
		state := d.marks.States[c.Group.Exemplar]
		if len(said) > 0 && !state.Sign.At.IsZero() {
			state.Sign = timeline.Moment{Clock: said[0].Item.Clock, At: said[0].Item.At, Since: said[0].Item.Carried}
			state.First = state.Sign
		}
		d.marks.States[m.Place] = state
		if lead, ok := d.at[c.Group.Exemplar]; ok {
			d.all[lead].Alike--
		}
		c.Logs = slices.Delete(c.Logs, k, k+1)
		break
	}
	d.at[m.Place] = len(d.all)
	d.all = append(d.all, m)
	return &d.all[len(d.all)-1]
}

// sourceAt is the source of the log at a place.
func (d *diagnosis) sourceAt(place int32) evidence.Source { return d.Logs[d.logs.Order[place]].Source }
