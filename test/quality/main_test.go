package main

import "testing"

// Every origin that is here reaches its floors. `make quality` prints the board.
func TestEveryOriginReachesItsFloors(t *testing.T) {
	t.Chdir("../..")
	ok, err := run(nil, true, "all", "")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Error("a floor is missed; the board above says which")
	}
}
