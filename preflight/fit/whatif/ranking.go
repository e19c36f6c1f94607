package whatif

import (
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// ranking is by what a scheduler decides which pods move aside for a gang: by the priorities of pods, or, T9k's, by
// those of queues.
type ranking struct {
	class, queue string // one of the two
	own          int32  // the gang's priority
	never        bool   // the class moves no pod aside
	of           func(*cluster.Pod) (rank int32, mayGo bool)
}

// String names what has the priority.
func (r ranking) String() string {
	if r.queue != "" {
		return "the queue " + r.queue
	}
	if r.class == "" {
		return "pods without a priority class"
	}
	return "the priority class " + r.class
}

// rankingOf is not known where the gang moves no pod aside, or cannot be ranked.
func rankingOf(s *cluster.Snapshot, g gang.Gang) (by ranking, known bool) {
	if g.System == gang.T9k {
		return t9kRanking(s, g.Queue)
	}
	class, priority, known := fit.GangPriority(s, g)
	if class.Name == "" && !s.Yielding() {
		return ranking{}, false
	}
	return ranking{class: class.Name, own: priority, never: class.Never, of: func(p *cluster.Pod) (int32, bool) {
		return s.PriorityOf(p), true
	}}, known
}

// t9kQueueLabel is the queue that a pod of T9k's scheduler is in.
const t9kQueueLabel = "scheduler.tensorstack.dev/queue"

// t9kRanking is that of T9k's scheduler: a pod may take from pods of queues of lower priority that are
// preemptible. A job's own priority only orders the jobs of its queue
// (https://github.com/t9k/user-manuals/blob/fbf6b3cd/src/modules/computing-resources/scheduler/policy.md,
// …/queue.md, …/podgroup.md). Of queues of one name in several namespaces it is not known which is meant.
func t9kRanking(s *cluster.Snapshot, queue string) (by ranking, known bool) {
	queues := s.Rules().T9k
	if len(queues[queue]) != 1 || queues[queue][0].Spec.Priority <= 0 {
		return ranking{}, false
	}
	return ranking{queue: queue, own: queues[queue][0].Spec.Priority, of: func(p *cluster.Pod) (int32, bool) {
		its := queues[p.Labels().Get(t9kQueueLabel)]
		if len(its) != 1 {
			return 0, false
		}
		return its[0].Spec.Priority, its[0].Spec.Preemptible == nil || *its[0].Spec.Preemptible
	}}, true
}
