package plan

import "testing"

// A seventeenth array or set of one evaluation is made anew each time; sixteen are filled again.
func TestSixteenAreKept(t *testing.T) {
	m := &Machine{}
	var sets []*grown
	for range mostKept + 1 {
		sets = append(sets, m.grown(true, 0).more.grown)
	}
	if len(m.pool) != mostKept {
		t.Fatalf("%d are kept", len(m.pool))
	}
	m.filled = 0
	for i, before := range sets {
		if again := m.grown(true, 0).more.grown; (again == before) != (i < mostKept) {
			t.Errorf("set %d is filled again: %t", i, again == before)
		}
	}
}

// A set that has held more than 512 elements gives its room back; one that has held as many keeps it.
func TestALargeSetIsNotKept(t *testing.T) {
	for _, n := range []int{mostElements, mostElements + 1} {
		g := &grown{set: true}
		for i := range n {
			v := &Value{}
			v.count(int64(i))
			g.add(v)
		}
		if len(g.items) != n {
			t.Fatalf("%d elements, not %d", len(g.items), n)
		}
		if g.empty(); (cap(g.items) > 0) != (n == mostElements) || len(g.items) != 0 {
			t.Errorf("after %d elements there is room for %d", n, cap(g.items))
		}
	}
}

// A number of more than 15 characters is OPA's, as it is where a term is read.
func TestALongNumberIsATerm(t *testing.T) {
	for n, is := range map[int64]kind{
		mostWhole: whole, mostWhole + 1: number, -(mostWhole / 10): whole, -(mostWhole / 10) - 1: number,
	} {
		counted, held := &Value{}, &Value{}
		counted.count(n)
		held.hold(wholeTerm(n))
		if counted.kind != is || held.kind != is {
			t.Errorf("%d is counted as %d and read as %d; want %d", n, counted.kind, held.kind, is)
		}
	}
}
