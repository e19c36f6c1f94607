package main

import "testing"

// Every origin that is here reaches its floors; of the own cases those that are not held out. `make quality` prints the board.
func TestEveryOriginReachesItsFloors(t *testing.T) {
	t.Chdir("../..")
	ok, err := run(nil, true, "open", "")
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Error("a floor is missed; the board above says which")
	}
}
