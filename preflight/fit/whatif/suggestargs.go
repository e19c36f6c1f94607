package whatif

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// argument is a number on the command line of a role that counts what a change changes.
type argument struct {
	flag  string
	at    job.Path
	told  job.Range
	needs int // after the change
}

// arguments say which numbers have to change with a gang: a launcher that is told to wait for four nodes waits for ever
// for the two that are gone, and so does a gang whose minimum is above its pods. Empty: none is written, or none counts
// what changed.
func (q *suggester) arguments(changed gang.Gang) string {
	var out []string
	c := recount{q.gang.Whole(), changed.Whole(), q.smaller(changed)}
	for i := range c.before.Groups {
		l := c.before.Groups[i].Launch
		if l == nil {
			continue
		}
		var needs []string
		for _, a := range []argument{
			{flagOf(l, "--nnodes", "nnodes", "num-nodes", "num-machines"), l.NodesPath, l.Nodes, c.nodes(l.Nodes)},
			{flagOf(l, "-np", "np", "n", "c", "num-proc", "num-processes"), l.ProcsPath, l.Procs, c.procs(l.Procs)},
			{flagOf(l, "--nproc-per-node", "nproc-per-node", "npernode", "N", "ppn", "num-gpus"), l.ProcsPath, l.ProcsPerNode, c.procsEach(i, l.ProcsPerNode)},
		} {
			if a.needs == a.told.Min || a.needs < 1 || !onCommandLine(a.at) {
				continue
			}
			needs = append(needs, fmt.Sprintf("%s %d instead of %d", a.flag, a.needs, a.told.Min))
		}
		if text := fmt.Sprintf("; %s then needs %s", l.Program, strings.Join(needs, " and ")); len(needs) > 0 && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for i := range c.before.Groups {
		was := &c.before.Groups[i]
		if n, _ := was.Number(c.after.Groups[i].Count); was.LeastField != "" && !q.byLeast(was) && 0 < n && n < was.LeastNumber {
			out = append(out, fmt.Sprintf("; %s then has to be %d instead of %d", was.LeastField, n, was.LeastNumber))
		}
	}
	if pods := c.after.Pods(); c.before.MinField != "" && pods < c.before.MinMembers && pods > 0 {
		out = append(out, fmt.Sprintf("; %s then has to be %d instead of %d", c.before.MinField, pods, c.before.MinMembers))
	}
	return strings.Join(out, "")
}

// elastic says that a group can do with fewer pods than it has.
func elastic(g *gang.Group) bool { return g.Min > 0 && g.Min < g.Count }

// byLeast says that a lower minimum is enough of a change for a group: the pods above it may stay, and the job starts without
// them. Kueue counts them all the same.
func (q *suggester) byLeast(g *gang.Group) bool {
	return elastic(g) && g.LeastField != "" && (q.gang.System != gang.Kueue || q.gang.Queue == "")
}

// onCommandLine says whether a path leads into the command or the arguments of a container: other fields are not written
// twice.
func onCommandLine(at job.Path) bool {
	return strings.Contains(string(at), ".command[") || strings.Contains(string(at), ".args[")
}

// flagOf is the first of some flags that a launcher was given, as people write it.
func flagOf(l *job.Launch, otherwise string, names ...string) string {
	for _, name := range names {
		switch {
		case l.Has(name) && len(name) < 3:
			return "-" + name
		case l.Has(name):
			return "--" + name
		}
	}
	return otherwise
}

// recount is a gang before and after a change.
type recount struct {
	before, after gang.Gang
	smaller       bool // its pods ask for less
}

// nodes is how many nodes a launcher has to be told after a change, if it was told one number that counts what
// changed: the pods of a role, those of all, or what is written for the role.
func (c recount) nodes(told job.Range) int {
	if !told.Fixed() || told.Min == 1 {
		return told.Min
	}
	for i := range c.before.Groups {
		was, is := &c.before.Groups[i], c.after.Groups[i].Count
		if was.Count == is {
			continue
		}
		old, _ := was.Number(was.Count)
		n, _ := was.Number(is)
		switch told.Min {
		case was.Count:
			return is
		case old:
			return n
		}
	}
	if told.Min == c.before.Pods() {
		return c.after.Pods()
	}
	return told.Min
}

// procs is how many processes a launcher has to start in all after a change of the number of pods: as many for each pod as before.
func (c recount) procs(told job.Range) int {
	if !told.Fixed() || c.smaller {
		return told.Min
	}
	for i := range c.before.Groups {
		was, is := &c.before.Groups[i], &c.after.Groups[i]
		if was.Count != is.Count && was.Count > 0 && told.Min%was.Count == 0 {
			return told.Min / was.Count * is.Count
		}
	}
	return told.Min
}

// procsEach is how many processes a launcher has to start in each pod of a group after a change of its devices, if it was
// one for each.
func (c recount) procsEach(i int, told job.Range) int {
	was, is := podspec.Requested(c.before.Groups[i].Pod), podspec.Requested(c.after.Groups[i].Pod)
	for _, name := range was.Names() {
		if job.AcceleratorUnit(name) == job.Device && told.Fixed() && int64(told.Min) == was[name] {
			return int(is[name])
		}
	}
	return told.Min
}
