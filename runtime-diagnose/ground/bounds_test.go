package ground

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// What is compared with each other has bounds: up to them a number is worked out of the evidence, a list is read, a run of words is a copy, and one
// above them it is not, so that a claim which needs it is not shown as supported.
func TestBoundsOfWhatIsCompared(t *testing.T) {
	numbers := func(fillers int) string { // none of which makes 53 of another
		text := "took 3"
		for i := range fillers {
			text += fmt.Sprintf(" then %d", 10_000*(i+1))
		}
		return text + " and 50"
	}
	share := func(fillers int) bool {
		f := figures{}
		for range fillers {
			f.bytes = append(f.bytes, 100)
		}
		f.bytes = append(f.bytes, 50)
		f.share()
		return len(f.shares) > 0
	}
	since := func(roots int) bool {
		s := Shown{Items: []evidence.Item{{ID: "log/a#100", At: time.Unix(100_000, 0)}}}
		for i := range roots {
			id := evidence.ID(fmt.Sprintf("log/a#%d", i))
			s.Items, s.Root = append(s.Items, evidence.Item{ID: id, At: time.Unix(int64(i), 0)}), append(s.Root, id)
		}
		s.Items[roots].At = time.Unix(98_200, 0) // the last of them, half an hour before what is cited
		return newGrounds(s).between([]evidence.ID{"log/a#100"}, "30", "minutes")
	}
	line := "a b c d e f g h i j k l"
	first := func(words int) string { return strings.Join(strings.Fields(line)[:words], " ") }
	g := newGrounds(Shown{Items: []evidence.Item{{ID: "log/a#1", Text: "lost " + line}, {ID: "log/a#2", Text: line}}, Effects: []evidence.ID{"log/a#2"}})
	quoted := func(q string, of evidence.ID) Reason {
		return g.foreign(g.claim("it said "+q, []evidence.ID{of}))
	}
	beyond := func(words int) bool { // the last of so many words behind a "not" is turned round by it
		_, denied := affirmed("it did not " + first(words))
		return strings.HasSuffix(strings.TrimSpace(denied), first(words)[len(first(words))-1:])
	}
	for name, holds := range map[string]struct{ at, above bool }{
		"numbers of which others are derived":     {derived("53", numbers(mostDerived-2), false), derived("53", numbers(mostDerived-1), false)},
		"amounts of which shares are made":        {share(mostFigures - 1), share(mostFigures)},
		"lines of the cause a time is counted to": {since(mostRoots), since(mostRoots + 1)},
		"members of a range":                      {len(listed(fmt.Sprintf("1-%d", mostListed))) == mostListed, len(listed(fmt.Sprintf("0-%d", mostListed))) > 2},
		"words in a row that are no copy yet":     {!g.copied(first(mostCopied-1), []evidence.ID{"log/a#1"}), !g.copied(first(mostCopied), []evidence.ID{"log/a#1"})},
		"words quoted of a consequence":           {quoted(`"`+first(mostQuoted)+`"`, "log/a#2") == "", quoted(`"`+first(mostQuoted+1)+`"`, "log/a#2") == ""},
		"words that are put together as code":     {quoted("`a c e`", "log/a#1") == Word, quoted("`a c e g`", "log/a#1") == Word},
		"words behind a denial":                   {beyond(mostDenied), beyond(mostDenied + 1)},
	} {
		if !holds.at || holds.above {
			t.Errorf("%s: %v at the bound, %v one above it; want true, false", name, holds.at, holds.above)
		}
	}
}

// Of one answer so many sentences are looked at; those behind are counted, and none is shown.
func TestSentencesOfAnAnswerAreBounded(t *testing.T) {
	for more := range 2 {
		k := Keep(Answer{Analysis: strings.Repeat("It looks like a guess. ", mostSentences+more)}, Shown{})
		if k.Sentences != mostSentences+more || k.Why[TooLong] != more {
			t.Errorf("%d sentences: %d without room, want %d", k.Sentences, k.Why[TooLong], more)
		}
	}
}
