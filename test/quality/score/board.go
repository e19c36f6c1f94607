package score

import (
	"fmt"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// Share is how many of so many.
type Share struct{ N, Of int }

// Add counts one more.
func (s *Share) Add(ok bool) {
	s.Of++
	if ok {
		s.N++
	}
}

// Percent is the share in percent; 0 of nothing.
func (s Share) Percent() float64 { return Percent(s.N, s.Of) }

func (s Share) String() string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d %.1f %%", s.N, s.Of, s.Percent())
}

// Percent is a share in percent; 0 of nothing.
func Percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// Count is what the cases of one origin come to. What is wrong in two ways counts in both columns.
type Count struct {
	Cases    int
	Cause    Share // of failures: the category
	Line     Share // of failures whose label has one: the decisive line
	Pod      Share // of failures whose label names one: the pod that went first
	Missed   Share // failures that were called healthy
	Unnamed  Share // failures of which no cause was named
	Mistaken Share // failures of which a consequence was called the cause
	Well     Share // healthy cases that were called healthy
	Alarm    Share // healthy cases that were called failures
	Never    Share // answers that a label rules out
	Standing map[diagnose.Standing]*Share
}

// standings, the strongest first.
var standings = []diagnose.Standing{diagnose.Established, diagnose.Supported, diagnose.Hypothesis}

// CountOf sums cases up.
func CountOf(cases []Case) Count {
	n := Count{Cases: len(cases), Standing: map[diagnose.Standing]*Share{}}
	for _, s := range standings {
		n.Standing[s] = &Share{}
	}
	for _, c := range cases {
		if c.Result.Root != nil {
			if at := n.Standing[c.Result.Root.Standing]; at != nil {
				at.Add(c.Right())
			}
		}
		if c.Label.rulesOut() {
			n.Never.Add(c.Forbidden)
		}
		if c.Healthy() {
			n.Well.Add(c.Cause)
			n.Alarm.Add(c.Alarm)
			continue
		}
		n.Cause.Add(c.Cause)
		n.Missed.Add(c.Missed)
		n.Unnamed.Add(c.Result.Root == nil && !c.Missed)
		n.Mistaken.Add(c.Mistaken)
		if c.wantsLine() {
			n.Line.Add(c.Line)
		}
		if c.wantsPod() {
			n.Pod.Add(c.Pod)
		}
	}
	return n
}

// Row is the cases of one origin.
type Row struct {
	Name  string
	Cases []Case
}

// Board is the score for people, in Markdown: a line for each origin.
func Board(rows []Row) string {
	var b strings.Builder
	b.WriteString("| origin | cases | cause | line | first pod | called healthy | not named | consequence as cause | healthy: Yes | alarms | established | supported | hypothesis |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range rows {
		n := CountOf(row.Cases)
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %d | %d | %d | %s | %d | %s | %s | %s |\n", row.Name, n.Cases, n.Cause, n.Line, n.Pod,
			n.Missed.N, n.Unnamed.N, n.Mistaken.N, n.Well, n.Alarm.N, n.Standing[diagnose.Established], n.Standing[diagnose.Supported], n.Standing[diagnose.Hypothesis])
	}
	return b.String()
}

// Floors are what the cases of an origin have to reach, in percent; 0 asks for nothing.
type Floors struct {
	Cause, Line, Pod, Well  float64
	Missed, Alarm, Mistaken float64 // at most so many, in percent of what could be
}

// Below says which floors are missed, in sentences; none: all are reached.
func (f Floors) Below(n Count) []string {
	var out []string
	least := func(what string, s Share, want float64) {
		if s.Of > 0 && s.Percent() < want {
			out = append(out, fmt.Sprintf("%s: %s; at least %.1f %% wanted", what, s, want))
		}
	}
	most := func(what string, s Share, want float64) {
		if s.Of > 0 && s.Percent() > want {
			out = append(out, fmt.Sprintf("%s: %s; at most %.1f %% wanted", what, s, want))
		}
	}
	least("cause right", n.Cause, f.Cause)
	least("decisive line found", n.Line, f.Line)
	least("first pod named", n.Pod, f.Pod)
	least("healthy called healthy", n.Well, f.Well)
	most("failures called healthy", n.Missed, f.Missed)
	most("healthy called failures", n.Alarm, f.Alarm)
	most("a consequence called the cause", n.Mistaken, f.Mistaken)
	return out
}

// Misses lists the cases that are not right, with what was said and what was wanted.
func Misses(cases []Case) string {
	var b strings.Builder
	for _, c := range cases {
		pod := !c.wantsPod() || c.Pod
		if c.Cause && (c.Line || !c.wantsLine()) && pod && !c.Forbidden {
			continue
		}
		standing := diagnose.Standing("-")
		if c.Result.Root != nil {
			standing = c.Result.Root.Standing
		}
		fmt.Fprintf(&b, "%s%s%s %-44s want %s; got %s %s (%s)", mark("C", c.Cause), mark("L", c.Line || !c.wantsLine()), mark("P", pod), c.ID(), c.Label.Category, c.Result.Verdict, c.Result.Category, standing)
		if root := c.Result.Root; root != nil {
			fmt.Fprintf(&b, " %s: %.120q", root.Signature, root.Line)
			if !pod {
				fmt.Fprintf(&b, " in %s, want %s", root.Source.Pod+root.Source.File, strings.Join(c.Label.FirstPod, " or "))
			}
		}
		if c.wantsLine() && !c.Line {
			fmt.Fprintf(&b, "\n     key %.160q", strings.Join(append([]string{c.Label.KeyLine}, c.Label.KeyPatterns...), " | "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func mark(what string, ok bool) string {
	if ok {
		return "."
	}
	return what
}
