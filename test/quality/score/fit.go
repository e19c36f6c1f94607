package score

import (
	"fmt"
	"slices"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
)

// choice is what one candidate would be worth as the answer.
type choice struct {
	has      []attribute.Feature
	vetoed   bool
	position int
	mark     Mark
	worth    int
}

// puzzle is one answer as fitting sees it: the candidates among which the points choose.
type puzzle struct {
	of      *Case
	choices []choice
}

// Fold is the cases of one source.
type Fold struct {
	Name    string
	puzzles []puzzle
}

// A right cause is worth two of a right line or pod. OneCase is what a case weighs; one
// that is handed over in several ways is one case.
const (
	OneCase   = 60
	causeIs   = 2
	lineOrPod = 1
	perPoint  = 1 // a point away from where fitting starts costs so much: nothing moves for nothing
)

// FoldOf makes a fold of failures that have something to choose from.
func FoldOf(name string, cases []Case, weight int) (Fold, error) {
	ways := map[string]int{}
	for i := range cases {
		ways[cases[i].Name]++
	}
	f := Fold{Name: name}
	for i := range cases {
		c := &cases[i]
		if c.Healthy() || len(c.Result.Candidates) < 2 {
			continue
		}
		p := puzzle{of: c}
		for k := range c.Result.Candidates {
			a := &c.Result.Candidates[k]
			m, err := c.MarkOf(a)
			if err != nil {
				return f, fmt.Errorf("read label of %s: %w", c.Name, err)
			}
			one := choice{vetoed: a.Veto != "", position: a.Position, mark: m, worth: c.worth(m) * weight / ways[c.Name]}
			for _, r := range a.Because {
				one.has = append(one.has, r.Feature)
			}
			p.choices = append(p.choices, one)
		}
		f.puzzles = append(f.puzzles, p)
	}
	return f, nil
}

func (c *Case) worth(m Mark) int {
	n := 0
	if m.Cause && !m.Forbidden {
		n += causeIs
	}
	if c.wantsLine() && m.Line {
		n += lineOrPod
	}
	if c.wantsPod() && m.Pod {
		n += lineOrPod
	}
	return n
}

// choose is the candidate that a table makes the answer; nil: all are vetoed.
func (p *puzzle) choose(t *attribute.Table) *choice {
	var best *choice
	most := 0
	for i := range p.choices {
		c := &p.choices[i]
		if c.vetoed {
			continue
		}
		n := 0
		for _, f := range c.has {
			n += t[f]
		}
		if best == nil || n > most || n == most && c.position < best.position {
			best, most = c, n
		}
	}
	return best
}

// worthOf is what the answers of folds come to under a table.
func worthOf(folds []Fold, t *attribute.Table) int {
	n := 0
	for i := range folds {
		for k := range folds[i].puzzles {
			if c := folds[i].puzzles[k].choose(t); c != nil {
				n += c.worth
			}
		}
	}
	return n
}

// tried are by how many points a feature is moved at once.
var tried = []int{1, 2, 3, 5, 8, 12, 20, 30, 45}

// mostMoves bounds how many moves are made; fitting ends when none is worth it.
const mostMoves = 40

// Fit makes one move after the other, each the one by which the answers gain most, and as short as that
// takes. It starts from the same table always, so that the same cases give the same points.
func Fit(folds []Fold) attribute.Table {
	start := attribute.Start()
	t := start
	value := func(t *attribute.Table) int {
		n := worthOf(folds, t)
		for f := range t {
			n -= perPoint * max(t[f]-start[f], start[f]-t[f])
		}
		return n
	}
	best := value(&t)
	for range mostMoves {
		feature, to := -1, 0
		for f := range t {
			old := t[f]
			for _, by := range tried {
				for _, n := range []int{old - by, old + by} {
					t[f] = n
					if v := value(&t); v > best {
						best, feature, to = v, f, n
					}
				}
			}
			t[f] = old
		}
		if feature < 0 {
			break
		}
		t[feature] = to
	}
	return t
}

// Tally is how many of the answers that have a choice are right.
type Tally struct{ Cause, Line, Pod Share }

// TallyOf counts what a table chooses in a fold.
func (f *Fold) TallyOf(t *attribute.Table) Tally {
	var out Tally
	for i := range f.puzzles {
		p := &f.puzzles[i]
		c := p.choose(t)
		if c == nil {
			c = &choice{}
		}
		out.Cause.Add(c.mark.Cause && !c.mark.Forbidden)
		if p.of.wantsLine() {
			out.Line.Add(c.mark.Line)
		}
		if p.of.wantsPod() {
			out.Pod.Add(c.mark.Pod)
		}
	}
	return out
}

