package fit

import (
	"fmt"
	"maps"
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// kept doubts a plan on whose nodes others make room for pods that wait, unless there is room for both.
func kept(q *assign.Solver) {
	for _, at := range q.Plan[q.PlacedBefore:] {
		if p := q.NoRoomBeside(at.Node); p != nil {
			q.DoubtYes(fmt.Sprintf("others make room on %s for pod %s/%s; whether there is room beside it is not judged", p.NominatedTo(), p.Namespace(), p.Name()))
			return
		}
	}
}

// pendingText describes pods of others that wait for a place too: they take no room, and
// may be served first. Empty: there are none.
func pendingText(s *cluster.Snapshot, g gang.Gang) string {
	pods, sum := 0, job.Resources{}
	count := func(n int, asked job.Resources) {
		pods += n
		for name, n := range asked {
			sum[name] = saturate.Add(sum[name], n)
		}
	}
	for namespace, there := range s.PodLists() {
		if namespace == g.Namespace && g.Own != nil {
			count(askedByOthers(there, g))
		} else {
			count(there.Asked())
		}
	}
	if pods == 0 {
		return ""
	}
	text := words.Count(pods, "pod of others waits", "pods of others wait") + " for a place too"
	for _, name := range sum.Names() {
		if job.AcceleratorUnit(name) != job.NotAccelerator {
			return fmt.Sprintf("%s (%s); not counted", text, AmountText(name, sum[name]))
		}
	}
	return text + "; not counted"
}

// askedByOthers is asked without the pods of the gang.
func askedByOthers(r *cluster.PodList, g gang.Gang) (pods int, sum job.Resources) {
	var scratch corev1.Pod
	pods, all := r.Asked()
	sum = maps.Clone(all)
	for p := range r.Waiting(cluster.Needed(g.OwnLabels)) {
		if _, own := g.Own(p.Metadata(&scratch)); !own {
			continue
		}
		pods--
		for _, a := range p.Requests() {
			if sum[a.Name] < math.MaxInt64 { // a sum that saturated stays so
				sum[a.Name] -= a.N
			}
		}
	}
	maps.DeleteFunc(sum, func(_ corev1.ResourceName, n int64) bool { return n == 0 })
	return pods, sum
}
