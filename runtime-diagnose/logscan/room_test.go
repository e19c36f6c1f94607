package logscan

import (
	"fmt"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Where a log is full of what it says, there is still room for what it says last, though it never said it before.
func TestAFullLogHasRoomForItsEnd(t *testing.T) {
	r := &logReader{perSignature: map[string]int{}, latest: map[string]bool{}, generic: map[string]int{"a": mostSightings - 1, "b": 3}}
	for i := range mostSightings {
		s := &signature.Signature{ID: fmt.Sprint("said-", min(i%40, 38))} // of 38 there are most
		r.perSignature[s.ID]++
		r.sightings = append(r.sightings, evidence.Observation{Signature: s, Item: evidence.Item{Source: evidence.Source{Line: i}}})
		r.said = append(r.said, said{})
	}
	r.launches.runs = []launch{{}, {seen: mostSightings}}
	kept := map[string]int{}
	count := func() {
		clear(kept)
		for _, s := range r.sightings {
			kept[s.Signature.ID]++
		}
	}
	count()
	had := kept["said-38"]
	if !r.full("new") || !r.makeRoom("new", 5000, false, false) {
		t.Fatal("there is no room for what was never said")
	}
	count()
	if len(r.sightings) != mostSightings-1 || len(r.said) != len(r.sightings) || kept["said-38"] != had-1 {
		t.Errorf("%d are kept, with %d of what is said most often; want one less of %d and %d", len(r.sightings), kept["said-38"], mostSightings, had)
	}
	if _, there := r.generic["a"]; there || r.generic["b"] != 3 || r.launches.runs[1].seen != mostSightings-1 {
		t.Errorf("places are not those of what is left: %v, %v", r.generic, r.launches.runs)
	}
	if r.makeRoom("said-0", 365, false, false) {
		t.Error("what was said just above is kept once more")
	}
}

// Of what is said again and again the first sightings are kept, and the last.
func TestTheLastSightingIsKept(t *testing.T) {
	r := &logReader{perSignature: map[string]int{}, latest: map[string]bool{}}
	s := &signature.Signature{ID: "said"}
	for line := 10; line <= 1000; line += 10 {
		full := r.full(s.ID)
		r.perSignature[s.ID]++
		if full && !r.makeRoom(s.ID, line, false, false) {
			t.Fatalf("line %d is not kept", line)
		}
		r.sightings = append(r.sightings, evidence.Observation{Signature: s, Item: evidence.Item{Source: evidence.Source{Line: line}}})
		r.said = append(r.said, said{})
	}
	if n := len(r.sightings); n != mostPerSignature+1 || r.sightings[n-2].Item.Source.Line != 10*mostPerSignature || r.sightings[n-1].Item.Source.Line != 1000 {
		t.Errorf("%d are kept: %v", n, r.sightings)
	}
}
