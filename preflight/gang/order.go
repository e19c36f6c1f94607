package gang

import (
	"math/big"
	"slices"
	"strconv"
)

// Order is which groups of a gang run one after the other, by what they name in After. It is made once for a question.
type Order struct {
	Stages [][]int   // sets of groups that run one after the other; within one all run together
	depth  []int     // by group: the stage it is of
	before []big.Int // by group: those that have completed when it starts, as a set of bits; nil where none waits
	awaits []int     // by group: a number for those that wait for it themselves; nil where none waits
}

// stepsPerDeal are the steps that are spent at one go.
const stepsPerDeal = 8192

// Order sorts the groups. False: that costs more than may be spent, in steps of some nanoseconds each, and all are one stage.
// A circle is no order: then all run together.
func (g Gang) Order(spend func(steps int) bool) (o *Order, sorted bool) {
	after, waits := g.after()
	n, words := len(g.Groups), (len(g.Groups)+63)/64
	sorted = true
	for left := 2*(n+waits) + (n+waits)*words/4; waits > 0 && sorted && left > 0; left -= stepsPerDeal {
		sorted = spend(min(left, stepsPerDeal))
	}
	if waits > 0 && sorted {
		if o := sort(after()); o != nil {
			return o, true
		}
	}
	o = &Order{depth: make([]int, n)}
	if n > 0 {
		o.Stages = [][]int{make([]int, n)}
	}
	for i := range n {
		o.Stages[0][i] = i
	}
	return o, sorted
}

// after is which group waits for which, by number, and how often one waits for another.
func (g Gang) after() (after func() [][]int, waits int) {
	if !slices.ContainsFunc(g.Groups, func(group Group) bool { return len(group.After) > 0 }) {
		return nil, 0
	}
	at := make(map[string][]int, len(g.Groups)) // parts of a role have one name; of other groups the first of a name counts
	for i, group := range g.Groups {
		if group.Part != nil || at[group.Name] == nil {
			at[group.Name] = append(at[group.Name], i)
		}
	}
	for _, group := range g.Groups {
		for _, name := range group.After {
			waits += max(1, len(at[name]))
		}
	}
	return func() [][]int {
		after := make([][]int, len(g.Groups))
		for i, group := range g.Groups {
			for _, name := range group.After {
				if name != group.Name {
					after[i] = append(after[i], at[name]...)
				}
			}
		}
		return after
	}, waits
}

// sort is the order of groups of which each waits for some; nil: they wait in a circle.
func sort(after [][]int) *Order {
	o := &Order{depth: make([]int, len(after)), before: make([]big.Int, len(after))}
	left, next, ready := make([]int, len(after)), make([][]int, len(after)), []int(nil)
	for i, of := range after {
		for _, before := range of {
			next[before] = append(next[before], i)
		}
		if left[i] = len(of); left[i] == 0 {
			ready = append(ready, i)
		}
	}
	done := 0
	for ; done < len(ready); done++ {
		i := ready[done]
		for _, j := range next[i] {
			o.depth[j] = max(o.depth[j], o.depth[i]+1)
			b := &o.before[j]
			b.SetBit(b.Or(b, &o.before[i]), i, 1)
			if left[j]--; left[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	if done < len(after) {
		return nil
	}
	o.awaits = numbered(next)
	o.Stages = make([][]int, slices.Max(o.depth)+1) // none is empty: before each there is what it waits for
	for i, level := range o.depth {
		o.Stages[level] = append(o.Stages[level], i)
	}
	return o
}

// numbered gives equal lists equal numbers.
func numbered(lists [][]int) []int {
	out, known := make([]int, len(lists)), map[string]int{}
	var key []byte
	for i, list := range lists {
		key = key[:0]
		for _, n := range list {
			key = strconv.AppendInt(append(key, ' '), int64(n), 36)
		}
		if _, seen := known[string(key)]; !seen {
			known[string(key)] = len(known)
		}
		out[i] = known[string(key)]
	}
	return out
}

// EndAlike says that whatever waits for one of two groups waits for the other, too: none stays when the other has gone.
func (o *Order) EndAlike(a, b int) bool { return o.awaits == nil || o.awaits[a] == o.awaits[b] }

// Beside are groups that certainly run at the same time as a stage, itself included: those of earlier stages whose end
// none of them waits for.
func (o *Order) Beside(stage []int) []int {
	out := slices.Clone(stage)
	if o.before == nil || o.depth[stage[0]] == 0 {
		return out
	}
	var in, ended, both big.Int
	add := func(i int) {
		in.SetBit(&in, i, 1)
		ended.Or(&ended, &o.before[i])
	}
	for _, i := range stage {
		add(i)
	}
	for i := range slices.Backward(o.depth) {
		if o.depth[i] < o.depth[stage[0]] && ended.Bit(i) == 0 && both.And(&in, &o.before[i]).Sign() == 0 {
			out = append(out, i)
			add(i)
		}
	}
	slices.Sort(out)
	return out
}

// CompletedBefore says whether group a has completed when group b starts.
func (o *Order) CompletedBefore(a, b int) bool { return o.before != nil && o.before[b].Bit(a) == 1 }
