package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestASortedListHoldsWhatAMapHolds(t *testing.T) {
	type copied struct {
		list *sortedList[int]
		want []string
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 15))
		var list sortedList[int]
		want := map[Name]int{}
		var copies []copied
		text := func(l *sortedList[int]) (out []string) {
			for name, v := range l.all() {
				out = append(out, fmt.Sprint(name, v))
			}
			return out
		}
		expect := func() (out []string) {
			for _, name := range slices.SortedFunc(maps.Keys(want), Name.compare) {
				out = append(out, fmt.Sprint(name, want[name]))
			}
			return out
		}
		for step := range 3000 {
			name := Name{fmt.Sprint("ns", r.IntN(4)), fmt.Sprint(r.IntN(300)), []string{"", "v1"}[r.IntN(2)]}
			grows := step < 1500
			if grows == (r.IntN(4) > 0) {
				before, replaced := list.set(name, step+1)
				if was, had := want[name]; replaced != had || before != was {
					t.Fatalf("seed %d: set(%v) replaced %d %t; want %d %t", seed, name, before, replaced, was, had)
				}
				want[name] = step + 1
			} else {
				_, ok := list.drop(name)
				if _, had := want[name]; ok != had {
					t.Fatalf("seed %d: drop(%v) = %t; want %t", seed, name, ok, had)
				}
				delete(want, name)
			}
			if got, ok := list.Get(name); ok != (got != 0) || got != want[name] && ok {
				t.Fatalf("seed %d: get(%v) = %d %t; want %d", seed, name, got, ok, want[name])
			}
			if step%100 == 0 {
				copies = append(copies, copied{list.share(), expect()})
			}
			if list.length() != len(want) {
				t.Fatalf("seed %d: %d values; want %d", seed, list.length(), len(want))
			}
		}
		for i, c := range append(copies, copied{&list, expect()}) {
			if diff := cmp.Diff(c.want, text(c.list)); diff != "" {
				t.Fatalf("seed %d: copy %d has changed (-want +got):\n%s", seed, i, diff)
			}
		}
		inOne := 0
		for name := range list.in("ns2") {
			if inOne++; name.Namespace != "ns2" {
				t.Errorf("seed %d: %v is not in ns2", seed, name)
			}
		}
		for name := range want {
			inOne -= bit(name.Namespace == "ns2")
		}
		if inOne != 0 {
			t.Errorf("seed %d: in(ns2) has %d values more than there are", seed, inOne)
		}
	}
}
