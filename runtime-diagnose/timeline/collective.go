package timeline

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unique"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Call is what one rank's watchdog said about a collective that did not finish. Numbers are
// -1 where it does not say.
type Call struct {
	Rank      int
	Group     string // of processes: sequence numbers count within one; "" is the default group
	Seq       int64  // of the collective that did not finish
	Op        string // "ALLREDUCE"
	Size      string // elements in and out
	Enqueued  int64  // the last one handed to the device
	Completed int64  // the last one that finished
	Line      int
	Text      string // masked
}

// The texts are those of PyTorch's ProcessGroupNCCL from 1.13 to 2.10
// (https://github.com/pytorch/pytorch/blob/main/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp):
// the timeout itself, the state of the group behind it, and the answer of ranks that were
// asked to dump.
var (
	rankOf    = regexp.MustCompile(`Rank (\d+)\]`)
	groupOf   = regexp.MustCompile(`\[PG (?:ID )?(\d+)(?: PG GUID [^( ]+)? ?(?:\(([^)]*)\))?`)
	workOf    = regexp.MustCompile(`WorkNCCL\(SeqNum=(\d+), OpType=(\w+)(?:, NumelIn=(\d+), NumelOut=(\d+))?`)
	stuckAt   = regexp.MustCompile(`(?:Timeout at NCCL work: |at work(?: sequence id)?: )(\d+)`)
	enqueued  = regexp.MustCompile(`(?i)last enqueued (?:NCCL )?work: (-?\d+)`)
	completed = regexp.MustCompile(`(?i)last completed(?: (?:NCCL )?work)?: (-?\d+)`)
)

// ReadCall reads a line of the watchdog; ok is false if it is none.
func ReadCall(text string) (c Call, ok bool) {
	if !strings.Contains(text, "WorkNCCL(") && !strings.Contains(text, "ast enqueued ") {
		return c, false
	}
	c = Call{Rank: -1, Seq: -1, Enqueued: -1, Completed: -1}
	if m := rankOf.FindStringSubmatch(text); m != nil {
		c.Rank = int(number(m[1]))
	}
	if m := groupOf.FindStringSubmatch(text); m != nil && m[1] != "0" {
		c.Group = cmp.Or(m[2], m[1])
	}
	if m := workOf.FindStringSubmatch(text); m != nil {
		c.Seq, c.Op = number(m[1]), m[2]
		if m[3] != "" {
			c.Size = m[3] + "→" + m[4]
		}
	} else if m := stuckAt.FindStringSubmatch(text); m != nil {
		c.Seq = number(m[1])
	}
	if m := enqueued.FindStringSubmatch(text); m != nil {
		c.Enqueued = number(m[1])
	}
	if m := completed.FindStringSubmatch(text); m != nil {
		// Versions before 2.4 print memory that was not set: a number beyond what was handed over.
		if n := number(m[1]); n <= max(c.Enqueued, c.Seq) {
			c.Completed = n
		}
	}
	return c, c.Rank >= 0 && (c.Seq >= 0 || c.Enqueued >= 0)
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// Waited is what the watchdogs of all ranks say together.
type Waited struct {
	Group  string
	Seq    int64  // the collective that most ranks wait in; -1: unknown
	Op     string // theirs
	Ranks  int    // that wait in it
	Behind []int  // ranks that did not get there, or do something else there; sorted
	Why    string // how the ranks in Behind differ, as a clause
	Desync bool   // two operations, or two sizes, stand at the same number
}

// state is one rank in one group, from all it said.
type state struct {
	seq, enqueued, completed int64
	kind                     unique.Handle[string] // operation and size, with a space between
}

// Compare finds the rank a collective waited for. Sequence numbers of one group count the
// collectives that a rank has handed over, so ranks that wait in number n have all handed it
// over, and a rank whose last number is smaller has not: it is elsewhere, or stuck inside the
// call itself, because the number is raised when the call returns. Where ranks stand at the
// same number with another operation or size, they do not run the same program there.
func Compare(calls iter.Seq[Call]) (w Waited, ok bool) {
	groups := map[string]map[int]state{}
	unknown := unique.Make(" ")
	for c := range calls {
		g := groups[c.Group]
		if g == nil {
			g = map[int]state{}
			groups[c.Group] = g
		}
		s, known := g[c.Rank]
		if !known {
			s = state{seq: -1, enqueued: -1, completed: -1, kind: unknown}
		}
		if c.Seq >= 0 && (s.seq < 0 || c.Seq < s.seq) || c.Seq == s.seq && c.Op != "" {
			s.seq, s.kind = c.Seq, unique.Make(c.Op+" "+c.Size)
		}
		s.enqueued, s.completed = max(s.enqueued, c.Enqueued), max(s.completed, c.Completed)
		g[c.Rank] = s
	}
	// The group with the most ranks tells most; the default one of two that are equal.
	best := ""
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if b := groups[best]; b == nil || len(groups[name]) > len(b) {
			best = name
		}
	}
	if groups[best] == nil {
		return w, false
	}
	return judge(best, groups[best]), true
}

