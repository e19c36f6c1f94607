package main

import "testing"

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
