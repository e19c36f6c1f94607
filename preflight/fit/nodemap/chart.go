package nodemap

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Pool is nodes with the same device, for a caller that draws the map otherwise than in text.
type Pool struct {
	Name  string
	Nodes int
	Text  string // "8 nodes of 8: 40 used, 16 this job, 8 free"
	Parts []Part
	Rows  []Row
	More  string // what was left out; empty: nothing
}

// Row is nodes of a pool that look alike.
type Row struct {
	Names []string
	Note  string // whose pods would go there, or why what is free is of no use
	Held  string // "used by ml/llama 8, ml/notebook 1 and 3 more"; empty: none, or unknown
	Parts []Part
}

// Part is how much of a pool or a row stands for what.
type Part struct {
	Mark  Mark
	Share float64 // of the whole, 0 to 1
	Text  string  // "16 this job"
}

// Pools are the pools of the cluster as the job sees it, each with at most so many rows; what is not known
// of the cluster is said instead.
func Pools(q Question, rows int) (pools []Pool, unknown string) {
	if why := q.Cluster.Incomplete(); why != "" {
		return nil, why
	}
	of := resourceOf(q)
	return exported(poolsOf(q, of), of, q.Cluster.PodsKnown(), rows), ""
}

// Overview are the pools of the cluster for no job in particular, by the accelerator that it has most of.
func Overview(view *cluster.Snapshot, rows int) (pools []Pool, unknown string) {
	if why := view.Incomplete(); why != "" {
		return nil, why
	}
	of := mostOf(view)
	pools = exported(overview(view, of), of, view.PodsKnown(), rows)
	for i := range pools {
		forNobody(pools[i].Parts)
		for k := range pools[i].Rows {
			forNobody(pools[i].Rows[k].Parts)
		}
	}
	return pools, ""
}

// forNobody takes the job out of the words of a bar that is drawn for none.
func forNobody(parts []Part) {
	for i := range parts {
		parts[i].Text = strings.TrimSuffix(parts[i].Text, toThisJob)
	}
}

// overview are the pools for no job in particular: what closes a node to every job closes it.
func overview(view *cluster.Snapshot, of corev1.ResourceName) []*pool {
	standings := make([]fit.NodeReason, len(view.Nodes()))
	for at, n := range view.Nodes() {
		switch {
		case !n.Ready:
			standings[at] = fit.NodeReason{Closed: true, Why: "not ready"}
		case n.Cordoned:
			standings[at] = fit.NodeReason{Closed: true, Why: "cordoned"}
		}
	}
	return sorted(view, of, nil, standings, gang.Gang{})
}

// mostOf is the accelerator that the cluster has most of; CPU where it has none.
func mostOf(view *cluster.Snapshot) corev1.ResourceName {
	of, most := corev1.ResourceCPU, int64(0)
	sums := map[corev1.ResourceName]int64{}
	for _, n := range view.Nodes() {
		for name, amount := range n.Allocatable {
			if unit := job.AcceleratorUnit(name); unit != job.NotAccelerator && unit != job.Portion {
				sums[name] = saturate.Add(sums[name], amount)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if sums[name] > most {
			of, most = name, sums[name]
		}
	}
	return of
}

// roomForHolders is how long the text of who holds what may be.
const roomForHolders = 60

func exported(all []*pool, of corev1.ResourceName, known bool, rows int) (pools []Pool) {
	for _, p := range all {
		out := Pool{Name: p.name, Nodes: p.nodes, Text: words.Count(p.nodes, "node", "nodes")}
		if p.each > 0 {
			out.Text += " of " + amountOf(of, p.each)
		}
		if p.sum.total() > 0 {
			out.Text += " " + string(of) + ": " + p.sum.text(of, known)
			shown, rest := p.pick(rows)
			for _, r := range shown {
				out.Rows = append(out.Rows, Row{Names: r.names, Note: r.note, Held: r.holders.text(of, roomForHolders), Parts: r.sum.parts(func(n int64) string { return amountOf(of, n) })})
			}
			if rest != nil {
				out.More = words.Count(rest.nodes, "more node", "more nodes") + ": " + rest.sum.text(of, known)
			}
		}
		out.Parts = p.sum.parts(func(n int64) string { return amountOf(of, n) })
		pools = append(pools, out)
	}
	return pools
}

// parts are the shares of the counts that are not nothing, in the order of a bar.
func (c *counts) parts(amount func(int64) string) (out []Part) {
	total := float64(c.total())
	for mark, n := range c {
		if n > 0 {
			out = append(out, Part{Mark: Mark(mark), Share: float64(n) / total, Text: amount(n) + " " + means[mark]})
		}
	}
	return out
}
