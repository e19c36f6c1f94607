package diagnose

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
)

// account is the ledger of the attempts that failed: what the job carries of it, and what is seen now. What
// ends because somebody stops the job has not failed.
func (d *diagnosis) account() ledger.Ledger {
	if d.Job == nil || d.Job.Source == nil {
		return ledger.Ledger{}
	}
	before, err := ledger.Decode(d.Job.Source.GetAnnotations()[ledger.Annotation])
	if err != nil {
		d.remarks = append(d.remarks, "What the job carries of earlier attempts is not taken: "+err.Error()+".")
	}
	before = before.Since(d.Job.Source.GetCreationTimestamp().Time)
	if d.State.Stopped() || d.State.Phase == kinds.Suspended {
		return before
	}
	in := ledger.Input{
		Pods: slices.Concat(d.Gone, d.Pods), Seen: d.seen.Pods, Nodes: d.Nodes, Place: d.Place, GPUs: d.gpusOf,
		Words: d.sightings, Cause: d.root,
	}
	if len(d.Gone) > 0 {
		gone := control.Read(control.Input{Pods: d.Gone, Catalog: d.catalog, Source: d.Place, Now: d.Now})
		in.Seen, in.Words = slices.Concat(gone.Pods, in.Seen), slices.Concat(gone.Sightings, in.Words)
	}
	out := before.Merge(ledger.Read(in))
	out.Upgraded(d.Nodes)
	return out
}

// gpusOf is how many GPUs, or devices like them, one pod of a role asks for.
func (d *diagnosis) gpusOf(role string) int64 {
	found := d.Job.Role(role)
	if found == nil && len(d.Job.Roles) == 1 {
		found = &d.Job.Roles[0]
	}
	if found == nil {
		return 0
	}
	var n int64
	for name, amount := range found.Pod.Requests {
		if isAccelerator(name) {
			n += amount
		}
	}
	return n
}

// isAccelerator leaves out what pods ask for beside their devices: network adapters and Kubernetes' own.
func isAccelerator(name corev1.ResourceName) bool {
	s := string(name)
	return strings.Contains(s, "/") && !strings.HasPrefix(s, "rdma/") && !strings.Contains(s, "kubernetes.io/") && !strings.Contains(s, "hca")
}
