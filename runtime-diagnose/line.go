package diagnose

import "github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"

// Item is one line of the excerpt as evidence, with the ID that other evidence of the same line has.
func (e Excerpt) Item(i int) evidence.Item {
	s := e.Source
	s.Line = e.Lines[i].Number
	return evidence.Item{ID: lineID(s), Kind: evidence.Log, Source: s, Text: e.Lines[i].Text, Times: 1}
}
