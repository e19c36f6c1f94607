package faults

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// Fault is one thing that goes wrong.
type Fault struct {
	Name string
	// Categories are those that name it rightly.
	Categories []string
	// Open: who was first cannot be known from what there is; any answer but an established one
	// will do.
	Open   bool
	inject func(*world) []*pod // the pods that went first; none: no pod did
}

// Truth is what really happened.
type Truth struct {
	Pods, Nodes map[string]bool // that went first; empty: no pod did
}

// Make simulates a fault in a gang.
func Make(f Fault, shape Shape, seed uint64) (diagnose.Case, Truth) {
	w := newWorld(seed, shape)
	t := Truth{Pods: map[string]bool{}, Nodes: map[string]bool{}}
	for _, p := range f.inject(w) {
		t.Pods[p.name] = true
		t.Nodes[p.node.name] = true
	}
	return w.collect(), t
}

// crashes is a fault of one process in the middle of training.
func crashes(name, text string, code int32, categories ...string) Fault {
	return Fault{Name: name, Categories: categories, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		w.crash(p, text, code)
		w.follow(p)
		return []*pod{p}
	}}
}

// everywhere is a fault of the program that every process meets at its start.
func everywhere(name, text string, categories ...string) Fault {
	return Fault{Name: name, Categories: categories, inject: func(w *world) []*pod {
		for _, p := range w.pods {
			rank := p.index * w.shape.PerPod
			w.crashAt(p, start.Add(10*time.Second+w.upTo(8*time.Second)), rank, text, 1)
			p.gone = w.IntN(100) < w.lose && p.index > 0
		}
		return w.pods
	}}
}

// onNode is a fault that all pods of one node meet at their start; the others wait for them.
func onNode(name, text string, categories ...string) Fault {
	return Fault{Name: name, Categories: categories, inject: func(w *world) []*pod {
		bad := w.nodes[w.IntN(len(w.nodes))]
		var first []*pod
		for _, p := range w.pods {
			if p.node == bad {
				w.crashAt(p, start.Add(10*time.Second+w.upTo(4*time.Second)), w.rank(p), text, 1)
				first = append(first, p)
			}
		}
		w.meet(first...)
		return first
	}}
}

// atStart is a fault of one pod before training; the others wait for it.
func atStart(name, text string, categories ...string) Fault {
	return Fault{Name: name, Categories: categories, inject: func(w *world) []*pod {
		p := w.pick()
		w.crashAt(p, start.Add(15*time.Second), w.rank(p), text, 1)
		w.meet(p)
		return []*pod{p}
	}}
}