func (t Tally) String() string {
	return fmt.Sprintf("cause %s, line %s, pod %s", t.Cause, t.Line, t.Pod)
}

// CrossValidated says what points are worth on sources from which none of them comes: each source is
// judged by a table that was fitted to the others.
func CrossValidated(folds []Fold) string {
	var b strings.Builder
	start := attribute.Start()
	b.WriteString("answers with two candidates or more, by source\n")
	fitted := Fit(folds)
	for i := range folds {
		others := slices.Delete(slices.Clone(folds), i, i+1)
		without := Fit(others)
		fmt.Fprintf(&b, "%s (%d)\n  before fitting    %s\n  fitted to others  %s\n  fitted to all     %s\n",
			folds[i].Name, len(folds[i].puzzles), folds[i].TallyOf(&start), folds[i].TallyOf(&without), folds[i].TallyOf(&fitted))
	}
	return b.String()
}

// WeightsFile is the Go source of a table.
func WeightsFile(t attribute.Table) string {
	var b strings.Builder
	b.WriteString("// Code generated by make weights from the labelled cases; DO NOT EDIT.\n\npackage attribute\n\n// weights are the points of each feature, as fitting leaves them.\nvar weights = Table{\n")
	for _, f := range attribute.Features() {
		fmt.Fprintf(&b, "\t%s: %d, // %s\n", f.GoName(), t[f], f.Doc())
	}
	b.WriteString("}\n")
	return b.String()
}

// Ablation says by origin what each feature moves: how many answers more are wrong without its points.
func Ablation(folds []Fold) string {
	var b strings.Builder
	all := attribute.Weights()
	b.WriteString("| feature | points |")
	for _, f := range folds {
		b.WriteString(" " + f.Name + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(folds)) + "\n")
	for _, f := range attribute.Features() {
		t := all
		t[f] = 0
		fmt.Fprintf(&b, "| %s | %d |", f, all[f])
		for i := range folds {
			with, without := folds[i].TallyOf(&all), folds[i].TallyOf(&t)
			fmt.Fprintf(&b, " %s |", differs(with, without))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// differs is how many answers are lost, as "cause/line/pod"; "·" where none is.
func differs(with, without Tally) string {
	c, l, p := without.Cause.N-with.Cause.N, without.Line.N-with.Line.N, without.Pod.N-with.Pod.N
	if c == 0 && l == 0 && p == 0 {
		return "·"
	}
	return fmt.Sprintf("%+d/%+d/%+d", c, l, p)
}

// Lost is how many answers more or less are right without something, as "cause/line/pod/healthy", and how many
// more or less failures are called healthy and healthy runs failures; "·" where none is.
func Lost(with, without Count) string {
	d := [...]int{without.Cause.N - with.Cause.N, without.Line.N - with.Line.N, without.Pod.N - with.Pod.N, without.Well.N - with.Well.N}
	missed, alarms := without.Missed.N-with.Missed.N, without.Alarm.N-with.Alarm.N
	if d == [4]int{} && missed == 0 && alarms == 0 {
		return "·"
	}
	out := fmt.Sprintf("%+d/%+d/%+d/%+d", d[0], d[1], d[2], d[3])
	if missed != 0 {
		out += fmt.Sprintf(" missed %+d", missed)
	}
	if alarms != 0 {
		out += fmt.Sprintf(" alarms %+d", alarms)
	}
	return out
}

// The calibration that is wanted, in percent of answers with nothing wrong.
var wanted = map[diagnose.Standing]float64{diagnose.Established: 99, diagnose.Supported: 93, diagnose.Hypothesis: 60}

// Calibration says of each standing how often it is right over all rows, and how often something
// established is about a wrong pod or a healthy job.
func Calibration(rows []Row) string {
	var all []Case
	for _, r := range rows {
		all = append(all, r.Cases...)
	}
	n := CountOf(all)
	var b strings.Builder
	for _, s := range standings {
		fmt.Fprintf(&b, "%s: right in %s; %.0f %% wanted\n", s, n.Standing[s], wanted[s])
	}
	pods, healthy := 0, 0
	for _, c := range all {
		if c.Result.Root == nil || c.Result.Root.Standing != diagnose.Established {
			continue
		}
		if c.Healthy() && c.Alarm {
			healthy++
		}
		if c.wantsPod() && c.Named && !c.Pod {
			pods++
		}
	}
	fmt.Fprintf(&b, "established about a wrong pod: %d; established failures of healthy jobs: %d; none wanted\n", pods, healthy)
	return b.String()
}
