package nodemap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// models are labels that say which device a node has, the first one that is there counts:
// NVIDIA's and AMD's feature discovery, GKE, AWS through Karpenter
// (https://github.com/NVIDIA/k8s-device-plugin/blob/main/docs/gpu-feature-discovery/README.md,
// https://cloud.google.com/kubernetes-engine/docs/how-to/gpus, https://karpenter.sh/docs/concepts/scheduling/).
var models = []string{
	"nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator", "karpenter.k8s.aws/instance-gpu-name",
}

// kinds of machines, where no label names the device
// (https://kubernetes.io/docs/reference/labels-annotations-taints/#nodekubernetesioinstance-type).
var machines = []string{corev1.LabelInstanceTypeStable, corev1.LabelInstanceType}

// pool is nodes that were bought together: the same device, as many on each.
type pool struct {
	name  string
	nodes int
	each  int64 // devices on a node; 0: not said
	cells int   // of a bar
	sum   counts
	rows  []*row

	holders holders
}

// holders are what others hold, by who holds it.
type holders map[string]int64

// row is nodes of a pool that look alike.
type row struct {
	each    counts // of one of them, or in sum
	average bool   // each is a sum of nodes that differ
	sum     counts
	note    string
	about   string // the note without numbers
	short   bool   // what is free is too little for a pod
	names   []string
	holders holders
}

// remainder is rows that were not drawn.
type remainder struct {
	nodes int
	sum   counts
}

// poolsOf sorts the nodes into pools: those first where pods of the job are or would go,
// then the largest.
func poolsOf(q Question, of corev1.ResourceName) []*pool {
	return sorted(q.Cluster, of, planOf(q, of), fit.NodeReasons(q.Cluster, q.Gang, of), q.Gang)
}

// sorted are the nodes by pool, with what a plan puts on them and what each is to the job that is asked about.
func sorted(view *cluster.Snapshot, of corev1.ResourceName, plan map[string]*share, standings []fit.NodeReason, asker gang.Gang) []*pool {
	byName := map[string]*pool{}
	rows := map[*pool]map[string]*row{}
	for at, n := range view.Nodes() {
		name, each := poolOf(n, of)
		id := fmt.Sprint(name, "\x00", each)
		p := byName[id]
		if p == nil {
			p = &pool{name: name, each: each, cells: cellsOf(of, each), holders: holders{}}
			byName[id], rows[p] = p, map[string]*row{}
		}
		c := countsOf(n, of, standings[at], plan[n.Name], view.PodsKnown())
		note, about := noteOf(&c, standings[at], plan[n.Name], of)
		key := fmt.Sprint(c.cells(p.cells), note)
		r := rows[p][key]
		if r == nil {
			r = &row{each: c, note: note, about: about, short: standings[at].Why != "", holders: holders{}}
			rows[p][key] = r
			p.rows = append(p.rows, r)
		}
		r.names = append(r.names, words.VisibleLine(n.Name))
		r.sum.add(&c)
		p.sum.add(&c)
		p.nodes++
		held := heldOn(n, of, asker)
		p.holders.add(held)
		r.holders.add(held)
	}
	out := slices.Collect(maps.Values(byName))
	slices.SortFunc(out, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(b.sum[Ours], a.sum[Ours]), cmp.Compare(b.sum.total(), a.sum.total()), cmp.Compare(a.name, b.name), cmp.Compare(b.each, a.each))
	})
	for _, p := range out {
		slices.SortStableFunc(p.rows, compareRows)
	}
	return out
}

// state is what a row is about, in the order of drawing.
func (r *row) state() int {
	c := &r.each
	switch {
	case c[Ours] > 0:
		return 0
	case c[Closed] > 0:
		return 4
	case c[Free] > 0 && !r.short:
		return 1
	case c[Free] > 0:
		return 2
	default:
		return 3
	}
}

