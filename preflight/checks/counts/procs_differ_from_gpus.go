package counts

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var procsDifferFromGPUs = &check.Check{
	Name:     "procs-differ-from-gpus",
	Title:    "processes per pod and GPUs per pod differ",
	Remedy:   "Start one process per GPU, or ask for as many GPUs as there are processes.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.World != kinds.WorldUnknown },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		type mistake struct {
			at          job.Path
			procs, gpus int64
			resource    corev1.ResourceName
			says        string // how the number comes of a word; empty: it is written
		}
		var all []mistake
		roles := map[mistake][]string{} // one number serves every role: it is wrong once
		for r := range p.Job.EachRole() {
			gpus := r.Pod.GPUs()
			at, procs, ok := facts.ProcsWritten(p.Job, p.Operator.Procs)
			if ok && r.Launch.Program == "torchrun" && r.Launch.ProcsPath != "" && r.Launch.ProcsPath != at {
				at, procs, ok = procsStarted(p.Job, r) // its option outranks the variable that the operator sets
			}
			// Where it is a word, auto asks about devices and has a check of its own; cpu counts cores, whatever devices there are.
			says := ""
			if word, _ := facts.Text(p.Job, at); !ok && (r.Launch.ProcsPath != at || word == "cpu") {
				at, procs, ok = procsStarted(p.Job, r)
				if word == "cpu" && at == r.Launch.ProcsPath {
					says = fmt.Sprintf("%s is %q, which counts cores: ", at.After(at.Parent()), word)
				}
			}
			if l := &r.Launch; !ok && l.ProcsPath != "" && l.ProcsPerNode.Max == 0 && l.Procs.Fixed() && l.Nodes.Fixed() && l.Nodes.Min > 1 {
				// Of all nodes together; with fewer than devices, each may well drive several.
				at, procs = l.ProcsPath, int64(l.Procs.Min/l.Nodes.Min)
				ok, says = procs > gpus.N, fmt.Sprintf("%s on %d nodes: ", facts.Count(l.Procs.Min, "process"), l.Nodes.Min)
			}
			if !ok && r.Launch.ProcsOfRuntime && r.Launch.Program == "torchrun" {
				// As with the job's own field, one process that drives every device is a choice.
				at, procs, ok = r.Launch.ProcsPath, int64(r.Launch.ProcsPerNode.Min), r.Launch.ProcsPerNode.Min > 1
				says = "numProcPerNode of the runtime: "
			}
			if !ok || r.Launch.Has("oversubscribe") || gpus.N == 0 || gpus.N == procs || job.AcceleratorUnit(gpus.Resource) != job.Device || !p.Operator.CountsProcs(r) {
				continue
			}
			m := mistake{at, procs, gpus.N, gpus.Resource, says}
			if roles[m] == nil {
				all = append(all, m)
			}
			roles[m] = append(roles[m], r.Name)
		}
		for _, m := range all {
			p.ReportAs(finding.Finding{Path: m.at, Facts: []finding.Fact{{Name: "processes", Value: m.procs}, {Name: "gpus", Value: m.gpus}}},
				"%severy %s starts %s, but has %d %s", m.says, strings.Join(roles[m], " and "), facts.Count(m.procs, "process"), m.gpus, m.resource)
		}
	},
}

// procsStarted is the number of processes that the command starts on every node, where that
// is more than the devices. With fewer, each may well drive several, unless another role starts one for each of as many.
func procsStarted(j *job.Job, r *job.Role) (at job.Path, procs int64, ok bool) {
	l, devices := &r.Launch, r.Pod.GPUs()
	procs = int64(l.ProcsPerNode.Max)
	differs := procs > devices.N || slices.ContainsFunc(j.Roles, func(peer job.Role) bool {
		return peer.Name != r.Name && peer.Launch.Program == l.Program && peer.Launch.ProcsPerNode == job.Exactly(int(devices.N)) && same(peer.Pod.GPUs(), devices)
	})
	return l.ProcsPath, procs, l.ProcsPath != "" && l.ProcsPerNode.Fixed() && procs > 0 && differs
}

// same says that two amounts are equally many of one resource.
func same(a, b job.Amount) bool { return a.N == b.N && a.Resource == b.Resource }
