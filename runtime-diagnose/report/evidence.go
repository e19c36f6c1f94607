package report

import (
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func (d *draft) cause(s evidence.Observation) Cause {
	c := Cause{
		Signature: s.Signature.ID, Title: s.Signature.Title, Category: s.Signature.Category,
		Owner: s.Signature.Domain, Retry: s.Signature.Retry, Source: s.Item.Source, At: s.Item.Told(), Carried: s.Item.Carried,
		Line: s.Line, Said: s.Said, Facts: maps.Clone(s.Facts), Cites: []evidence.ID{s.Item.ID},
		Role: s.Item.Source.Role, Index: s.Item.Source.Rank,
	}
	c.Source.Node = d.nodeOf(c.Source)
	if c.Source.Pod == "" && c.Source.Node != "" {
		c.Beside = d.podOn(c.Source.Node)
	}
	if c.Role == "" { // a line that names its process
		c.Index = -1
		if k, ok := d.at[c.Source.Place()]; ok && d.Members[k].Source.Role != "" {
			c.Role, c.Index = d.Members[k].Source.Role, d.Members[k].Source.Rank
		}
	}
	if c.Owner == signature.Nobody {
		if category, ok := signature.CategoryOf(c.Category); ok {
			c.Owner = category.Owner
		}
	}
	for i, item := range s.Also {
		if i >= mostAlso {
			break
		}
		c.Cites = append(c.Cites, item.ID)
	}
	return c
}

// mostAlso is how many copies of one sighting are cited: enough to see which members it was.
const mostAlso = 4

// collectEvidence puts every cited item, and the lines around the decisive one, in order.
func (d *draft) collectEvidence(r *Report) {
	have := map[evidence.ID]bool{}
	add := func(item evidence.Item) {
		if len(r.Evidence) < d.MostEvidence && !have[item.ID] {
			have[item.ID], item.At = true, item.Told()
			r.Evidence = append(r.Evidence, item)
		}
	}
	sightings := append(slices.Clone(d.Answer.Effects), d.Answer.Rivals...)
	if r.Verdict == Healthy { // a job at rest has no cause, whatever it suffered before
		sightings = nil
	} else if d.root != nil {
		sightings = append([]evidence.Observation{*d.root}, sightings...)
	}
	for _, s := range sightings {
		add(s.Item)
		for i, item := range s.Also {
			if i < mostAlso && item.Text != "" { // an echo has no words
				add(item)
			}
		}
	}
	if n := len(d.End.Lines); n > 0 {
		add(d.End.Item(n - 1))
	}
	if item := d.lastGaveWay(); item != nil && r.Verdict != Healthy {
		add(*item)
	}
	if d.attempts.other != nil {
		add(d.attempts.other.Item)
	}
	for _, u := range d.Seen.Scheduling {
		add(u.Item)
	}
	trim := func(c *Cause) {
		c.Cites = slices.DeleteFunc(c.Cites, func(id evidence.ID) bool { return !have[id] })
	}
	if r.Root != nil {
		trim(r.Root)
	}
	r.Effects = slices.DeleteFunc(r.Effects, func(c Cause) bool { return !have[c.Cites[0]] })
	for i := range r.Effects {
		trim(&r.Effects[i])
	}
}
