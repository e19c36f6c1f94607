package assign

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// NotJudged says that a term could not be compared with pods.
func NotJudged(who, what, doubt string) string {
	return fmt.Sprintf("%s: %s by %s is not judged", who, what, cmp.Or(doubt, cluster.UnseenNamespaces))
}

// closedByPods marks the nodes that pods which exist close to a group: by their ports, by their
// anti-affinity, by its anti-affinity; nil: none. idle counts only pods that stay on an
// idle cluster: those that come back by themselves, and those of the gang.
func (cycle *Cycle) closedByPods(t *podFacts, namespace string, g *gang.Group) (idle, now *closedDomains) {
	s := cycle.s
	stays := func(p *cluster.Pod) bool { return p.Resident() || cycle.stays[p] }
	if len(t.Ports) == 0 && len(t.Disks) == 0 && len(t.AntiAffinity) == 0 && len(s.PodsWithAntiAffinity()) == 0 {
		return &closedDomains{}, &closedDomains{}
	}
	now, idle = cycle.domains(), cycle.domains()
	bar := func(p *cluster.Pod, term *cluster.PodTerm) {
		if at, ok := s.NodeAt(p.Node()); ok {
			now.close(at, term.Topology)
			if stays(p) {
				idle.close(at, term.Topology)
			}
		}
	}
	if len(t.Ports)+len(t.Disks) > 0 {
		for at, n := range s.Nodes() {
			if !cycle.Budget.Spend(1 + len(n.Pods())/4) {
				return idle, now
			}
			for _, p := range n.Pods() {
				if podspec.PortConflict(p.HostPorts(), t.Ports) || len(t.Disks) > 0 && podspec.DiskConflict(p.Disks(), t.Disks) {
					now.nodes[at], idle.nodes[at] = true, idle.nodes[at] || stays(p)
				}
			}
		}
	}
	for i := range t.AntiAffinity {
		cycle.eachKeptAway(&t.AntiAffinity[i], func(p *cluster.Pod, known bool) {
			if !known && !cycle.strict {
				t.doubtYes(NotJudged(g.Name, "anti-affinity", t.AntiAffinity[i].Unread))
				return
			}
			bar(p, &t.AntiAffinity[i])
		})
	}
	has := map[cluster.Label]bool{}
	for _, p := range s.PodsWithAntiAffinity() {
		if !cycle.Budget.Spend(3 * len(p.AntiAffinity())) {
			return idle, now
		}
		for i := range p.AntiAffinity() {
			term := &p.AntiAffinity()[i]
			if !mayHave(&g.Pod, term.Must, has) {
				continue
			}
			if !cycle.Budget.Spend(StepsPerMatch) {
				return idle, now
			}
			switch yes, doubt := term.Meets(s, namespace, &g.Pod); {
			case doubt != "" && !cycle.strict:
				t.doubtYes(NotJudged(g.Name, "anti-affinity", doubt))
			case yes, doubt != "":
				bar(p, term)
			}
		}
	}
	slices.Sort(t.flipsYes)
	return idle, now
}

// mayHave says that the pods of a role may have a label; known keeps what was asked.
func mayHave(p *job.Pod, label cluster.Label, known map[cluster.Label]bool) bool {
	if label == (cluster.Label{}) {
		return true
	}
	may, asked := known[label]
	if !asked {
		key, wanted := label.Value()[0], label.Value()[1]
		value, is, _, _ := p.Label(key)
		may = is == job.Unknown || is == job.Present && value == wanted
		known[label] = may
	}
	return may
}

// eachKeptAway calls back for each pod on a node that a term keeps its own pod away from,
// or of which that is not known.
func (cycle *Cycle) eachKeptAway(term *cluster.PodTerm, call func(p *cluster.Pod, known bool)) {
	for namespace, pods := range cycle.s.PodLists() {
		if yes, known := term.Covers(cycle.s, namespace); !yes && known {
			continue
		}
		for p := range pods.With(cluster.NeededBy(term.Selector)) {
			if p.Node() == "" {
				continue
			}
			if !cycle.Budget.Spend(stepsPerPod) {
				return
			}
			if yes, known := term.Matches(cycle.s, namespace, p.Labels()); yes || !known {
				call(p, known)
			}
		}
	}
}

// closedDomains are nodes that are closed with all of their domain.
type closedDomains struct {
	s     *cluster.Snapshot
	nodes []bool
	done  map[domain]bool // domains that are closed whole
}

// domain is one of a topology, by its number.
type domain struct {
	topology string
	value    int32
}

func (cycle *Cycle) domains() *closedDomains {
	return &closedDomains{s: cycle.s, nodes: make([]bool, len(cycle.s.Nodes()))}
}

// close marks the nodes of the domain of a node.
func (c *closedDomains) close(at int, topology string) {
	if c.s.IsNode(topology) {
		c.nodes[at] = true
		return
	}
	if _, ok := c.s.Nodes()[at].Labels[topology]; !ok {
		return
	}
	column := c.s.LabelColumn([]string{topology})
	in := domain{topology, column.Of[at]}
	if c.done[in] {
		return
	}
	if column.Values >= len(c.nodes) { // each node is a domain
		c.nodes[at] = true
		return
	}
	if c.done == nil {
		c.done = map[domain]bool{}
	}
	c.done[in] = true
	for i := range c.nodes {
		c.nodes[i] = c.nodes[i] || column.Of[i] == in.value
	}
}

// Clashes says whether pods of two pod sets (or of one, with itself) cannot share a node.
// What they cannot share beyond a node is for the rule set.
func (q *Solver) Clashes(a, b *PodSet) bool {
	if podspec.PortConflict(a.Facts.Ports, b.Facts.Ports) || podspec.DiskConflict(a.Facts.Disks, b.Facts.Disks) {
		return true
	}
	if a != b && slices.ContainsFunc(a.Facts.apartBy, func(class string) bool { return slices.Contains(b.Facts.apartBy, class) }) {
		return true
	}
	return q.apart(a, b) || q.apart(b, a)
}

func (q *Solver) apart(a, b *PodSet) bool {
	apart := false
	for i := range a.Facts.AntiAffinity {
		term := &a.Facts.AntiAffinity[i]
		if q.KeepsFrom(a, b, term) && q.Snapshot.IsNode(term.Topology) {
			apart = true
		}
	}
	return apart
}

// KeepsFrom says whether pods of one pod set keep from those of another by a term of anti-affinity.
func (q *Solver) KeepsFrom(k, other *PodSet, term *cluster.PodTerm) bool {
	yes, doubt := q.Cycle.Meets(Relation{Sort: AntiAffine, Group: term.Number}, other.Groups[0], func() (bool, string) {
		return term.Meets(q.Snapshot, q.Gang.Namespace, other.Pod)
	})
	if doubt != "" && !q.Cycle.strict {
		q.DoubtYes(NotJudged(k.Name, "anti-affinity", doubt))
	}
	return yes || doubt != "" && q.Cycle.strict
}
