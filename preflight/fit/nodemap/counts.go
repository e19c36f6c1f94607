package nodemap

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// counts are amounts by mark.
type counts [Hidden + 1]int64

// countsOf parts what one node has. What the job's own pods hold is the job's; what the
// plan adds comes out of what is free.
func countsOf(n *cluster.Node, of corev1.ResourceName, st fit.NodeReason, plan *share, known bool) counts {
	var c counts
	total := max(0, n.Allocatable[of])
	c[Broken] = n.Missing(of)
	used := min(total, max(0, n.Used(of)))
	own := min(used, max(0, st.Own))
	c[Used], c[Ours] = used-own, own
	free := total - used
	if plan != nil && plan.amount > own {
		more := min(free, plan.amount-own)
		c[Ours] += more
		free -= more
	}
	switch {
	case !known:
		c[Hidden] = free
	case st.Closed:
		c[Closed] = free
	default:
		c[Free] = free
	}
	return c
}

func (c *counts) add(d *counts) {
	for i, n := range d {
		c[i] = saturate.Add(c[i], n)
	}
}

func (c *counts) total() int64 {
	sum := int64(0)
	for _, n := range c {
		sum = saturate.Add(sum, n)
	}
	return sum
}

// text is "40 used, 16 this job, 8 free"; known says whether the pods were seen.
func (c *counts) text(of corev1.ResourceName, known bool) string {
	names := [...]string{Used: "used", Ours: "this job", Free: "free", Closed: "closed", Broken: "missing", Hidden: "unknown"}
	var out []string
	for mark, n := range c {
		if n > 0 || known && (mark == int(Used) || mark == int(Free)) {
			out = append(out, amountOf(of, n)+" "+names[mark])
		}
	}
	if !known {
		out = append(out, "used: not known")
	}
	return strings.Join(out, ", ")
}

// amountOf is an amount in the unit that people think in: whole cores, GiB, devices.
func amountOf(of corev1.ResourceName, n int64) string {
	switch of {
	case corev1.ResourceMemory:
		return fmt.Sprintf("%dGi", n>>30)
	case corev1.ResourceCPU:
		return strconv.FormatInt(n/1000, 10)
	default:
		return strconv.FormatInt(n, 10)
	}
}

// A bar has a cell for each device of a node up to oneEach, else scaled cells.
const oneEach, scaled = 16, 10

// cellsOf is the length of the bars of nodes that have so much.
func cellsOf(of corev1.ResourceName, has int64) int {
	if unit := job.AcceleratorUnit(of); unit != job.NotAccelerator && has <= oneEach {
		return int(has)
	}
	return scaled
}

// cellsIn is how many cells the bar takes.
func (c *counts) cellsIn(nodeGroups int) int {
	sum := 0
	for _, n := range c.cells(nodeGroups) {
		sum += n
	}
	return sum
}

// cells deals the cells of a bar to the amounts, in proportion where a cell is not one
// device; whatever there is has a cell, as long as there are cells.
func (c *counts) cells(cells int) [Hidden + 1]int {
	var out [Hidden + 1]int
	total := c.total()
	if total == 0 || cells == 0 {
		return out
	}
	dealt := 0
	for mark, n := range c {
		if n == 0 {
			continue
		}
		out[mark] = max(1, int(math.Round(float64(n)/float64(total)*float64(cells))))
		dealt += out[mark]
	}
	for ; dealt != cells; dealt += sign(cells - dealt) { // rounding: the longest gives or takes
		longest := 0
		for mark, n := range out {
			if n > out[longest] {
				longest = mark
			}
		}
		out[longest] += sign(cells - dealt)
	}
	return out
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}
