package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
)

// Every origin that is here reaches its floors; what is missed among the cases that are held out is not listed.
// `make quality` prints the board.
func TestEveryOriginReachesItsFloors(t *testing.T) {
	t.Chdir("../..")
	ok, err := run(nil, false, "all", "")
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
