package report

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// advice is what to say and to do where the facts of a failure say more than its signature does: a signature
// speaks of all that it matches, and whose move it is may depend on a number in the line.
type advice struct {
	of   []string                           // signatures; empty: any
	line *regexp.Regexp                     // of the decisive line; its named groups fill the texts like facts do; nil: any
	fact map[string]string                  // facts that the failure has to have; "" stands for any value
	not  string                             // a fact that it must not have; empty: none
	when func(facts map[string]string) bool // what the facts have to be; nil: anything

	says  string           // the headline in place of the signature's title; empty: the title
	owner signature.Domain // empty: the signature's
	retry signature.Retry  // empty: the signature's
	steps []string         // in place of the signature's; none: those
	shown bool             // the line shows what the signature leaves open
}

// lostPod is what becomes of a pod whose node is lost
// (https://kubernetes.io/docs/tasks/run-application/force-delete-stateful-set-pod/).
const lostPod = "A pod of a lost node stays, as Terminating or Unknown, until the node is back or removed, and no other gets its name until then. " +
	"Where the machine is surely off: kubectl delete pod NAME --force."

// nodeOutOfMemory is what to do where the kernel had no memory left for the whole machine: what a container may use is another
// matter (https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#node-out-of-memory-behavior).
var nodeOutOfMemory = []string{
	"Leave the container's memory limit as it is. Ask for what the job uses (resources.requests.memory), so that the scheduler keeps room for it on the node.",
	"See who used the node's memory: the table of processes in dmesg, and kubectl describe node for the requests and limits of all its pods.",
	"Tell the administrators, where pods may use more than they ask for: limits above requests, or too little kept for the system (kube-reserved, eviction-hard).",
}

// byFact is the catalogue: the first one that fits is taken.
var byFact = slices.Concat(ofLines, ofPlatform)

