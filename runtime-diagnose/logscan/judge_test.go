package logscan

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What is remembered of texts is bounded: by their number, and of each by its length.
func TestJudgedTextsAreBounded(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	r := &logReader{log: &evidence.ContainerLog{}, options: &Options{}, catalog: catalog, view: catalog.NewView(), perSignature: map[string]int{}}
	judge := func(text string) { r.matchesOf(&reduce.Line{Text: text}, text, false) }
	for i := range mostJudged + 1 {
		judge(fmt.Sprintf("FileNotFoundError: [Errno 2] No such file or directory: '/data/%d'", i))
	}
	kept := func() (n, longest int) {
		for _, j := range r.texts.at {
			if j != nil {
				n, longest = n+1, max(longest, len(j.text))
			}
		}
		return n, longest
	}
	if n, _ := kept(); n > mostJudged || n < mostJudged/2 {
		t.Errorf("%d texts are remembered, want at most %d", n, mostJudged)
	}
	judge(strings.Repeat("x", longestJudged+1))
	if _, longest := kept(); longest >= longestJudged {
		t.Errorf("a text of %d bytes is remembered", longest)
	}
	judge(strings.Repeat("x", longestJudged))
	if _, longest := kept(); longest != longestJudged {
		t.Errorf("the longest text that is remembered has %d bytes, want %d", longest, longestJudged)
	}
}

// However often the same line was survived, the last time is found, and not one before it.
func TestTheLastOfManySameLinesIsKept(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const says = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
	for _, times := range []int{1, 11, 12, 13, 40, 1000} {
		var text strings.Builder
		for i := range times + 1 {
			for step := range 20 {
				fmt.Fprintf(&text, "step %d/90000 loss %.4f lr 1e-4\n", 20*i+step, 3-float64(i)/900)
			}
			text.WriteString(says)
		}
		h := ReadOne(t.Context(), evidence.Bundle{Logs: []evidence.ContainerLog{{
			Source: evidence.Source{File: "train.log", Rank: -1},
			Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil },
		}}}, catalog, Options{})
		last := h.Sightings[len(h.Sightings)-1]
		if want := 21 * (times + 1); last.Item.Source.Line != want || last.Over {
			t.Errorf("survived %d times, the last sighting is of line %d (over: %t), want %d", times, last.Item.Source.Line, last.Over, want)
		}
	}
}
