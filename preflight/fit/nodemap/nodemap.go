// Package nodemap draws a cluster for a terminal: which devices are used, which are free, which are
// of no use to a job and why, and where the pods of a plan would go. It judges nothing; every number
// comes from the snapshot and the answer of the fit. It writes text and knows no terminal.
//
// Start reading at Draw.
package nodemap

import (
	"fmt"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// Question is a gang, the cluster it was put on, and the answer.
type Question struct {
	Cluster *cluster.Snapshot
	Gang    gang.Gang
	Fit     fit.Result
}

// Options are how the terminal wants it.
type Options struct {
	Width int  // columns; less than 60 counts as 60
	Lines int  // at most so many, about; 0: 40
	ASCII bool // no other characters
	// Ink colours a text; nil: no colour.
	Ink func(Mark, string) string
}

// Mark is what one cell of a bar stands for.
type Mark int

// The marks, in the order of a bar.
const (
	Used   Mark = iota // by pods of others
	Ours               // by the job: its pods run there, or would
	Free               // open to the job
	Closed             // free, and of no use to the job
	Broken             // the node has it and does not offer it
	Hidden             // nobody knows: the view holds no pods
)

var (
	drawn = [...]rune{Used: '■', Ours: '◆', Free: '□', Closed: '×', Broken: '!', Hidden: '?'}
	typed = [...]rune{Used: '#', Ours: '@', Free: '.', Closed: 'x', Broken: '!', Hidden: '?'}
	words = [...]string{Used: "used", Ours: "this job", Free: "free", Closed: "closed to this job", Broken: "missing", Hidden: "not known"}
)

// leastWidth is what a row needs to say anything.
const leastWidth = 60

// Draw draws the cluster as the job sees it, about Options.Lines lines of at most
// Options.Width characters each, every line with its end. Equal nodes are drawn once.
func Draw(q Question, o Options) string {
	if why := q.Cluster.Incomplete(); why != "" {
		return clip("no map: "+why, max(o.Width, leastWidth)) + "\n"
	}
	p := &panel{o: o, of: resourceOf(q), known: q.Cluster.PodsKnown()}
	if p.o.Width < leastWidth {
		p.o.Width = leastWidth
	}
	if p.o.Lines <= 0 {
		p.o.Lines = 40
	}
	p.pools = poolsOf(q, p.of)
	p.head()
	p.body()
	p.legend()
	return p.out.String()
}

// panel is a drawing under way.
type panel struct {
	o     Options
	of    corev1.ResourceName
	known bool // what pods take
	pools []*pool
	marks [Hidden + 1]bool // that were drawn
	out   strings.Builder

	averages bool // were drawn
}

func (p *panel) line(text string) {
	p.out.WriteString(strings.TrimRight(text, " "))
	p.out.WriteByte('\n')
}

// head is the sum over all nodes.
func (p *panel) head() {
	var all counts
	nodes := 0
	for _, pool := range p.pools {
		all.add(&pool.sum)
		nodes += pool.nodes
	}
	if all.total() == 0 {
		p.line(clip(fmt.Sprintf("none of %s has %s", many(nodes, "node"), p.of), p.o.Width))
		p.pools = nil
		return
	}
	if len(p.pools) == 1 { // whose heading says the same
		return
	}
	sum := fmt.Sprintf("%s: %s", p.of, all.text(p.of, p.known))
	if more := fmt.Sprintf("; %s on %s", amountOf(p.of, all.total()), many(nodes, "node")); utf8.RuneCountInString(sum+more) <= p.o.Width {
		sum += more
	}
	p.line(clip(sum, p.o.Width))
}

// What every drawing and every pool needs: a heading, an empty line and the legend; an
// empty line and a heading.
const frame, poolFrame, leastRows = 3, 2, 2

// body is the pools, each with a heading and rows, as many as there is room for.
func (p *panel) body() {
	shown, rest := p.pools, []*pool(nil)
	if most := max(1, (p.o.Lines-frame-poolFrame)/(poolFrame+leastRows)); len(shown) > most {
		shown, rest = p.pools[:most], p.pools[most:]
	}
	left := p.o.Lines - frame - poolFrame*len(shown)
	if len(rest) > 0 {
		left -= poolFrame
	}
	for i, pool := range shown {
		left -= p.pool(pool, max(leastRows, left/(len(shown)-i)))
	}
	if len(rest) == 0 {
		return
	}
	var sum counts
	nodes := 0
	for _, pool := range rest {
		sum.add(&pool.sum)
		nodes += pool.nodes
	}
	p.line("")
	p.heading(many(len(rest), "more pool"), ", "+many(nodes, "node")+": "+sum.text(p.of, p.known))
}

// heading is a name, shortened if need be, and what is said of it.
func (p *panel) heading(name, says string) {
	room := p.o.Width - utf8.RuneCountInString(says)
	p.line(clip(clip(name, max(room, 12))+says, p.o.Width))
}

// pool draws one pool in at most so many rows, and returns how many it took.
func (p *panel) pool(of *pool, rows int) int {
	if len(p.pools) > 1 {
		p.line("")
	}
	if of.sum.total() == 0 {
		p.heading(of.name, ": "+many(of.nodes, "node"))
		return 0
	}
	each := ", " + many(of.nodes, "node")
	if of.each > 0 {
		each += " of " + amountOf(p.of, of.each)
	}
	says := ": " + of.sum.text(p.of, p.known)
	if what := " " + string(p.of); len(p.pools) == 1 && of.name != string(p.of) && utf8.RuneCountInString(of.name+each+what+says) <= p.o.Width {
		each += what
	}
	p.heading(of.name, each+says)
	shown, rest := of.pick(rows)
	heads, wide, noted := make([]string, len(shown)), 0, 0
	for i, r := range shown {
		heads[i] = many(len(r.names), "node")
		wide = max(wide, utf8.RuneCountInString(heads[i]))
		noted = max(noted, utf8.RuneCountInString(r.note))
	}
	room := p.o.Width - 2 - of.cells - 2 - wide - 2
	noted = min(noted, room*3/5)
	for i, r := range shown {
		gap := strings.Repeat(" ", of.cells-r.each.cellsIn(of.cells)+2+wide-utf8.RuneCountInString(heads[i]))
		p.line(p.margin(r) + p.bar(&r.each, of.cells) + gap + heads[i] + "  " + p.beside(r, noted, room))
	}
	if rest == nil {
		return len(shown)
	}
	p.line(clip(fmt.Sprintf("  and %s in other states: %s", many(rest.nodes, "node"), rest.sum.text(p.of, p.known)), p.o.Width))
	return len(shown) + 1
}

// margin says whether a bar is that of each node, or of all on average.
func (p *panel) margin(r *row) string {
	if !r.average {
		return "  "
	}
	p.averages = true
	return "~ "
}

// beside is what stands beside a bar: what is to be known, then names.
func (p *panel) beside(r *row, noted, room int) string {
	if noted == 0 {
		return someNames(r.names, room, p.dots())
	}
	note := clip(r.note, noted)
	note += strings.Repeat(" ", noted-utf8.RuneCountInString(note)+2)
	return note + someNames(r.names, room-noted-2, p.dots())
}

func (p *panel) dots() string {
	if p.o.ASCII {
		return "..."
	}
	return "…"
}

// bar is the cells of one node.
func (p *panel) bar(c *counts, nodeGroups int) string {
	var b strings.Builder
	for mark, n := range c.cells(nodeGroups) {
		if n == 0 {
			continue
		}
		p.marks[mark] = true
		text := strings.Repeat(string(p.glyph(Mark(mark))), n)
		if p.o.Ink != nil {
			text = p.o.Ink(Mark(mark), text)
		}
		b.WriteString(text)
	}
	return b.String()
}

func (p *panel) glyph(m Mark) rune {
	if p.o.ASCII {
		return typed[m]
	}
	return drawn[m]
}

// legend explains the marks that were drawn.
func (p *panel) legend() {
	var parts []string
	for mark, seen := range p.marks {
		if seen {
			parts = append(parts, string(p.glyph(Mark(mark)))+" "+words[mark])
		}
	}
	if p.averages {
		parts = append(parts, "~ on average")
	}
	if len(parts) > 0 {
		p.line("")
		p.line(clip(strings.Join(parts, "  "), p.o.Width))
	}
}

// resourceOf is what is drawn: the accelerator that the job asks for; for a job without
// one, what it is short of, else CPU.
func resourceOf(q Question) corev1.ResourceName {
	best, most := corev1.ResourceName(""), int64(0)
	for _, g := range q.Gang.Groups {
		requests := podspec.Requested(g.Pod)
		for _, name := range requests.Names() {
			unit := job.AcceleratorUnit(name)
			if unit == job.NotAccelerator || unit == job.Portion {
				continue
			}
			if n := requests[name]; n > most {
				best, most = name, n
			}
		}
	}
	if best != "" {
		return best
	}
	for _, s := range q.Fit.Shortfall {
		if s.Resource == corev1.ResourceMemory && (s.Free < s.Asked || s.LargestFree < s.LargestAsked) {
			return corev1.ResourceMemory
		}
	}
	return corev1.ResourceCPU
}

// clip shortens a text to so many characters.
func clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-3)]) + "..."
}

// many is a count with its noun.
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
