package attribute

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// merge makes one sighting of equal ones: the same signature, however many ranks and
// times. The earliest stands for all, except that the one a launcher names as the first
// failure goes before, and that close by the one with more facts does: messages are printed
// in short and in long. Exceptions of two types are no copies of one message. The others are in Also.
func (in *Input) merge(seen []evidence.Observation) []evidence.Observation {
	order := make([]*evidence.Observation, len(seen)) // they are large, and may be many
	for i := range seen {
		order[i] = &seen[i]
	}
	// The order by time is none where times are within the skew: start from one that is.
	slices.SortStableFunc(order, func(a, b *evidence.Observation) int {
		return cmp.Or(strings.Compare(string(a.Item.ID), string(b.Item.ID)), cmp.Compare(a.Item.Source.Line, b.Item.Source.Line),
			strings.Compare(a.Signature.ID, b.Signature.ID))
	})
	slices.SortStableFunc(order, in.byTime)
	type key struct {
		id, raised                          string
		over, platform, explained, follower bool
	}
	var out []evidence.Observation
	at := map[key]int{}
	types := map[string]bool{}
	for _, one := range order {
		s := *one
		k := key{s.Signature.ID, "", s.Over, s.Platform, s.Explained, s.Follower}
		if subject.KnownAs(s.Signature) == genericException && (types[s.Facts["type"]] || len(types) < mostTypes) {
			k.raised = s.Facts["type"] // a KeyError is no copy of a ValueError
			types[k.raised] = true
		}
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			s.Also = slices.Clone(s.Also)
			out = append(out, s)
			continue
		}
		mild := s.Mild && out[i].Mild
		s.Mild, out[i].Mild = mild, mild
		if speaksFor(s, out[i]) {
			s.Also = append(append([]evidence.Item{out[i].Item}, out[i].Also...), s.Also...)
			out[i] = s
			continue
		}
		out[i].Also = append(out[i].Also, s.Item)
	}
	return out
}

// mostTypes bounds how many types of exceptions that no signature knows are told apart.
const mostTypes = 16

// genericException is the signature of exceptions that no other signature knows.
const genericException = subject.Exception

// closeBy is how many lines apart two copies of one message are printed.
const closeBy = 6

// oneTraceback is how long a traceback is between a logged error and its last line.
const oneTraceback = 120

func speaksFor(s, than evidence.Observation) bool {
	if s.First != than.First {
		return s.First
	}
	a, b := s.Item.Source, than.Item.Source
	if a.Line == 0 || b.Line == 0 || a.File != b.File || a.Pod != b.Pod || a.Container != b.Container {
		return false
	}
	apart := max(a.Line-b.Line, b.Line-a.Line)
	if s.Raised != than.Raised {
		return s.Raised && apart <= oneTraceback && !repeats(s.Line, than.Line)
	}
	return apart <= closeBy && len(s.Facts) > len(than.Facts) && s.Facts["type"] == than.Facts["type"]
}

// repeats says that an exception hands on a message that was logged before it: "what():  …".
func repeats(exception, logged string) bool {
	_, message, ok := strings.Cut(exception, "what():  ")
	return ok && strings.Contains(logged, strings.TrimSpace(message))
}

// when orders by time, where that is sure.
func (in *Input) when(a, b evidence.Item) int {
	if a.At.IsZero() || b.At.IsZero() {
		return 0
	}
	if in.When != nil {
		return in.When(a, b)
	}
	if d := a.At.Sub(b.At); d > timeline.Skew || d < -timeline.Skew {
		return cmp.Compare(d, 0)
	}
	return 0
}

// byTime is earlier first. Times that clocks do not set apart say nothing when they come from
// two places; then the file and the line decide, for the sake of one order.
func (in *Input) byTime(a, b *evidence.Observation) int {
	x, y := a.Item.Source, b.Item.Source
	if sameLog(x, y) && x.Line > 0 && y.Line > 0 {
		return cmp.Compare(x.Line, y.Line)
	}
	if sure := in.when(a.Item, b.Item); sure != 0 {
		return sure
	}
	return cmp.Or(-cmp.Compare(x.Attempt, y.Attempt), strings.Compare(string(a.Item.ID), string(b.Item.ID)))
}

func sameLog(x, y evidence.Source) bool {
	return x.File == y.File && x.Pod == y.Pod && x.Container == y.Container && x.Attempt == y.Attempt
}
