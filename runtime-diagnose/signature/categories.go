package signature

// Category is one class of causes: what a diagnosis ends with.
type Category struct {
	Slug  string
	Title string // completes "the cause is …"
	Owner Domain // who usually has to act
	Depth int    // how near to a cause the class is; see the constants
}

// Depths order candidates that were all seen: the deeper one is the better answer.
const (
	Symptom = 1 // names what happened last; any other finding explains more
	General = 2 // the program failed in a way that says little about why
	Precise = 3 // names a cause that one can act on
)

// HealthyCategory is the category of a diagnosis that found nothing wrong.
const HealthyCategory = "healthy"

// categories is the whole vocabulary, in the order in which pages list it.
var categories = [...]Category{
	{"gpu-oom", "device memory exhausted", User, Precise},
	{"host-oom-killed", "host or container memory exhausted", User, Precise},
	{"shm-exhausted", "/dev/shm too small", User, Precise},
	{"dataloader-worker-killed", "a data-loader process died", User, General},
	{"gpu-hardware-xid", "a GPU fault reported by the driver", Hardware, Precise},
	{"ecc-error", "uncorrectable GPU memory errors", Hardware, Precise},
	{"nvlink-fault", "NVLink, NVSwitch or fabric manager", Hardware, Precise},
	{"infiniband-fault", "InfiniBand, RoCE or EFA adapter or link", Network, Precise},
	{"cuda-driver-mismatch", "GPU driver and CUDA libraries do not fit", Platform, Precise},
	{"cuda-arch-no-kernel-image", "the build has no code for this GPU", User, Precise},
	{"no-gpu-visible", "no device in the container", Platform, Precise},
	{"illegal-memory-access", "a kernel touched memory it does not own", User, Precise},
	{"device-side-assert", "a kernel's assertion failed: index or label out of range", User, Precise},
	{"nccl-timeout", "a collective never completed", Nobody, Symptom},
	{"nccl-init-network", "communicator set-up failed", Network, Precise},
	{"nccl-version-mismatch", "NCCL builds that do not fit each other", User, Precise},
	{"rendezvous-timeout", "ranks never met", Network, General},
	{"wrong-world-size", "counts of processes, devices and sizes do not fit", User, Precise},
	{"port-in-use", "an address is taken", User, Precise},
	{"network-dns", "a name does not resolve or a service is out of reach", Platform, Precise},
	{"launcher-ssh-failure", "the launcher cannot start remote processes", User, Precise},
	{"mpi-failure", "the MPI runtime itself failed", User, Precise},
	{"hang-no-progress", "processes live and nothing advances", Nobody, Symptom},
	{"ray-actor-died", "a Ray actor or node was lost", Nobody, Symptom},
	{"nan-loss", "loss or gradients are not finite", User, Precise},
	{"no-convergence", "ran to its end without reaching its own target", User, General},
	{"missing-module", "a package is not installed", User, Precise},
	{"import-version-conflict", "packages do not fit each other", User, Precise},
	{"argument-or-config-error", "a wrong option, value or command", User, Precise},
	{"deepspeed-config", "DeepSpeed's configuration contradicts itself or the job", User, Precise},
	{"shape-mismatch", "tensor shapes do not fit", User, Precise},
	{"dtype-mismatch", "tensor types do not fit", User, Precise},
	{"checkpoint-corrupt-or-mismatch", "a checkpoint cannot be read or does not fit the model", User, Precise},
	{"dataset-error", "the data is wrong, empty or unreadable", User, Precise},
	{"file-not-found", "a path is missing", User, Precise},
	{"permission-denied", "access refused", User, Precise},
	{"python-syntax-error", "the program does not parse", User, Precise},
	{"python-exception-user-code", "an exception of the program", User, General},
	{"tokenizer-or-model-download-auth", "a model hub refused or is out of reach", User, Precise},
	{"segfault", "a crash in native code", User, Symptom},
	{"disk-full", "no space or inodes left", User, Precise},
	{"storage-io", "the file system failed", Storage, Precise},
	{"image-pull", "the image cannot be pulled", User, Precise},
	{"container-config", "a container cannot be created or started", User, Precise},
	{"mount-failed", "a volume cannot be mounted", Platform, Precise},
	{"admission-denied", "pods were refused", User, Precise},
	{"quota-exceeded", "a quota is used up", User, Precise},
	{"unschedulable-gpu", "not enough GPUs", User, Precise},
	{"unschedulable-cpu-memory", "not enough CPU or memory", User, Precise},
	{"unschedulable-affinity", "no node matches selector or affinity", User, Precise},
	{"unschedulable-taint", "matching nodes are tainted", User, Precise},
	{"unschedulable-pvc", "a volume claim is missing or unbound", User, Precise},
	{"evicted", "evicted for node pressure or storage limits", Platform, Precise},
	{"node-lost", "the node was lost", Platform, Precise},
	{"sigterm-preempted", "preempted, drained or told to stop", Platform, Symptom},
	{"operator-silent", "nothing acts on the job", Platform, Precise},
}

// Categories lists every class of causes.
func Categories() []Category { return append([]Category(nil), categories[:]...) }

// CategoryOf finds a category by slug.
func CategoryOf(slug string) (Category, bool) {
	for _, c := range categories {
		if c.Slug == slug {
			return c, true
		}
	}
	return Category{}, false
}
