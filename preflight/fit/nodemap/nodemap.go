// Package nodemap draws a cluster for a terminal: which devices are used, which are free, which are
// of no use to a job and why, and where the pods of a plan would go. It judges nothing; every number
// comes from the snapshot and the answer of the fit. It writes text and knows no terminal.
//
// Start reading at Draw.
package nodemap

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/words"
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
	Hidden             // unknown: the view holds no pods
)

var (
	drawn = [...]rune{Used: '■', Ours: '◆', Free: '□', Closed: '×', Broken: '!', Hidden: '?'}
	typed = [...]rune{Used: '#', Ours: '@', Free: '.', Closed: 'x', Broken: '!', Hidden: '?'}
	means = [...]string{Used: "used", Ours: "this job", Free: "free", Closed: "closed" + toThisJob, Broken: "missing", Hidden: "not known"}
)

// leastWidth is what a row needs to say anything.
const leastWidth = 60

// Draw draws the cluster as the job sees it, about Options.Lines lines of at most
// Options.Width characters each, every line with its end. Equal nodes are drawn once.
func Draw(q Question, o Options) string {
	of := resourceOf(q)
	return (&panel{o: o, of: of}).draw(q.Cluster, func() []*pool { return poolsOf(q, of) })
}

// DrawOverview draws the cluster for no job in particular, as Draw does.
func DrawOverview(view *cluster.Snapshot, o Options) string {
	of := mostOf(view)
	return (&panel{o: o, of: of, nobody: true}).draw(view, func() []*pool { return overview(view, of) })
}

func (p *panel) draw(view *cluster.Snapshot, pools func() []*pool) string {
	if why := view.Incomplete(); why != "" {
		return strings.Join(wrapped("no map: "+why, max(p.o.Width, leastWidth)), "\n") + "\n"
	}
	p.known = view.PodsKnown()
	if p.o.Width < leastWidth {
		p.o.Width = leastWidth
	}
	if p.o.Lines <= 0 {
		p.o.Lines = 40
	}
	p.pools = pools()
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

	nobody bool // in particular asks
	pools  []*pool
	marks  [Hidden + 1]bool // that were drawn
	out    strings.Builder

	averages bool // were drawn
	above    int  // lines of the sum
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
		p.lines("", fmt.Sprintf("none of %s has %s", words.Count(nodes, "node", "nodes"), p.of))
		p.pools = nil
		return
	}
	if len(p.pools) == 1 { // whose heading says the same
		return
	}
	sum := fmt.Sprintf("%s: %s", p.of, all.text(p.of, p.known))
	if more := fmt.Sprintf("; %s on %s", amountOf(p.of, all.total()), words.Count(nodes, "node", "nodes")); utf8.RuneCountInString(sum+more) <= p.o.Width {
		sum += more
	}
	p.above = p.lines("", sum)
}

// What every drawing and every pool needs: a heading, an empty line and the legend on two; an
// empty line, a heading and who uses it.
const frame, poolFrame, leastRows = 4, 3, 2

// body is the pools, each with a heading and rows, as many as there is room for.
func (p *panel) body() {
	shown, rest := p.pools, []*pool(nil)
	if most := max(1, (p.o.Lines-frame-p.above-poolFrame)/(poolFrame+leastRows)); len(shown) > most {
		shown, rest = p.pools[:most], p.pools[most:]
	}
	left := p.o.Lines - frame - max(0, p.above-1) - poolFrame*len(shown)
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
	p.heading(words.Count(len(rest), "more pool", "more pools"), ", "+words.Count(nodes, "node", "nodes")+": "+sum.text(p.of, p.known))
}

// heading is a name and what is said of it, below where it has no room beside.
func (p *panel) heading(name, says string) (taken int) {
	if utf8.RuneCountInString(name+says) <= p.o.Width {
		p.line(name + says)
		return 1
	}
	return p.lines("", name) + p.lines("  ", strings.TrimLeft(says, ",: "))
}

// lines is a text on as many lines as it needs.
func (p *panel) lines(indent, text string) (taken int) {
	parts := wrapped(text, p.o.Width-len(indent))
	for _, part := range parts {
		p.line(indent + part)
	}
	return len(parts)
}

// pool draws one pool in at most so many rows, and returns how many it took.
func (p *panel) pool(of *pool, rows int) int {
	if len(p.pools) > 1 {
		p.line("")
	}
	if of.sum.total() == 0 {
		p.heading(of.name, ": "+words.Count(of.nodes, "node", "nodes"))
		return 0
	}
	each := ", " + words.Count(of.nodes, "node", "nodes")
	if of.each > 0 {
		each += " of " + amountOf(p.of, of.each)
	}
	says := ": " + of.sum.text(p.of, p.known)
	if what := " " + string(p.of); len(p.pools) == 1 && of.name != string(p.of) && utf8.RuneCountInString(of.name+each+what+says) <= p.o.Width {
		each += what
	}
	taken := p.heading(of.name, each+says) - 1
	held := of.holders.text(p.of, p.o.Width)
	if held != "" {
		taken += len(wrapped(held, p.o.Width-2)) - 1
	}
	var rt rowTable
	for most := max(leastRows, rows-taken); ; most-- { // a row that needs two lines leaves room for one less
		rt = p.tableOf(of, most)
		if most <= leastRows || rt.lines+taken <= rows {
			break
		}
	}
	if held != "" && !p.allNamed(rt) {
		p.lines("  ", held)
	}
	for i, r := range rt.rows {
		head := strings.Repeat(" ", of.cells-r.each.cellsIn(of.cells)+2+rt.wide-utf8.RuneCountInString(rt.heads[i])) + rt.heads[i]
		beside, below := p.besides(r, rt)
		p.line(p.margin(r) + p.bar(&r.each, of.cells) + head + "  " + beside)
		if below != "" {
			p.lines(indented, below)
		}
	}
	if rt.rest != nil {
		p.lines("  ", restText(rt.rest, p))
	}
	return rt.lines + taken
}