var ofLines = []advice{
	{
		of: []string{"collective-desync"}, fact: map[string]string{"runs": ""},
		says: "{{.runs}}",
	},
	{
		of: []string{"barrier-timed-out", "jax-coordinator-timeout"}, fact: map[string]string{"absent": ""},
		says: "a barrier timed out, and did not see {{.absent}}", shown: true,
		steps: []string{
			"Look at the log of task {{.first}} (JAX: of process {{.first}}): its last lines say where it was, or why it ended.",
			"Where it lives, take its stack (py-spy dump --pid PID).",
			"Where it only was slow, in a restore or a compilation, raise the timeout of the barrier, or of jax.distributed.initialize.",
		},
	},
	{ // the kernel's word for a node without memory; of a container it says "Memory cgroup out of memory" (mm/oom_kill.c, oom_kill_process)
		of: []string{"kernel-oom-kill"}, line: regexp.MustCompile(`\bOut of memory: Kill(?:ed)? process (?P<pid>\d+) \((?P<process>[^)]+)\)`),
		says: "the node ran out of memory, and the kernel killed process {{.pid}} ({{.process}}): no limit of a container was reached", owner: signature.Platform, retry: signature.RetryUnknown,
		steps: nodeOutOfMemory,
	},
	{ // the same, by the line before it, and by the kubelet's event (pkg/kubelet/oom/oom_watcher_linux.go)
		of: []string{"kernel-oom-kill"}, line: regexp.MustCompile(`oom-kill:constraint=CONSTRAINT_(?:NONE|MEMORY_POLICY|CPUSET)\b|System OOM encountered`),
		says: "the node ran out of memory, and the kernel killed a process: no limit of a container was reached", owner: signature.Platform, retry: signature.RetryUnknown,
		steps: nodeOutOfMemory,
	},
	{
		of:   []string{"nccl-watchdog-timeout"},
		line: regexp.MustCompile(`\bRank (?P<process>\d+)\] .*WorkNCCL\(SeqNum=(?P<seq>\d+), OpType=(?P<op>\w+).*?\bTimeout\(ms\)=(?P<limitMs>\d+)`),
		says: "waited {{.limitMs}} in {{.op}} #{{.seq}}, and not all ranks came",
		steps: []string{
			"Look at the ranks whose log does not say this: their last line, and where they stand while they live (py-spy dump --pid PID).",
			"Where all ranks say it, compare SeqNum and OpType: the rank with the lowest number, or with another operation, is where to look.",
			"Run with TORCH_NCCL_TRACE_BUFFER_SIZE set: the flight recorder names the line of code that each rank waits in.",
		},
	},
	{ // torch's monitor of the watchdog thread: it speaks of one rank (ProcessGroupNCCL.cpp, heartbeatMonitor)
		line: regexp.MustCompile(`\bRank (?P<process>\d+)\] Heartbeat monitor timed out`),
		says: "NCCL's watchdog of rank {{.process}} made no progress: a call into CUDA or NCCL hangs on this rank",
		steps: []string{
			"Take stacks of rank {{.process}} and of one other rank while they live: py-spy dump --native --pid PID.",
			"Look at the kernel log of the rank's node for Xid and link errors, and at the NCCL network plugin that it loaded.",
		},
	},
	{ // the keys are a Secret that the operator makes and does not change: immutable, where Trainer makes it
		of: []string{"ssh-unreachable"}, line: regexp.MustCompile(`Permission denied \(publickey|Host key verification failed`),
		steps: []string{
			"Compare the age of the Secret that holds the keys with that of the pods (Trainer's is called <job>-mpi-ssh-auth, mpi-operator's <job>-ssh): where it was replaced, pods that started before have other keys than those that started after.",
			"Where it was, delete the job and create it again: its operator makes keys once.",
			"Where it was not, check that the workers' sshd reads the mounted keys (path, owner, rights) and that host key checks are off.",
		},
	},
	// Taints that the node controller puts on by condition, and takes off with it
	// (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/#taint-nodes-by-condition).
	{
		of: []string{"unschedulable-taint"}, line: regexp.MustCompile(`node\.kubernetes\.io/(?P<pressure>disk|memory|pid)-pressure`),
		says: "the nodes that match are under {{.pressure}} pressure", owner: signature.Platform, retry: signature.Useless,
		steps: []string{
			"Do not tolerate node.kubernetes.io/{{.pressure}}-pressure: pods that do are evicted, and make it worse.",
			"Tell the administrators: the node has to be freed of what fills it; the pod starts by itself then.",
		},
	},
	{
		of: []string{"unschedulable-taint"}, line: regexp.MustCompile(`node\.kubernetes\.io/(?P<condition>not-ready|unreachable|network-unavailable)`),
		says: "the nodes that match are {{.condition}}", owner: signature.Platform, retry: signature.Useless,
		steps: []string{"Tell the administrators: the node has to come back, or to be replaced; the pod starts by itself then."},
	},
	{
		of: []string{"unschedulable-taint"}, line: regexp.MustCompile(`node\.kubernetes\.io/unschedulable`),
		says: "the nodes that match are cordoned", owner: signature.Platform, retry: signature.Useless,
		steps: []string{"Ask the administrators whether they drain the nodes, and until when; the pod starts by itself when one is uncordoned."},
	},
	// The scheduler writes a taint as {key: value}, and not its effect: a toleration without one is of all effects.
	{
		of: []string{"unschedulable-taint"}, line: regexp.MustCompile(`taint(?:\(s\))? \{(?P<key>[A-Za-z0-9][A-Za-z0-9._/-]*): (?P<value>[A-Za-z0-9][A-Za-z0-9._-]*)\}`),
		steps: []string{
			"If these nodes are meant for the job, add to its pods: tolerations: [{key: {{.key}}, operator: Equal, value: \"{{.value}}\"}].",
			"kubectl describe node shows who marked them, for whom and with which effect.",
		},
	},
	{
		of: []string{"unschedulable-taint"}, line: regexp.MustCompile(`taint(?:\(s\))? \{(?P<key>[A-Za-z0-9][A-Za-z0-9._/-]*): ?\}`),
		steps: []string{
			"If these nodes are meant for the job, add to its pods: tolerations: [{key: {{.key}}, operator: Exists}].",
			"kubectl describe node shows who marked them, for whom and with which effect.",
		},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/controller/volume/attachdetach/reconciler/reconciler.go
		of: []string{"mount-failed", "volume-not-mounted"}, line: regexp.MustCompile(`Multi-Attach error for volume "(?P<volume>[^"]+)" Volume is already used by pod\(s\) (?P<holder>[a-z0-9][a-z0-9.-]*)`),
		says: "volume {{.volume}} is attached to another node, for pod {{.holder}}, and can be on one node at a time", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{
			"Use a claim with access mode ReadWriteMany, or one claim for each pod; or keep the pods that share it on one node.",
			"Where {{.holder}} is of another job, it has to end first.",
		},
	},
	// What the kubelet's device manager says when a pod comes (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/kubelet/cm/devicemanager/manager.go).
	{
		of: []string{"unexpected-admission-device"}, line: regexp.MustCompile(`requested number of devices unavailable for (?P<resource>\S+)\. Requested: (?P<asked>\d+), Available: (?P<free>\d+)`),
		says: "the node had {{.free}} of {{.asked}} {{.resource}} to give when the pod came", owner: signature.Platform, retry: signature.Helps,
		steps: []string{
			"Start the pod again. The scheduler took the devices for free and the kubelet did not: the device plugin had just restarted, or devices became unhealthy in between.",
			"Where the node refuses again, tell the administrators the node: kubectl describe node shows what it offers, and the log of its device plugin why.",
		},
	},
	{
		of: []string{"unexpected-admission-device"}, line: regexp.MustCompile(`cannot allocate unhealthy devices (?P<resource>[^ ,]+)`),
		says: "the node has no healthy {{.resource}} to give", owner: signature.Platform, retry: signature.Helps,
		steps: []string{
			"Tell the administrators the node: its device plugin reports the devices as unhealthy, or does not run; it says so as well while it starts.",
			"Start the pod again, on other nodes where this one refuses again.",
		},
	},
	{
		of: []string{"unexpected-admission-device"}, line: regexp.MustCompile(`GPU is lost|unable to get device link information|(?i:fallen off the bus)`),
		says: "the node lost a GPU, and its device plugin hands out none because of it", owner: signature.Hardware, retry: signature.Helps,
		steps: []string{
			"Tell the administrators the node: a GPU is off the bus, and every pod that asks for one is refused there until the machine was restarted.",
			"Until then keep the job off it: kubectl cordon NODE.",
		},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/limitranger/admission.go
		of: []string{"quota-exceeded"}, line: regexp.MustCompile(`(?P<bound>maximum|minimum) (?P<resource>[\w./-]+) usage per (?P<per>Container|Pod) is (?P<limit>\w+), but (?:limit|request) is (?P<asked>\w+)`),
		says: "a LimitRange of the namespace has {{.limit}} as the {{.bound}} of {{.resource}}, and the job asks for {{.asked}}", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Write {{.resource}} within the {{.bound}} of {{.limit}}, or have the LimitRange changed: kubectl get limitrange. Nothing that ends frees it."},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/serviceaccount/admission.go
		of: []string{"admission-denied"}, line: regexp.MustCompile(`error looking up service account [^/\s]+/(?P<name>[a-z0-9.-]+): serviceaccount "[^"]+" not found`),
		says: "service account {{.name}} does not exist", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Create ServiceAccount {{.name}} in the job's namespace, or correct serviceAccountName in the pod template."},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/priority/admission.go
		of: []string{"admission-denied"}, line: regexp.MustCompile(`no PriorityClass with name (?P<name>[a-z0-9.-]+) was found`),
		says: "PriorityClass {{.name}} does not exist", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Correct priorityClassName: kubectl get priorityclass lists those that there are."},
	},
	{
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`no space left on device`),
		says: "the node has no room for the image", owner: signature.Platform, retry: signature.Helps, shown: true,
		steps: []string{
			"Tell the administrators the node: the disk of its container runtime is full, and deleting images did not help; kubectl describe node shows how much it has.",
			"Start the pod on another node; a smaller image, or one that the nodes have already, needs less room.",
		},
	},
	// Why Kueue takes quota back (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/apis/kueue/v1beta2/workload_types.go).
	{
		of: []string{"queue-evicted"}, line: regexp.MustCompile(`RequeuingLimitExceeded`),
		says: "Kueue gave the job up: too often its pods were not ready in time", owner: signature.Nobody, retry: signature.Useless, shown: true,
		steps: []string{
			"Find out why its pods do not become ready: events of the pods at that time, images, volumes, nodes.",
			"Then set spec.active of its Workload to true: Kueue queues it again.",
		},
	},
	{
		of: []string{"queue-evicted"}, line: regexp.MustCompile(`PodsReadyTimeout`),
		says: "Kueue took the job's quota back: not all of its pods were ready in time", owner: signature.Nobody, retry: signature.RetryUnknown, shown: true,
		steps: []string{
			"Find out why they were not: events of the pods at that time, images, volumes, nodes.",
			"Kueue queues the job again after a while by itself, until its limit of tries.",
		},
	},
	{
		of: []string{"queue-evicted"}, line: regexp.MustCompile(`MaximumExecutionTimeExceeded`),
		says: "Kueue stopped the job at its own maximum execution time", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Raise the label kueue.x-k8s.io/max-exec-time-seconds of the job, or find out where the time went."},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/kubelet/images/image_manager.go, applyDefaultImageTag
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`couldn't parse image (?:name|reference) "(?P<image>[^"]+)": invalid reference format`),
		says: "no image can be called {{.image}}", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Correct the name in the pod template: a repository in lower case, and one tag or digest."},
	},
	{ // containerd of an image of one architecture, Docker and CRI-O of one of several
		// (https://github.com/containerd/containerd/blob/v2.0.0/core/images/image.go, Manifest; https://github.com/containers/image/blob/v5.32.0/internal/manifest/oci_index.go)
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`no match for platform in (?:the )?manifest|no matching manifest for \S+|no image found in (?:image index|manifest list) for architecture`),
		says: "the image is not built for the architecture of the node", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Build it for that of the node as well (docker buildx build --platform linux/amd64,linux/arm64), or select nodes that it is built for: nodeSelector kubernetes.io/arch."},
	},
	{
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`429 Too Many Requests|toomanyrequests`),
		says: "the registry takes no more pulls for now (429)", owner: signature.User, retry: signature.Helps, shown: true,
		steps: []string{"Wait: the kubelet tries again by itself. To be limited less, pull with an account (imagePullSecrets), or through a mirror of the cluster's own."},
	},
	{
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`(?P<why>x509: [^"]{1,80}|server gave HTTP response to HTTPS client)`),
		says: "the node does not trust the registry ({{.why}})", owner: signature.Platform, retry: signature.Useless, shown: true,
		steps: []string{"Tell the administrators the registry: nodes need its authority, or its entry in the configuration of the container runtime (containerd: certs.d)."},
	},
	{
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`(?P<why>i/o timeout|no such host|connection refused|connection reset by peer|TLS handshake timeout|no route to host|network is unreachable)`),
		says: "the node does not reach the registry ({{.why}})", owner: signature.Platform, retry: signature.Helps, shown: true,
		steps: []string{"See that the name of the registry is spelled right; where it is, tell the administrators the node and the registry: name resolution, firewall, proxy or the registry itself."},
	},
	{ // a registry says of what is private that it may not exist
		// (https://github.com/containerd/containerd/blob/v2.0.0/core/remotes/docker/resolver.go; https://github.com/distribution/distribution/blob/v2.8.3/registry/api/errcode/register.go)
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`(?i)access denied|\bunauthorized\b|authorization failed|no basic auth credentials|403 Forbidden|: denied\b`),
		says: "the registry gives the image to no account that the pods have, or has no such repository", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Where the name is right, give the pods an account: imagePullSecrets of the pod template or of its service account, with a Secret of the job's namespace."},
	},
	{
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`manifest unknown|manifest for \S+ not found|: not found\b`),
		says: "the registry has no such image or tag", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Correct the name or the tag; where it is right, push the image: the pod starts by itself then."},
	},
	// What a pod has of its own, whoever else is on the node
	// (https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/kubelet/eviction/eviction_manager.go, localStorageEviction).
	{
		of: []string{"evicted", "pod-evicted", "pod-disrupted"}, line: regexp.MustCompile(`(?:Pod ephemeral local storage usage exceeds the total limit of containers (?P<limit>\w+)|exceeded its local ephemeral storage limit "?(?P<limit>\w+)|Usage of EmptyDir volume "?[\w-]+"? exceeds the limit "?(?P<limit>\w+))`),
		says: "the pod used more local storage than its own limit of {{.limit}}", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{
			"Raise the limit of ephemeral-storage, or sizeLimit of the emptyDir, to what the run writes.",
			"Write checkpoints and caches to a volume, not into the container.",
		},
	},
	{ // the kubelet evicts by priority and request, whoever filled the node
		of: []string{"evicted", "pod-evicted"}, line: regexp.MustCompile(`low on resource: (?P<what>[\w-]+)\. Threshold quantity: (?P<least>\w+), available: (?P<available>\w+)\. Container (?P<container>\S+) was using (?P<used>\w+), request is \w+, has larger consumption of [\w-]+\.\s*$`),
		when: usedLittle, says: "the node ran low on {{.what}}, and the pod had to go, though it used only {{.used}} of it", owner: signature.Platform, retry: signature.Helps, shown: true,
		steps: []string{
			"Start the job again, on other nodes if this one stays full; request what it uses ({{.used}} of {{.what}}): pods over their requests go first.",
			"Tell the administrators the node: {{.available}} was left where it keeps {{.least}}, and what this pod used does not make up for that.",
		},
	},
	// Eviction messages name each container over its request
	// (https://github.com/kubernetes/kubernetes/blob/v1.37.0/pkg/kubelet/eviction/helpers.go, evictionMessage).
	{
		of: []string{"evicted", "pod-evicted"}, line: regexp.MustCompile(`low on resource: (?P<what>ephemeral-storage)\b.*?Container (?P<container>\S+) was using (?P<used>\w+),?(?: which exceeds its| its)? request (?:is|of) (?P<request>\w+)`),
		says: "the node ran low on {{.what}}, and container {{.container}} used {{.used}} of it with a request of {{.request}}", owner: signature.User, retry: signature.RetryUnknown, shown: true,
		steps: []string{
			"Request what it uses: resources.requests of container {{.container}} has {{.what}} {{.request}}, and it used {{.used}}.",
			"Write checkpoints and caches to a volume, not into the container.",
		},
	},
	{
		of: []string{"evicted", "pod-evicted"}, line: regexp.MustCompile(`low on resource: (?P<what>[\w-]+).*?Container (?P<container>\S+) was using (?P<used>\w+),?(?: which exceeds its| its)? request (?:is|of) (?P<request>\w+)`),
		says: "the node ran low on {{.what}}, and container {{.container}} used {{.used}} of it with a request of {{.request}}", owner: signature.User, retry: signature.RetryUnknown, shown: true,
		steps: []string{
			"Request what it uses: resources.requests of container {{.container}} has {{.what}} {{.request}}, and it used {{.used}}.",
			"Where it should not use so much, look for what grows: data-loader workers, caches in memory, files under /dev/shm.",
		},
	},
	// What a signal says of who sent it (signal(7)): 1 the terminal, 2 a person, 10 and 12 a batch system that was told to warn.
	{
		of: []string{"signal-received"}, line: regexp.MustCompile(`(?:\bReceived |got signal: )1\b|SIGHUP|Hangup`),
		says: "SIGHUP: the terminal or the session that started the run was closed", owner: signature.User,
		steps: []string{"Start it so that it outlives the session: with setsid or nohup, in tmux, or as a Job.", "Start again from the last checkpoint."},
	},
	{
		of: []string{"signal-received"}, line: regexp.MustCompile(`(?:\bReceived |got signal: )2\b|SIGINT`),
		says: "SIGINT: somebody interrupted the run, or what started it was interrupted", owner: signature.User,
		steps: []string{"Start again from the last checkpoint."},
	},
	{
		of: []string{"signal-received"}, line: regexp.MustCompile(`(?:\bReceived |got signal: )1[02]\b|SIGUSR[12]`),
		says: "a signal that a batch system sends ahead of the time limit, and the program does not handle it", owner: signature.User,
		steps: []string{"Handle the signal by writing a checkpoint, or do not ask for it (sbatch --signal).", "Ask for more time, or start again from the last checkpoint."},
	},
	{
		of: []string{"store-client-timeout"}, line: regexp.MustCompile(`\(?(?P<at>localhost|127\.0\.0\.1)[,:] ?(?P<atPort>\d+)`),
		says: "nothing answered at {{.at}}:{{.atPort}}, which is this pod itself", owner: signature.User,
		steps: []string{
			"If the ranks are in several pods, set MASTER_ADDR (torchrun: --master-addr, --rdzv-endpoint) to the name of the master's service.",
			"If all of them are in this one, read what rank 0 said: it holds the store, and it ended, hangs or never came up.",
		},
	},
	{
		of: []string{"required-environment"}, line: regexp.MustCompile(`environment variable (?P<name>\w+) to (?P<value>\w+)`),
		says: "the program refuses to start without {{.name}}={{.value}}", owner: signature.User,
		steps: []string{"Set {{.name}}={{.value}} in the pod template's env."},
	},
	{
		of: []string{"sigkill-torchrun"}, fact: map[string]string{"pid": ""},
		says: "a rank (pid {{.pid}}) was killed with SIGKILL",
		steps: []string{
			"On its node, see whether the kernel killed pid {{.pid}} for memory: dmesg -T | grep -iE 'killed process|out of memory'.",
			"Compare the memory limit with the peak use; load weights on one rank at a time.",
		},
	},
	{ // what mount.nfs and others say of a server that does not answer (nfs-utils, utils/mount; lustre, mount_lustre)
		of: []string{"mount-failed"}, line: regexp.MustCompile(`(?i)(?:connection timed out|no route to host|connection refused|host is down|server is not responding|network is unreachable|failed to resolve server)`),
		says: "a volume cannot be mounted: the node does not reach its server", owner: signature.Platform,
		steps: []string{
			"Tell the administrators the node and the server: the mount waits for an answer that does not come (firewall, route, server down, a wrong address in the volume).",
			"Where other nodes mount it, keep the job off this one until it is mended.",
		},
	},
	{
		of: []string{"mount-failed"}, line: regexp.MustCompile(`(?i)access denied|permission denied`),
		says: "a volume cannot be mounted: its server refuses the node", owner: signature.Platform,
		steps: []string{"Tell the administrators the node and the volume: the server's export list, or the secret of the volume, does not let this node in."},
	},
	{ // the kubelet's, for a volume of an object (pkg/volume/{configmap,secret}, GetConfigMap, GetSecret)
		of: []string{"mount-failed"}, line: regexp.MustCompile(`(?P<what>configmap|secret) "(?P<name>[^"]+)" not found`),
		says: "a volume cannot be mounted: {{.what}} {{.name}} does not exist", owner: signature.User,
		steps: []string{"Create {{.what}} {{.name}} in the job's namespace, or correct its name in the pod template; the pod starts by itself then."},
	},
	{ // RecordNodeStatusChange of the node lifecycle controller, and kubectl's word for the object
		of: []string{"node-not-ready-text"}, line: regexp.MustCompile(`[Nn]ode (?P<node>\S+) (?:status is now: NodeNotReady|is unresponsive)`),
		says: "node {{.node}} is not ready",
		steps: []string{
			"Tell the administrators node {{.node}}; kubectl describe node {{.node}} shows since when, and what it said last.",
			lostPod, "Start the job again on other nodes.",
		},
	},
	{
		of: []string{"node-not-ready-text"}, fact: map[string]string{"node": ""},
		steps: []string{
			"Tell the administrators node {{.node}}; kubectl describe node {{.node}} shows since when, and what it said last.",
			lostPod, "Start the job again on other nodes.",
		},
	},
	{
		of: []string{"node-not-ready-text"}, not: "node", line: regexp.MustCompile(`\bpod/(?P<pod>[a-z0-9][a-z0-9.-]*)`),
		steps: []string{"See which node it was: kubectl get pod {{.pod}} -o wide. Tell the administrators its name.", lostPod, "Start the job again elsewhere."},
	},
	{ // a row of kubectl get pods
		of: []string{"pod-node-lost"}, line: regexp.MustCompile(`^(?:\S+\s+)?(?P<pod>[a-z0-9][a-z0-9.-]*)\s+\d+/\d+\s`),
		steps: []string{"See which node it was: kubectl get pod {{.pod}} -o wide. Tell the administrators its name.", lostPod, "Start the job again elsewhere."},
	},
	{
		of: []string{"node-not-ready-text"}, not: "node",
		steps: []string{"See which node it was: kubectl get pod -o wide. Tell the administrators its name.", "Start the job again elsewhere."},
	},
	{ // Kueue, pkg/scheduler/flavorassigner: more than the queue has when it is idle
		line: regexp.MustCompile(`maximum capacity \((?P<asked>\d+\w*) > (?P<most>\d+\w*)\)`),
		says: "it asks for {{.asked}} where {{.most}} is all there ever is", owner: signature.User, retry: signature.Useless,
		steps: []string{"Ask for {{.most}} or less, or have the limit raised: no waiting helps."},
	},
	{ // a ResourceQuota makes requests obligatory
		of: []string{"quota-exceeded"}, line: regexp.MustCompile(`must specify (?P<resources>[\w./-]+(?:,[\w./-]+)*)`),
		says: "the namespace's quota wants {{.resources}} to be written, and the pod does not", owner: signature.User, retry: signature.Useless,
		steps: []string{"Write {{.resources}} for every container, init containers too: a quota on a resource makes it obligatory."},
	},
	{
		of: []string{"container-start-failed"}, line: regexp.MustCompile(`error running (?:\w+ )?hook #?\d*.*?(?:exit status|signal:?) (?P<status>\w+)`),
		says: "a hook of the container runtime failed ({{.status}})", owner: signature.Platform, retry: signature.RetryUnknown,
		steps: []string{
			"Tell the administrators: a hook is theirs, not the image's; on its node, journalctl -u containerd says which one.",
			"137 is a kill, most often for memory: see dmesg -T of the node.",
		},
	},
	{ // the runtime looks for what a container starts (https://github.com/opencontainers/runc/blob/v1.2.0/libcontainer/standard_init_linux.go, Init)
		of: []string{"container-start-failed"}, line: regexp.MustCompile(`exec: "(?P<program>[^"]+)": executable file not found in \$PATH`),
		says: "the image has no program {{.program}} in its PATH", shown: true,
		steps: []string{"Correct the command, take an image that has {{.program}}, or write where it is (a virtual environment is in no PATH by itself)."},
	},
	{
		of: []string{"container-start-failed"}, line: regexp.MustCompile(`exec:? "?(?P<program>/[^":]+)"?: (?:stat \S+: )?no such file or directory`),
		says: "there is no {{.program}} to start", shown: true,
		steps: []string{"Correct the command, or see what hides the file: a volume that is mounted over its folder. Of a script, the interpreter in its first line may be what is missing."},
	},
	{
		of: []string{"container-start-failed"}, line: regexp.MustCompile(`exec format error`),
		says: "what the container starts is built for another architecture, or is a script without an interpreter in its first line", shown: true,
		steps: []string{"Compare the image's architecture with the node's label kubernetes.io/arch; of a script, begin it with #!/bin/sh or the like."},
	},
	{
		of: []string{"slurm-cancelled"}, line: regexp.MustCompile(`(?:JOB|STEP) (?P<id>[\d.]+) .*DUE TO TIME LIMIT`),
		says: "Slurm cancelled job {{.id}} at its time limit", owner: signature.User,
		steps: []string{"See where the time went: sacct -j {{.id}} --format=JobID,Elapsed,Timelimit,State.", "Ask for more time (sbatch --time), or write checkpoints more often."},
	},
	{
		of: []string{"slurm-cancelled"}, line: regexp.MustCompile(`(?:JOB|STEP) (?P<id>[\d.]+) .*DUE TO PREEMPTION`),
		says: "Slurm preempted job {{.id}}", owner: signature.Platform, retry: signature.Helps,
		steps: []string{"Start again from the last checkpoint, by itself with sbatch --requeue.", "A partition or QOS that is not preempted: scontrol show partition, sacctmgr show qos."},
	},
	{
		of: []string{"kernel-oom-kill"}, line: regexp.MustCompile(`StepId=(?P<id>\d+)`),
		says: "the kernel killed a task of Slurm job {{.id}} for lack of memory", owner: signature.User, retry: signature.Useless,
		steps: []string{"Compare what it used with what it asked for: sacct -j {{.id}} --format=JobID,MaxRSS,ReqMem.", "Ask for more (sbatch --mem), or use less: fewer data-loader workers, smaller prefetch."},
	},
}