// compareRows: what the job would get, what is free, what is used, what is closed.
func compareRows(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.state(), b.state()), cmp.Compare(b.each[Ours], a.each[Ours]), cmp.Compare(b.each[Free], a.each[Free]),
		strings.Compare(a.note, b.note), cmp.Compare(b.each[Closed], a.each[Closed]), strings.Compare(a.names[0], b.names[0]),
	)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pick chooses rows to draw, in the order they have. Where there are too many, those of
// one state and one note are drawn as one, with what they have on average: what is closed
// first, then holes that are too small, then the others. What is left over is added up.
func (p *pool) pick(most int) ([]*row, *remainder) {
	rows := p.rows
	for _, state := range []int{4, 2, 1, 0} {
		if len(rows) > most {
			rows = merged(rows, state)
		}
	}
	if len(rows) <= most {
		return rows, nil
	}
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(a, b *row) int {
		return cmp.Or(cmp.Compare(bit(b.each[Ours] > 0), bit(a.each[Ours] > 0)), cmp.Compare(len(b.names), len(a.names)))
	})
	chosen := map[*row]bool{}
	for _, r := range order[:most-1] { // a line says what was left out
		chosen[r] = true
	}
	rest := &remainder{}
	var out []*row
	for _, r := range rows {
		if chosen[r] {
			out = append(out, r)
			continue
		}
		rest.nodes += len(r.names)
		rest.sum.add(&r.sum)
	}
	return out, rest
}

// merged draws rows of one state as one for each note.
func merged(rows []*row, state int) []*row {
	var out []*row
	first := map[string]int{}
	for _, r := range rows {
		at, ok := first[r.about]
		switch {
		case r.state() != state:
		case !ok:
			first[r.about] = len(out)
		default:
			sum := *out[at]
			sum.note, sum.average = sum.about, true
			sum.names = slices.Concat(sum.names, r.names)
			sum.holders = maps.Clone(sum.holders)
			sum.holders.add(r.holders)
			sum.sum.add(&r.sum)
			sum.each = sum.sum
			out[at] = &sum
			continue
		}
		out = append(out, r)
	}
	for _, at := range first {
		slices.Sort(out[at].names)
	}
	return out
}

// poolOf is the device or the machine, and how many a node of the pool has of it.
func poolOf(n *cluster.Node, of corev1.ResourceName) (name string, each int64) {
	each = max(0, n.Allocatable[of]) + n.Missing(of)
	if unit := job.AcceleratorUnit(of); unit != job.NotAccelerator {
		if each == 0 {
			return "without " + string(of), 0
		}
		name = first(n.Labels, models)
	}
	name = cmp.Or(name, first(n.Labels, machines), string(of))
	switch of { //nolint:exhaustive // all others are whole by nature
	case corev1.ResourceCPU: // what the system keeps for itself differs a little
		each = (each + 999) / 1000 * 1000
	case corev1.ResourceMemory:
		each = (each + 1<<30 - 1) >> 30 << 30
	}
	return words.VisibleLine(name), each
}

func first(labels map[string]string, keys []string) string {
	for _, key := range keys {
		if v := labels[key]; v != "" {
			return v
		}
	}
	return ""
}

// share is what the plan puts on one node.
type share struct {
	amount int64
	roles  []string // "Master", "Worker"
	pods   map[string]int
}

// planOf is what the plan puts on each node.
func planOf(q Question, of corev1.ResourceName) map[string]*share {
	each := map[string]int64{}
	for _, g := range q.Gang.Groups {
		if _, twice := each[g.Name]; !twice {
			each[g.Name] = max(0, podspec.Requested(g.Pod)[of])
		}
	}
	out := map[string]*share{}
	for _, p := range q.Fit.Plan {
		s := out[p.Node]
		if s == nil {
			s = &share{pods: map[string]int{}}
			out[p.Node] = s
		}
		s.amount = saturate.Add(s.amount, saturate.Mul(each[p.Group], int64(p.Count)))
		if s.pods[p.Group] == 0 {
			s.roles = append(s.roles, p.Group)
		}
		s.pods[p.Group] += p.Count
	}
	return out
}