// indented is where stands what has no room beside a bar.
const indented = "    "

func restText(rest *remainder, p *panel) string {
	return fmt.Sprintf("and %s in other states: %s", words.Count(rest.nodes, "node", "nodes"), rest.sum.text(p.of, p.known))
}

// rowTable is the rows of a pool and how their columns are shared out.
type rowTable struct {
	rows  []*row
	rest  *remainder
	heads []string
	wide  int // of the heads
	noted int // of the notes that stand beside
	room  int // for notes and names
	lines int // that all of it takes
}

func (p *panel) tableOf(of *pool, most int) rowTable {
	var rt rowTable
	rt.rows, rt.rest = of.pick(most)
	for _, r := range rt.rows {
		rt.heads = append(rt.heads, words.Count(len(r.names), "node", "nodes"))
		rt.wide = max(rt.wide, utf8.RuneCountInString(rt.heads[len(rt.heads)-1]))
	}
	rt.room = p.o.Width - 2 - of.cells - 2 - rt.wide - 2
	for _, r := range rt.rows { // a note that leaves no room for names has lines of its own
		if n := utf8.RuneCountInString(r.note); n <= rt.room*3/5 {
			rt.noted = max(rt.noted, n)
		}
	}
	rt.lines = len(rt.rows)
	for _, r := range rt.rows {
		if _, below := p.besides(r, rt); below != "" {
			rt.lines += len(wrapped(below, p.o.Width-len(indented)))
		}
	}
	if rt.rest != nil {
		rt.lines += len(wrapped(restText(rt.rest, p), p.o.Width-2))
	}
	return rt
}

// margin says whether a bar is that of each node, or of all on average.
func (p *panel) margin(r *row) string {
	if !r.average {
		return "  "
	}
	p.averages = true
	return "~ "
}

// allNamed says whether each row names all holders of what is used on it: then none has to be named above.
func (p *panel) allNamed(rt rowTable) bool {
	return rt.rest == nil && !slices.ContainsFunc(rt.rows, func(r *row) bool {
		beside, _ := p.besides(r, rt)
		return !strings.HasSuffix(beside, strings.Join(r.holders.list(p.of), ", "))
	})
}

// besides is what stands beside a bar and below it, who holds what is used behind it where there is room.
func (p *panel) besides(r *row, rt rowTable) (beside, below string) {
	if names := r.holders.list(p.of); len(names) > 0 {
		all := []string{strings.Join(names, ", ")}
		if len(names) > 1 {
			all = append(all, fmt.Sprintf("%s and %d more", names[0], len(names)-1))
		}
		for _, held := range all {
			held = "  " + by + held
			if beside, below = besides(r, rt.noted, rt.room-utf8.RuneCountInString(held)); below == "" {
				return beside + held, ""
			}
		}
	}
	return besides(r, rt.noted, rt.room)
}

// besides is what stands beside a bar, what is to be known and then names; below it stands what has no room there.
func besides(r *row, noted, room int) (beside, below string) {
	names := room
	if noted > 0 {
		names -= noted + 2
	}
	at := someNames(r.names, names)
	if utf8.RuneCountInString(r.note) <= noted {
		beside = r.note
	} else {
		below = r.note
	}
	if at != "" {
		if noted > 0 {
			at = beside + strings.Repeat(" ", noted+2-utf8.RuneCountInString(beside)) + at
		}
		return at, below
	}
	if below != "" {
		below += ": "
	}
	below += r.names[0]
	if len(r.names) > 1 {
		below += fmt.Sprintf(" and %d more", len(r.names)-1)
	}
	return beside, below
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

// toThisJob ends the word of a mark that is about one job.
const toThisJob = " to this job"

// legend explains the marks that were drawn.
func (p *panel) legend() {
	var parts []string
	for mark, seen := range p.marks {
		if seen {
			word := means[mark]
			if p.nobody {
				word = strings.TrimSuffix(word, toThisJob)
			}
			parts = append(parts, string(p.glyph(Mark(mark)))+" "+word)
		}
	}
	if p.averages {
		parts = append(parts, "~ on average")
	}
	if len(parts) > 0 {
		p.line("")
		p.lines("", strings.Join(parts, "  "))
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

// wrapped breaks a text between words, and a word that is longer than a line wherever the line ends.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, strings.TrimRight(line, " ")), word
		} else if line != "" {
			line += " " + word
		} else {
			line = word
		}
		for utf8.RuneCountInString(line) > width {
			runes := []rune(line)
			lines, line = append(lines, string(runes[:width])), string(runes[width:])
		}
	}
	return append(lines, line)
}