// adviceFor is the advice that fits an observation, its texts filled; nil: the signature says it all.
func adviceFor(s *evidence.Observation) *advice {
	known := map[string]string{}
	maps.Copy(known, s.Facts)
	if node := s.Item.Source.Node; node != "" && known["node"] == "" {
		known["node"] = node
	}
	for i := range byFact {
		a := &byFact[i]
		if len(a.of) > 0 && !slices.Contains(a.of, s.Signature.ID) || a.not != "" && known[a.not] != "" {
			continue
		}
		facts := map[string]string{}
		for name, want := range a.fact {
			if have, ok := known[name]; !ok || want != "" && have != want {
				facts = nil
				break
			}
		}
		if facts == nil || !a.reads(s.Line, facts) || a.when != nil && !a.when(facts) {
			continue
		}
		maps.Copy(facts, known)
		return a.filled(facts)
	}
	return nil
}

// reads puts the named groups of the line among the facts; false: the line is another one.
func (a *advice) reads(line string, facts map[string]string) bool {
	if a.line == nil {
		return true
	}
	m := a.line.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	for i, name := range a.line.SubexpNames() {
		if name == "" || m[i] == "" {
			continue
		}
		facts[name] = m[i]
		if ms, err := strconv.ParseInt(m[i], 10, 64); err == nil && strings.HasSuffix(name, "Ms") {
			facts[name] = words.Short(time.Duration(ms) * time.Millisecond)
		}
	}
	return true
}

func (a *advice) filled(facts map[string]string) *advice {
	out := *a
	out.says, out.steps = fill(a.says, facts), nil
	for _, step := range a.steps {
		out.steps = append(out.steps, fill(step, facts))
	}
	return &out
}

// usedLittle says that a node would have run low without what a container used.
func usedLittle(facts map[string]string) bool {
	var n [3]resource.Quantity
	for i, name := range []string{"least", "available", "used"} {
		q, err := resource.ParseQuantity(facts[name])
		if err != nil {
			return false
		}
		q.Format = resource.BinarySI // the kubelet writes one of them in bytes
		n[i], facts[name] = q, q.String()
	}
	n[1].Add(n[2])
	return n[1].Cmp(n[0]) < 0
}
