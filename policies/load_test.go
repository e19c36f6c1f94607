package policies

import "testing"

func TestLibraryLoads(t *testing.T) {
	o, err := Load(Library())
	if err != nil {
		t.Fatal(err)
	}
	t.Log(o.Revision(), o.Docs())
}
