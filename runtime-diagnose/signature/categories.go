package signature

// Category is one class of causes: what a diagnosis ends with.
type Category struct {
	Slug  string
	Title string // completes "the cause is …"
	Owner Domain // the domain that usually has to act
	Depth int    // how near to a cause the class is; see the constants
	Says  Says   // of the other members; empty: OfItself
	// Lasting: a run that goes on, or ends with 0, does not refute it.
	Lasting bool
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
	{Slug: "gpu-oom", Title: "device memory exhausted", Owner: User, Depth: Precise},
	{Slug: "host-oom-killed", Title: "host or container memory exhausted", Owner: User, Depth: Precise},
	{Slug: "shm-exhausted", Title: "/dev/shm too small", Owner: User, Depth: Precise},
	{Slug: "dataloader-worker-killed", Title: "a data-loader process died", Owner: User, Depth: General},
	{Slug: "gpu-hardware-xid", Title: "a GPU fault reported by the driver", Owner: Hardware, Depth: Precise},
	{Slug: "ecc-error", Title: "uncorrectable GPU memory errors", Owner: Hardware, Depth: Precise},
	{Slug: "nvlink-fault", Title: "NVLink, NVSwitch or fabric manager", Owner: Hardware, Depth: Precise},
	{Slug: "infiniband-fault", Title: "InfiniBand, RoCE or EFA adapter or link", Owner: Network, Depth: Precise, Says: PeerLost},
	{Slug: "cuda-driver-mismatch", Title: "GPU driver and CUDA libraries do not fit", Owner: Platform, Depth: Precise},
	{Slug: "cuda-arch-no-kernel-image", Title: "the build has no code for this GPU", Owner: User, Depth: Precise},
	{Slug: "no-gpu-visible", Title: "no device in the container", Owner: Platform, Depth: Precise},
	{Slug: "illegal-memory-access", Title: "a kernel touched memory it does not own", Owner: User, Depth: Precise},
	{Slug: "device-side-assert", Title: "a kernel's assertion failed: index or label out of range", Owner: User, Depth: Precise},
	{Slug: "nccl-timeout", Title: "a collective never completed", Owner: Nobody, Depth: Symptom, Says: Waited},
	{Slug: "nccl-init-network", Title: "communicator set-up failed", Owner: Network, Depth: Precise, Says: PeerLost},
	{Slug: "nccl-version-mismatch", Title: "NCCL builds that do not fit each other", Owner: User, Depth: Precise},
	{Slug: "rendezvous-timeout", Title: "ranks never met", Owner: Network, Depth: General, Says: Waited},
	{Slug: "wrong-world-size", Title: "counts of processes, devices and sizes do not fit", Owner: User, Depth: Precise},
	{Slug: "port-in-use", Title: "an address is taken", Owner: User, Depth: Precise},
	{Slug: "network-dns", Title: "a name does not resolve or a service is out of reach", Owner: Platform, Depth: Precise},
	{Slug: "launcher-ssh-failure", Title: "the launcher cannot start remote processes", Owner: User, Depth: Precise},
	{Slug: "mpi-failure", Title: "the MPI runtime itself failed", Owner: User, Depth: Precise},
	{Slug: "hang-no-progress", Title: "processes live and nothing advances", Owner: Nobody, Depth: Symptom, Says: Waited},
	{Slug: "ray-actor-died", Title: "a Ray actor or node was lost", Owner: Nobody, Depth: Symptom},
	{Slug: "nan-loss", Title: "loss or gradients are not finite", Owner: User, Depth: Precise, Lasting: true},
	{Slug: "no-convergence", Title: "ran to its end without reaching its own target", Owner: User, Depth: General, Lasting: true},
	{Slug: "missing-module", Title: "a package is not installed", Owner: User, Depth: Precise},
	{Slug: "import-version-conflict", Title: "packages do not fit each other", Owner: User, Depth: Precise},
	{Slug: "argument-or-config-error", Title: "a wrong option, value or command", Owner: User, Depth: Precise},
	{Slug: "deepspeed-config", Title: "DeepSpeed's configuration contradicts itself or the job", Owner: User, Depth: Precise},
	{Slug: "shape-mismatch", Title: "tensor shapes do not fit", Owner: User, Depth: Precise},
	{Slug: "dtype-mismatch", Title: "tensor types do not fit", Owner: User, Depth: Precise},
	{Slug: "checkpoint-corrupt-or-mismatch", Title: "a checkpoint cannot be read or does not fit the model", Owner: User, Depth: Precise},
	{Slug: "dataset-error", Title: "the data is wrong, empty or unreadable", Owner: User, Depth: Precise},
	{Slug: "file-not-found", Title: "a path is missing", Owner: User, Depth: Precise},
	{Slug: "permission-denied", Title: "access refused", Owner: User, Depth: Precise},
	{Slug: "python-syntax-error", Title: "the program does not parse", Owner: User, Depth: Precise},
	{Slug: "python-exception-user-code", Title: "an exception of the program", Owner: User, Depth: General},
	{Slug: "tokenizer-or-model-download-auth", Title: "a model hub refused or is out of reach", Owner: User, Depth: Precise},
	{Slug: "segfault", Title: "a crash in native code", Owner: User, Depth: Symptom},
	{Slug: "disk-full", Title: "no space or inodes left", Owner: User, Depth: Precise},
	{Slug: "storage-io", Title: "the file system failed", Owner: Storage, Depth: Precise},
	{Slug: "image-pull", Title: "the image cannot be pulled", Owner: User, Depth: Precise},
	{Slug: "container-config", Title: "a container cannot be created or started", Owner: User, Depth: Precise},
	{Slug: "mount-failed", Title: "a volume cannot be mounted", Owner: Platform, Depth: Precise},
	{Slug: "admission-denied", Title: "pods were refused", Owner: User, Depth: Precise},
	{Slug: "quota-exceeded", Title: "a quota is used up", Owner: User, Depth: Precise},
	{Slug: "unschedulable-gpu", Title: "not enough GPUs", Owner: User, Depth: Precise},
	{Slug: "unschedulable-cpu-memory", Title: "not enough CPU or memory", Owner: User, Depth: Precise},
	{Slug: "unschedulable-affinity", Title: "no node matches selector or affinity", Owner: User, Depth: Precise},
	{Slug: "unschedulable-taint", Title: "matching nodes are tainted", Owner: User, Depth: Precise},
	{Slug: "unschedulable-pvc", Title: "a volume claim is missing, unbound, or bound where the pod cannot run", Owner: User, Depth: Precise},
	{Slug: "evicted", Title: "evicted for node pressure or storage limits", Owner: Platform, Depth: Precise},
	{Slug: "node-lost", Title: "the node was lost", Owner: Platform, Depth: Precise},
	{Slug: "sigterm-preempted", Title: "preempted, drained or told to stop", Owner: Platform, Depth: Symptom, Says: ToldToStop},
	{Slug: "operator-silent", Title: "nothing acts on the job", Owner: Platform, Depth: Precise},
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
