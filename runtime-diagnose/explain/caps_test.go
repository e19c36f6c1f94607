package explain

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ground"
)

// What was written of answers is read up to a bound: it may be packed so that it fills the memory.
func TestAnswersThatWouldFillTheMemoryAreRefused(t *testing.T) {
	for n, want := range map[int]string{16 << 20: "its form is \"\"", 16<<20 + 1: "it has more than 16 MiB", 64 << 20: "it has more than 16 MiB"} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(append([]byte("{}"), bytes.Repeat([]byte(" "), n-2)...)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := (Explainer{Answers: NewAnswers()}).Load(packed.Bytes()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %d bytes: %v; want %q", n, err, want)
		}
	}
}

// What a server and a model write of names is shown up to a bound, and shows that it was cut.
func TestNamesThatAModelWritesShowThatTheyAreCut(t *testing.T) {
	for n, want := range map[int]string{64: strings.Repeat("m", 64), 65: strings.Repeat("m", 64) + "…", 5000: strings.Repeat("m", 64) + "…"} {
		if got := modelName(strings.Repeat("m", n)); got != want {
			t.Errorf("of %d bytes of a model's name %d are shown", n, len(got))
		}
	}
	for n, want := range map[int]string{80: strings.Repeat("c", 80), 81: strings.Repeat("c", 80) + "…"} {
		_, refused := Test(diagnose.Result{}, nil, ground.Nomination{Line: "log/a#1", Category: strings.Repeat("c", n)})
		if !strings.Contains(refused, " as "+want+" is refused") {
			t.Errorf("of %d bytes of a category: %s", n, refused)
		}
	}
}

// Unknown failures are told apart by their last three lines; of one more the first is no part of it.
func TestThreeLinesTellUnknownFailuresApart(t *testing.T) {
	for n, want := range map[int]int{2: 2, 3: 3, 4: 3, 400: 3} {
		r := diagnose.Result{Verdict: diagnose.Inconclusive}
		for i := range n {
			word := string([]byte{'a' + byte(i%26), 'k' + byte(i/26)})
			r.Nominees = append(r.Nominees, diagnose.Nominee{Suspect: true, Item: evidence.Item{ID: evidence.ID(fmt.Sprintf("log/a#%d", i)), Text: "error in " + word}})
		}
		got := unknownForms(r, func(s string) string { return s })
		last := r.Nominees[n-1].Item.Text
		if diff := cmp.Diff(want, len(got)); diff != "" || !strings.Contains(strings.Join(got, "\n"), last) {
			t.Errorf("of %d lines (-want +got):\n%s %v", n, diff, got)
		}
	}
}
