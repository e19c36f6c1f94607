package evidence

import (
	"slices"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// Excerpt is what was kept of one log, masked.
type Excerpt struct {
	Source  Source
	Lines   []reduce.Kept
	Read    int   // lines
	Skipped int64 // bytes read that are in no kept line
	Short   bool  // of what was kept only the end is here: the gang is large
}

// Item is one line of the excerpt as evidence, with the ID that other evidence of the same line has.
func (e Excerpt) Item(i int) Item {
	s := e.Source
	s.Line = e.Lines[i].Number
	return Item{ID: s.LineID(), Kind: Log, Source: s, Text: e.Lines[i].Text, Times: 1}
}

// Of says that it is an excerpt of the log that a source is in.
func (e Excerpt) Of(s Source) bool {
	return e.Source.Pod == s.Pod && e.Source.Container == s.Container && e.Source.Attempt == s.Attempt && e.Source.File == s.File
}

// Shown is a kept line as people see it: without the kubelet's time, which is known apart. A file is shown as
// it is, because people search it.
func (e Excerpt) Shown(text string) string {
	if e.Source.Pod == "" {
		return text
	}
	return reduce.Written(text)
}

// First is the first line for which something holds.
func (e Excerpt) First(holds func(text string) bool) (Excerpt, bool) {
	for i := range e.Lines {
		if holds(e.Lines[i].Text) {
			return Excerpt{Source: e.Source, Lines: slices.Clone(e.Lines[i : i+1])}, true
		}
	}
	return Excerpt{}, false
}
