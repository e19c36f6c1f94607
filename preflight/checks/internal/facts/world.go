package facts

import (
	"slices"
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// PodsThatJoin are the numbers of pods that a launcher of the role may mean by its nodes:
// the operators of PyTorchJob and TrainJob leave no choice; elsewhere it may be the role,
// one of its Jobs, or any roles together. Sorted; nil: not known.
func PodsThatJoin(j *job.Job, r *job.Role) []int {
	operator := kinds.Of(j.Ref)
	switch operator.World {
	case kinds.WorldOfJob:
		for other := range j.EachRole() {
			if program := other.Launch.Program; program != "" && program != r.Launch.Program {
				return nil // not all pods start the same
			}
		}
		pods := 0
		for other := range j.EachRole() { // elastic or not, the job begins with its replicas
			n, written := Number(j, other.Path.Child("replicas"))
			if !written {
				n = 1
			}
			pods = saturate.Add(pods, int(n))
		}
		return []int{pods}
	case kinds.WorldOfRole:
		if r.Pod.Partial && j.Field(operator.Nodes) == nil {
			return nil // the runtime says how many
		}
		return []int{r.Replicas.Max}
	case kinds.WorldOfLauncher:
		return nil // the operator starts the launcher itself
	case kinds.WorldUnknown, kinds.WorldOfPod:
	}
	out := sums(j.Roles)
	if out == nil {
		return nil
	}
	if operator.Jobs != nil && operator.Jobs.Spec != "" && r.Jobs > 0 {
		out = append(out, r.Replicas.Max/r.Jobs)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sums are the numbers of pods of any roles together; nil where there are too many to try.
func sums(roles []job.Role) []int {
	const most = 8 // 2⁸ sums
	if len(roles) > most {
		return nil
	}
	out := []int{0}
	for i := range roles {
		for _, sum := range slices.Clone(out) {
			out = append(out, saturate.Add(sum, roles[i].Replicas.Max))
		}
	}
	return out[1:]
}

// NodesOf is how many nodes the launcher of the role works with; ok is false where the
// source leaves it to a shell or to an object that was not seen.
func NodesOf(j *job.Job, r *job.Role) (n int64, ok bool) {
	switch l := &r.Launch; {
	case l.Nodes.Fixed():
		return int64(l.Nodes.Min), true
	case l.NodesPath != "" || l.Nodes.Said():
		return 0, false
	}
	operator := kinds.Of(j.Ref)
	switch operator.World {
	case kinds.WorldOfJob:
		return int64(j.MaxPods()), operator.Elastic == nil || j.Field(operator.Elastic.At) == nil
	case kinds.WorldOfRole:
		return int64(r.Replicas.Max), j.Field(operator.Nodes) != nil
	case kinds.WorldOfPod:
		c, _ := r.Trainer()
		return 1, c != nil && !Sets(c, "PET_NNODES")
	case kinds.WorldUnknown, kinds.WorldOfLauncher:
	}
	return 0, false
}

// procsOn is how many processes the launcher of the role starts per node.
func procsOn(j *job.Job, r *job.Role) (n int64, ok bool) {
	switch l := &r.Launch; {
	case l.ProcsPerNode.Fixed():
		return int64(l.ProcsPerNode.Min), true
	case l.ProcsPath != "" || l.ProcsPerNode.Said():
		return 0, false
	}
	operator := kinds.Of(j.Ref)
	switch gpus := r.Pod.GPUs(); {
	case operator.Procs.PerGPU: // auto, unless the field says something else
		auto, written := Text(j, operator.Procs.At)
		whole := job.AcceleratorUnit(gpus.Resource) == job.Device
		return gpus.N, whole && gpus.N > 0 && (!written || auto == "auto" || auto == "gpu")
	case operator.World == kinds.WorldOfPod:
		c, _ := r.Trainer()
		return 1, c != nil && !Sets(c, "PET_NPROC_PER_NODE")
	}
	return 0, false
}

// WorldOf is how many processes of the role train together.
func WorldOf(j *job.Job, r *job.Role) (n int64, ok bool) {
	switch r.Launch.Program {
	case "mpirun", "mpiexec", "horovodrun", "accelerate", "composer":
		return int64(r.Launch.Procs.Min), r.Launch.Procs.Fixed() && r.Launch.Procs.Min > 0
	case "torchrun":
		nodes, known := NodesOf(j, r)
		procs, counted := procsOn(j, r)
		world := saturate.Mul(nodes, procs)
		return world, known && counted && world > 0 && !saturate.Full(world)
	}
	return 0, false
}

// WorksWithPeers says whether the pods of a role compute one thing with each other, as far as
// the kind or the command tells: a Job may as well be a row of trainings.
func WorksWithPeers(j *job.Job, r *job.Role) bool {
	if kinds.Of(j.Ref).World == kinds.WorldOfPod {
		c, _ := r.Trainer()
		return r.Launch.Nodes.Max > 1 || c != nil && Sets(c, "MASTER_ADDR", "WORLD_SIZE", "COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS", "TF_CONFIG")
	}
	return true
}

// ProcsWritten is the number of processes per pod where the job says it as a number, and
// the place. One torch process that drives several GPUs is a choice (model parallelism), so
// an explicit 1 says nothing there.
func ProcsWritten(j *job.Job, said kinds.Procs) (at job.Path, procs int64, ok bool) {
	at = said.At
	if parent := at.Parent(); said.Default > 0 && j.Field(at) == nil {
		return parent, said.Default, j.Field(parent) != nil
	}
	if s, isText := Text(j, at); isText {
		n, err := strconv.ParseInt(s, 10, 32)
		procs, ok = n, err == nil
	} else {
		procs, ok = Number(j, at)
	}
	return at, procs, ok && procs > 0 && (procs > 1 || said.Default > 0)
}