// Faults are all of them.
var Faults = []Fault{
	crashes("GPU out of memory on one rank", "gpu-oom", 1, "gpu-oom"),
	crashes("data-loader worker killed", "loader-killed", 1, "dataloader-worker-killed", "host-oom-killed"),
	crashes("shared memory too small", "shm", 1, "shm-exhausted"),
	crashes("uncorrectable ECC error", "ecc", 1, "ecc-error"),
	crashes("NVLink error", "nvlink", 1, "nvlink-fault"),
	crashes("dataset file missing on one rank", "dataset-missing", 1, "file-not-found", "dataset-error"),
	crashes("permission denied on one rank", "permission", 1, "permission-denied"),
	crashes("segmentation fault", "segfault", 139, "segfault"),
	crashes("storage fails under one rank", "storage", 1, "storage-io"),
	crashes("disk full on one node", "disk", 1, "disk-full"),
	crashes("exception in the program on one rank", "exception", 1, "python-exception-user-code", "dataset-error"),
	crashes("illegal memory access", "illegal", 1, "illegal-memory-access"),
	crashes("device-side assert", "assert", 1, "device-side-assert"),
	everywhere("module missing on all ranks", "missing-module", "missing-module"),
	everywhere("checkpoint truncated", "checkpoint", "checkpoint-corrupt-or-mismatch"),
	onNode("module missing on one node", "missing-module", "missing-module"),
	onNode("driver too old on one node", "driver", "cuda-driver-mismatch"),
	atStart("communicator set-up fails on one rank", "nccl-init", "nccl-init-network"),
	atStart("a name does not resolve on one node", "dns", "network-dns"),
	{Name: "loss is not finite", Categories: []string{"nan-loss"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		for _, p := range w.pods { // gradients are shared: all have it
			w.crashAt(p, w.fault.Add(w.upTo(2*time.Second)), p.index*w.shape.PerPod, "nan", 1)
		}
		return w.pods
	}},
	{Name: "container over its memory limit", Categories: []string{"host-oom-killed"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		p.end(w.fault.Add(200*time.Millisecond), 137, "OOMKilled")
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "a process killed under torchrun", Categories: []string{"host-oom-killed"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		w.elastic(p, w.fault.Add(time.Second), w.rank(p), -9)
		p.end(w.fault.Add(1500*time.Millisecond), 1, "")
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "killed without a report", Categories: []string{"host-oom-killed", "sigterm-preempted"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		p.end(w.fault.Add(100*time.Millisecond), 137, "")
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "GPU fell off the bus (Xid 79)", Categories: []string{"gpu-hardware-xid"}, inject: func(w *world) []*pod { return xid(w, 79, "GPU has fallen off the bus.", "xid79") }},
	{Name: "double-bit ECC (Xid 48)", Categories: []string{"ecc-error", "gpu-hardware-xid"}, inject: func(w *world) []*pod {
		return xid(w, 48, "pid=412, name=python, DBE (double bit error) ECC Error has been detected", "ecc")
	}},
	{Name: "contained ECC (Xid 94)", Categories: []string{"ecc-error", "gpu-hardware-xid"}, inject: func(w *world) []*pod {
		return xid(w, 94, "pid=412, name=python, Contained: SM (0x1). RST: No, D-RST: No", "ecc")
	}},
	{Name: "network port goes down", Categories: []string{"infiniband-fault"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		w.crash(p, "ib-port", 1)
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "node lost", Categories: []string{"node-lost"}, inject: nodeLost},
	{Name: "evicted for disk pressure", Categories: []string{"evicted"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		p.end(w.fault.Add(2*time.Second), 137, "")
		p.status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: ephemeral-storage. Threshold quantity: 10735990557, available: 9870404Ki. Container pytorch was using 412Gi, request is 0, has larger consumption of ephemeral-storage. "}
		w.event("Pod", p.name, "kubelet", p.node.name, "Evicted", p.status.Message, corev1.EventTypeWarning, p.node.shown(w.fault))
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "preempted", Categories: []string{"sigterm-preempted"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		w.event("Pod", p.name, "default-scheduler", "", "Preempted", "Preempted by pod 4f1c2a88-1111-2222-3333-444455556666 on node "+p.node.name, corev1.EventTypeNormal, w.fault)
		p.status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "PreemptionByScheduler", Message: "default-scheduler: preempting to accommodate a higher priority pod", LastTransitionTime: cutTo(w.fault)}}
		p.end(w.fault.Add(time.Second+w.upTo(3*time.Second)), 143, "")
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "told to stop from outside", Categories: []string{"sigterm-preempted"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		rank := p.index * w.shape.PerPod
		if t := w.text("told", p, rank); t != "" {
			w.say(p, w.fault, -1, t)
		}
		p.end(w.fault.Add(300*time.Millisecond+w.upTo(time.Second)), 143, "")
		for _, o := range w.pods { // the others lose it, and nobody stops them
			if o != p {
				w.followOne(o, byReset)
			}
		}
		return []*pod{p}
	}},
	{Name: "image cannot be pulled on one pod", Categories: []string{"image-pull"}, inject: func(w *world) []*pod {
		p := w.pick()
		p.waits = true
		at := cutTo(start)
		p.status = corev1.PodStatus{Phase: corev1.PodPending, StartTime: &at, ContainerStatuses: []corev1.ContainerStatus{{Name: "pytorch", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "registry.example.com/train:v7"`}}}}}
		w.event("Pod", p.name, "kubelet", p.node.name, "Failed", `Failed to pull image "registry.example.com/train:v7": failed to pull and unpack image "registry.example.com/train:v7": failed to resolve reference "registry.example.com/train:v7": unexpected status from HEAD request: 429 Too Many Requests`, corev1.EventTypeWarning, p.node.shown(start.Add(20*time.Second)))
		w.meet(p)
		return []*pod{p}
	}},
	{Name: "init container fails on one pod", Categories: []string{"file-not-found", "container-config", "python-exception-user-code", "dataset-error", "checkpoint-corrupt-or-mismatch"}, inject: func(w *world) []*pod {
		p := w.pick()
		p.waits = true
		w.fault = start.Add(30 * time.Second)
		end := w.fault
		p.initLn = []line{{end.Add(-time.Second), "fetching weights"}, {end, w.text("weights-missing", p, 0)}}
		p.init = &corev1.ContainerStatus{Name: "fetch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: cutTo(p.node.shown(end))}}}
		p.status = corev1.PodStatus{Phase: corev1.PodFailed}
		w.meet(p)
		return []*pod{p}
	}},
	{Name: "one pod never gets a node", Categories: []string{"unschedulable-gpu"}, inject: func(w *world) []*pod {
		p := w.pick()
		p.waits = true
		p.status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: cutTo(start),
			Message: "0/16 nodes are available: 2 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 14 Insufficient nvidia.com/gpu. preemption: 0/16 nodes are available: 2 Preemption is not helpful for scheduling, 14 No preemption victims found for incoming pod.",
		}}}
		w.meet(p)
		return []*pod{p}
	}},
	{Name: "quota refuses the last pods", Categories: []string{"quota-exceeded"}, inject: func(w *world) []*pod {
		n := 1 + w.IntN(max(1, len(w.pods)/4))
		for _, p := range w.pods[len(w.pods)-n:] {
			p.absent = true
			w.event("PyTorchJob", "train", "pytorchjob-controller", "", "FailedCreatePod", fmt.Sprintf("Error creating: pods %q is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=64, limited: requests.nvidia.com/gpu=64", p.name), corev1.EventTypeWarning, start.Add(time.Second))
		}
		w.meet()
		return nil
	}},
	{Name: "port taken on the master", Categories: []string{"port-in-use"}, inject: func(w *world) []*pod {
		p := w.pods[0]
		w.crashAt(p, start.Add(12*time.Second), 0, "port", 1)
		w.meet(p)
		return []*pod{p}
	}},
	{Name: "rendezvous times out, one pod hangs before it", Categories: []string{"rendezvous-timeout"}, Open: true, inject: func(w *world) []*pod {
		p := w.pick()
		w.say(p, start.Add(5*time.Second), -1, noise[w.IntN(len(noise))])
		w.meet(p)
		return []*pod{p}
	}},
	{Name: "hang in the data loader of one rank", Categories: []string{"nccl-timeout", "hang-no-progress"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		p.stop = w.fault
		for _, o := range w.pods {
			if o != p {
				w.followOne(o, byWatchdog)
			}
		}
		p.end(w.last().Add(20*time.Second+w.upTo(20*time.Second)), []int32{137, 143}[w.IntN(2)], "")
		return []*pod{p}
	}},
	{Name: "one rank behind in its collectives", Categories: []string{"nccl-timeout", "hang-no-progress"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		at := w.fault.Add(10 * time.Minute)
		for _, o := range w.pods {
			if o != p {
				w.followOne(o, byWatchdog)
			}
		}
		rank := p.index * w.shape.PerPod
		w.say(p, at.Add(4*time.Second), rank, fmt.Sprintf("[E301 12:00:00.5 ProcessGroupNCCL.cpp:1858] [PG ID 0 PG GUID 0(default_pg) Rank %d] Received a dump signal due to a collective timeout from rank %d and we will try our best to dump the debug info. Last enqueued NCCL work: %d, last completed NCCL work: %d.This is most likely caused by incorrect usages of collectives, e.g., wrong sizes used across ranks, the order of collectives is not same for all ranks or the scheduled collective, for some reason, didn't run.", rank, (rank+1)%w.shape.Ranks(), w.seq()-1, w.seq()-1))
		p.end(at.Add(20*time.Second), 134, "")
		return []*pod{p}
	}},
	{Name: "one rank runs another collective", Categories: []string{"nccl-timeout"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		at := w.fault.Add(10*time.Minute + w.upTo(3*time.Second))
		w.watchdog(p, at, p.index*w.shape.PerPod, w.seq(), "ALLGATHER")
		p.end(at.Add(2*time.Second), 134, "")
		for _, o := range w.pods {
			if o != p {
				w.followOne(o, byWatchdog)
			}
		}
		return []*pod{p}
	}},
	{Name: "hang inside a collective of all ranks", Categories: []string{"nccl-timeout", "hang-no-progress"}, Open: true, inject: func(w *world) []*pod {
		w.train(w.fault)
		for _, p := range w.pods {
			w.followOne(p, byWatchdog)
		}
		return w.pods
	}},
	{Name: "launcher ends with 0 while a worker failed", Categories: []string{"gpu-oom"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pods[1+w.IntN(len(w.pods)-1)]
		w.crash(p, "gpu-oom", 1)
		w.followOne(w.pods[0], byReset)
		w.pods[0].end(w.pods[0].ended, 0, "Completed")
		w.follow(p)
		w.failed = false
		return []*pod{p}
	}},
	{Name: "clock set back on the node that fails", Categories: []string{"gpu-oom"}, inject: func(w *world) []*pod {
		p := w.pick()
		p.node.jump, p.node.back = w.fault.Add(-5*w.step), 90*time.Second
		w.train(w.fault)
		w.crash(p, "gpu-oom", 1)
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "the first pod's log is lost", Categories: []string{"gpu-oom", "segfault", "python-exception-user-code", "nccl-timeout"}, Open: true, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		w.crash(p, "gpu-oom", 1)
		p.gone = true
		w.follow(p)
		return []*pod{p}
	}},
	{Name: "a follower says something deeper a minute later", Categories: []string{"python-exception-user-code", "dataset-error"}, inject: func(w *world) []*pod {
		w.train(w.fault)
		p := w.pick()
		w.crash(p, "exception", 1)
		w.follow(p)
		for _, o := range w.pods {
			if o != p && !o.gone {
				w.say(o, w.fault.Add(70*time.Second), o.index*w.shape.PerPod, w.text("disk", o, 0))
				o.end(w.fault.Add(72*time.Second), 1, "")
				break
			}
		}
		return []*pod{p}
	}},
}

// xid is a GPU that fails: the node says so, and the program on it.
func xid(w *world, code int, message, text string) []*pod {
	w.train(w.fault)
	p := w.pick()
	p.node.more = append(p.node.more, condition("GpuXidError", corev1.ConditionTrue, "XidError", fmt.Sprintf("NVRM: Xid (PCI:0000:4e:00): %d, %s", code, message), p.node.shown(w.fault)))
	w.crash(p, text, 1)
	w.follow(p)
	return []*pod{p}
}

// nodeLost is a machine that goes silent: its pods' logs end, its kubelet says nothing more,
// and 40 seconds later the control plane notices.
func nodeLost(w *world) []*pod {
	w.train(w.fault)
	bad := w.nodes[w.IntN(len(w.nodes))]
	noticed := w.fault.Add(40*time.Second + w.upTo(10*time.Second))
	bad.ready = condition(corev1.NodeReady, corev1.ConditionUnknown, "NodeStatusUnknown", "Kubelet stopped posting node status.", noticed)
	var first []*pod
	for _, p := range w.pods {
		if p.node != bad {
			continue
		}
		p.stop = w.fault
		p.gone = true
		p.status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: cutTo(noticed)}}
		w.event("Pod", p.name, "node-controller", "", "NodeNotReady", "Node is not ready", corev1.EventTypeWarning, noticed)
		first = append(first, p)
	}
	w.follow(first...)
	return first
}
