package main

import (
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Every origin that is here reaches its floors; what is missed among the cases that are held out is not listed.
// `make quality` prints the board.
func TestEveryOriginReachesItsFloors(t *testing.T) {
	t.Chdir("../..")
	ok, err := run(nil, false, "all", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Error("a floor is missed; the board above says which")
	}
}

// The points in use are those that the cases give: whoever changes one, or a feature, runs `make weights`.
func TestThePointsAreThoseOfTheCases(t *testing.T) {
	t.Chdir("../..")
	want, _, whole, err := fitted()
	if err != nil {
		t.Fatal(err)
	}
	if !whole {
		t.Skip("some of the labelled cases are not here")
	}
	got := attribute.Weights()
	for _, f := range attribute.Features() {
		if got[f] != want[f] {
			t.Errorf("%s has %d points; the cases give %d: run make weights", f, got[f], want[f])
		}
	}
	if again, _, _, err := fitted(); err != nil || cmp.Diff(want, again) != "" {
		t.Errorf("the same cases give other points: %v and %v, %v", want, again, err)
	}
}

// Which of two signatures knows a line more specifically follows from their examples.
func TestPrecedenceIsDerivedFromTheExamples(t *testing.T) {
	t.Chdir("../..")
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	of, err := precedence(catalog)
	if err != nil {
		t.Fatal(err)
	}
	want, err := precedenceSource(of)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(precedenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what the examples give: run make weights", precedenceFile)
	}
	pairs, derived := 0, 0
	for _, s := range catalog.All() {
		for _, h := range s.Hides {
			pairs++
			if slices.Contains(of[s.ID], h) {
				derived++
			}
		}
		for _, other := range of[s.ID] {
			if slices.Contains(of[other], s.ID) {
				t.Errorf("%s and %s are each more specific than the other", s.ID, other)
			}
		}
	}
	t.Logf("of %d pairs that signatures hide, %d follow from the examples", pairs, derived)
}