// stand is where a rank is: the collective it waits in, or the last one it handed over.
func (s state) stand() int64 {
	if s.seq >= 0 {
		return s.seq
	}
	return s.enqueued
}

func judge(group string, ranks map[int]state) Waited {
	w := Waited{Group: group, Seq: -1}
	count := map[int64]int{}
	for _, s := range ranks {
		if s.seq >= 0 {
			count[s.seq]++
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(count)) {
		if count[seq] > w.Ranks {
			w.Seq, w.Ranks = seq, count[seq]
		}
	}
	if w.Seq < 0 {
		return w
	}
	byKind := map[string][]int{}
	for _, r := range slices.Sorted(maps.Keys(ranks)) {
		s := ranks[r]
		switch {
		case s.seq == w.Seq:
			byKind[s.kind.Value()] = append(byKind[s.kind.Value()], r)
		case s.stand() < w.Seq:
			w.Behind = append(w.Behind, r)
		case s.seq > w.Seq:
			// It waits further on: what the others wait in, it never joined or had passed.
			w.Behind = append(w.Behind, r)
		}
	}
	if unknown := byKind[" "]; len(byKind) > 1 && len(unknown) > 0 {
		delete(byKind, " ") // the line that names their operation was lost
	}
	kinds := slices.SortedFunc(maps.Keys(byKind), func(a, b string) int {
		return cmp.Or(-cmp.Compare(len(byKind[a]), len(byKind[b])), strings.Compare(a, b))
	})
	w.Op, _, _ = strings.Cut(kinds[0], " ")
	if len(kinds) > 1 {
		w.Desync = true
		if len(byKind[kinds[1]]) < len(byKind[kinds[0]]) {
			w.Behind = nil
			for _, k := range kinds[1:] {
				w.Behind = append(w.Behind, byKind[k]...)
			}
			slices.Sort(w.Behind)
			odd := ranks[w.Behind[0]].kind.Value() // of more than two, the one of the rank that is named
			w.Why = fmt.Sprintf("%s at #%d, where %d others run %s", called(odd), w.Seq, len(byKind[kinds[0]]), called(kinds[0]))
		} else {
			n := len(byKind[kinds[0]])
			w.Why = fmt.Sprintf("at #%d %s run%s %s and %d run%s %s", w.Seq, words.Count(n, "rank", "ranks"), words.Verb(n), called(kinds[0]), n, words.Verb(n), called(kinds[1]))
		}
		return w
	}
	w.Behind = lowest(w.Behind, ranks)
	if len(w.Behind) > 0 {
		s := ranks[w.Behind[0]]
		last := s.enqueued
		if last < 0 {
			last = s.stand()
		}
		w.Why = fmt.Sprintf("last handed over #%d, while %d others wait in #%d", last, w.Ranks, w.Seq)
		return w
	}
	return w
}

// lowest are the ranks furthest behind: what they wait for is nearer to the cause.
func lowest(behind []int, ranks map[int]state) []int {
	var out []int
	least := int64(-1)
	for _, r := range behind {
		s := ranks[r].stand()
		switch {
		case least < 0 || s < least:
			least, out = s, []int{r}
		case s == least:
			out = append(out, r)
		}
	}
	return out
}

func called(kind string) string {
	op, size, _ := strings.Cut(kind, " ")
	if size == "" {
		return op
	}
	return op + " of " + size + " elements"
}
