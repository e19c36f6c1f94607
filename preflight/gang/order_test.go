package gang_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// waiting are groups called a, b, … and whom each of them waits for.
func waiting(after ...string) (g gang.Gang) {
	for i, names := range after {
		group := gang.Group{Name: string(rune('a' + i))}
		for _, name := range names {
			group.After = append(group.After, string(name))
		}
		g.Groups = append(g.Groups, group)
	}
	return g
}

func always(int) bool { return true }

func TestStagesAndWhatRunsBesideThem(t *testing.T) {
	for name, tc := range map[string]struct {
		gang           gang.Gang
		stages, beside [][]int
	}{
		"nobody waits":                        {waiting("", ""), [][]int{{0, 1}}, [][]int{{0, 1}}},
		"no group":                            {gang.Gang{}, nil, nil},
		"one after the other":                 {waiting("", "a", "b"), [][]int{{0}, {1}, {2}}, [][]int{{0}, {1}, {2}}},
		"one that nobody waits for":           {waiting("", "a", ""), [][]int{{0, 2}, {1}}, [][]int{{0, 2}, {1, 2}}},
		"a circle is no order":                {waiting("b", "a", "b"), [][]int{{0, 1, 2}}, [][]int{{0, 1, 2}}},
		"itself, and one that does not exist": {waiting("a", "x"), [][]int{{0, 1}}, [][]int{{0, 1}}},
		"named twice":                         {waiting("", "aa"), [][]int{{0}, {1}}, [][]int{{0}, {1}}},
	} {
		t.Run(name, func(t *testing.T) {
			o, sorted := tc.gang.Order(always)
			if diff := cmp.Diff(tc.stages, o.Stages); diff != "" || !sorted {
				t.Errorf("stages: %s", diff)
			}
			var beside [][]int
			for _, stage := range o.Stages {
				beside = append(beside, o.Beside(stage))
			}
			if diff := cmp.Diff(tc.beside, beside); diff != "" {
				t.Errorf("beside them: %s", diff)
			}
		})
	}
}

// TestWhoEndsAlike: what waits for one and not for the other finds one gone and the other there.
func TestWhoEndsAlike(t *testing.T) {
	for name, tc := range map[string]struct {
		gang gang.Gang
		want bool // of a and b
	}{
		"nobody waits":               {waiting("", "", ""), true},
		"one waits for both":         {waiting("", "", "ab"), true},
		"one waits for one":          {waiting("", "", "a"), false},
		"two wait for one each":      {waiting("", "", "a", "b"), false},
		"one waits for the other":    {waiting("", "a"), false},
		"both wait, nobody for them": {waiting("c", "c", ""), true},
	} {
		o, _ := tc.gang.Order(always)
		if got := o.EndAlike(0, 1); got != tc.want {
			t.Errorf("%s: a and b end alike: %t, want %t", name, got, tc.want)
		}
	}
}

// TestTheOrderOfManyIsThatOfAWalk holds random orders against a walk from each group to all it waits for.
func TestTheOrderOfManyIsThatOfAWalk(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := gang.Gang{Groups: make([]gang.Group, 1+r.IntN(90))} // more than there are bits in a word
		for i := range g.Groups {
			g.Groups[i].Name = fmt.Sprint(i)
			for range r.IntN(3) {
				if i > 0 {
					g.Groups[i].After = append(g.Groups[i].After, fmt.Sprint(r.IntN(i)))
				}
			}
		}
		o, _ := g.Order(always)
		before := func(a, b int) bool {
			var reach func(int) bool
			seen := map[int]bool{}
			reach = func(at int) bool {
				return slices.ContainsFunc(g.Groups[at].After, func(name string) bool {
					to := g.Index(name)
					if seen[to] {
						return false
					}
					seen[to] = true
					return to == a || reach(to)
				})
			}
			return reach(b)
		}
		for a := range g.Groups {
			for b := range g.Groups {
				if got := o.CompletedBefore(a, b); got != before(a, b) {
					t.Fatalf("seed %d: %d before %d: %v", seed, a, b, got)
				}
			}
		}
		for _, stage := range o.Stages {
			together := o.Beside(stage)
			for _, a := range together {
				for _, b := range together {
					if before(a, b) {
						t.Fatalf("seed %d: %d runs beside %d, for which it has to be done", seed, a, b)
					}
				}
			}
		}
	}
}

func TestAnOrderThatCostsTooMuchIsNone(t *testing.T) {
	g := waiting("", "a", "b")
	cost := 0
	g.Order(func(steps int) bool { cost += steps; return true })
	for left, want := range map[int]bool{cost: true, cost - 1: false} {
		if o, sorted := g.Order(func(steps int) bool { return steps <= left }); sorted != want || (len(o.Stages) == 3) != want {
			t.Errorf("with %d of %d steps: sorted %v, stages %v", left, cost, sorted, o.Stages)
		}
	}
}
