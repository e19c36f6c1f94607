package timeline

import (
	"slices"
	"testing"
)

// Of ranks that run several operations besides the one of most, the clause is about the rank that is named.
func TestTheClauseIsOfTheRankThatIsNamed(t *testing.T) {
	call := func(rank int, op string) Call { return Call{Rank: rank, Seq: 7, Op: op, Enqueued: 7, Completed: 6} }
	w, ok := Compare(slices.Values([]Call{call(0, "REDUCE"), call(1, "ALLREDUCE"), call(2, "ALLREDUCE"), call(3, "ALLREDUCE"), call(4, "BROADCAST")}))
	if want := "REDUCE at #7, where 3 others run ALLREDUCE"; !ok || !w.Desync || w.Why != want || !slices.Equal(w.Behind, []int{0, 4}) {
		t.Errorf("%+v; want %q of ranks 0 and 4", w, want)
	}
}