// String is "1 Master + 2 Workers".
func (s *share) String() string {
	if s == nil {
		return ""
	}
	out := make([]string, len(s.roles))
	for i, role := range s.roles {
		out[i] = words.Pods(role, s.pods[role])
	}
	return strings.Join(out, " + ")
}

// noteOf is what is to be known of a node besides its bar: whose pods would go there, why
// what is free is of no use, what its devices lack. about is the same without numbers
// that differ from node to node.
func noteOf(c *counts, st fit.NodeReason, s *share, of corev1.ResourceName) (note, about string) {
	var out []string
	if text := s.String(); text != "" {
		out = append(out, text)
	}
	if st.Why != "" && c[Free]+c[Closed] > 0 && (s == nil || st.Closed) {
		out = append(out, st.Why)
	}
	about = words.VisibleLine(strings.Join(out, ", "))
	if c[Broken] > 0 {
		out = append(out, amountOf(of, c[Broken])+" missing")
	}
	return words.VisibleLine(strings.Join(out, ", ")), about
}

// heldOn is what pods on a node hold that are not the job's, by what made them.
func heldOn(n *cluster.Node, of corev1.ResourceName, asker gang.Gang) holders {
	out := holders{}
	var scratch corev1.Pod
	for _, one := range n.Pods() {
		amount := one.Takes(of)
		if amount <= 0 || one.BelongsTo(&asker, &scratch) {
			continue
		}
		name := words.VisibleLine(one.Namespace() + "/" + wholeOf(one))
		out[name] = saturate.Add(out[name], amount)
	}
	return out
}

// wholes are the labels by which pods name what all of them belong to, where each is owned by a part of it: a JobSet's by
// one of its Jobs, a LeaderWorkerSet's by one of its StatefulSets
// (https://jobset.sigs.k8s.io/docs/concepts/, https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/).
var wholes = []string{"jobset.sigs.k8s.io/jobset-name", "leaderworkerset.sigs.k8s.io/name", "training.kubeflow.org/job-name"}

// wholeOf is what a pod belongs to; of one that belongs to nothing, its own name.
func wholeOf(p *cluster.Pod) string {
	for _, key := range wholes {
		if name := p.Labels().Get(key); name != "" {
			return name
		}
	}
	return cmp.Or(p.Owner().Name, p.Name())
}

func (h holders) add(more holders) {
	for name, amount := range more {
		h[name] = saturate.Add(h[name], amount)
	}
}

// list is who holds how much, the most first.
func (h holders) list(of corev1.ResourceName) []string {
	names := slices.SortedFunc(maps.Keys(h), func(a, b string) int {
		return cmp.Or(cmp.Compare(h[b], h[a]), strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = name + " " + amountOf(of, h[name])
	}
	return names
}

const by = "used by "

// text is who holds what is used on a line of so many columns; the first is always named.
func (h holders) text(of corev1.ResourceName, width int) string {
	names := h.list(of)
	if len(names) == 0 {
		return ""
	}
	if text := someNames(names, width-2-len(by)); text != "" {
		return by + text
	}
	if len(names) == 1 {
		return by + names[0]
	}
	return fmt.Sprintf("%s%s and %d more", by, names[0], len(names)-1)
}

// someNames is as many names as there is room for, and how many more there are; empty: not even one has room.
func someNames(names []string, room int) string {
	out := ""
	for i, name := range names {
		text, more := name, ""
		if i > 0 {
			text = out + ", " + name
		}
		if rest := len(names) - i - 1; rest > 0 {
			more = fmt.Sprintf(" and %d more", rest)
		}
		if utf8.RuneCountInString(text+more) > room {
			if i == 0 {
				return ""
			}
			return fmt.Sprintf("%s and %d more", out, len(names)-i)
		}
		out = text
	}
	return out
}
