package report

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Every row of the catalogue has a line that it is for, and says the line's own numbers.
func TestAdviceByFact(t *testing.T) {
	cases := []struct {
		of, line string
		facts    map[string]string
		says     string // empty: the signature's title
		owner    signature.Domain
		does     string // in the first step
	}{
		{"collective-desync", "WorkNCCL(SeqNum=412", map[string]string{"runs": "runs X at #412, where 3 others run Y"}, "runs X at #412, where 3 others run Y", "", ""},
		{"barrier-timed-out", "Barrier timed out.", map[string]string{"absent": "tasks 2 and 6 (6/8 came)", "first": "2"}, "a barrier timed out, and did not see tasks 2 and 6 (6/8 came)", "", "log of task 2"},
		{"kernel-oom-kill", "Out of memory: Killed process 4312 (python) total-vm:231232kB, anon-rss:183123kB", nil, "the node ran out of memory, and the kernel killed process 4312 (python): no limit of a container was reached", signature.Platform, "Leave the container's memory limit"},
		{"kernel-oom-kill", "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task=python,pid=4312", nil, "the node ran out of memory, and the kernel killed a process: no limit of a container was reached", signature.Platform, "Leave the container's memory limit"},
		{"nccl-watchdog-timeout", "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=16349, OpType=ALLGATHER, NumelIn=1, Timeout(ms)=600000) ran for 600341 milliseconds before timing out.", nil, "waited 10 min in ALLGATHER #16349, and not all ranks came", "", "py-spy dump"},
		{"barrier-timed-out", "[rank25]:[E ProcessGroupNCCL.cpp:1316] [PG 0 Rank 25] Heartbeat monitor timed out! Process will be terminated", nil, "NCCL's watchdog of rank 25 made no progress: a call into CUDA or NCCL hangs on this rank", "", "stacks of rank 25"},
		{"ssh-unreachable", "root@train-node-1.train: Permission denied (publickey,password,keyboard-interactive).", nil, "", "", "age of the Secret"},
		{"unschedulable-taint", "1 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }.", nil, "the nodes that match are under disk pressure", signature.Platform, "Do not tolerate node.kubernetes.io/disk-pressure"},
		{"unschedulable-taint", "2 node(s) had untolerated taint {node.kubernetes.io/unreachable: }.", nil, "the nodes that match are unreachable", signature.Platform, "has to come back"},
		{"unschedulable-taint", "2 node(s) had untolerated taint {node.kubernetes.io/unschedulable: }.", nil, "the nodes that match are cordoned", signature.Platform, "uncordoned"},
		{"unschedulable-taint", "0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: true}.", nil, "", "", `tolerations: [{key: dedicated, operator: Equal, value: "true"}]`},
		{"unschedulable-taint", "0/3 nodes are available: 3 node(s) had untolerated taint {nvidia.com/gpu: }.", nil, "", "", "tolerations: [{key: nvidia.com/gpu, operator: Exists}]"},
		{"mount-failed", `Multi-Attach error for volume "pvc-6a1f" Volume is already used by pod(s) train-master-0`, nil, "volume pvc-6a1f is attached to another node, for pod train-master-0, and can be on one node at a time", signature.User, "ReadWriteMany"},
		{"unexpected-admission-device", "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 8, Available: 0, which is unexpected", nil, "the node had 0 of 8 nvidia.com/gpu to give when the pod came", signature.Platform, "Start the pod again"},
		{"unexpected-admission-device", "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected", nil, "the node has no healthy nvidia.com/gpu to give", signature.Platform, "device plugin"},
		{"unexpected-admission-device", "Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown desc = Unable to retrieve list of available devices: error creating nvml.Device 5: nvml: GPU is lost, which is unexpected", nil, "the node lost a GPU, and its device plugin hands out none because of it", signature.Hardware, "off the bus"},
		{"quota-exceeded", `pods "train-0-" is forbidden: maximum memory usage per Container is 64Gi, but limit is 128Gi`, nil, "a LimitRange of the namespace has 64Gi as the maximum of memory, and the job asks for 128Gi", signature.User, "within the maximum of 64Gi"},
		{"admission-denied", `pods "train-0-" is forbidden: error looking up service account ml/trainer: serviceaccount "trainer" not found`, nil, "service account trainer does not exist", signature.User, "Create ServiceAccount trainer"},
		{"admission-denied", `pods "train-0-" is forbidden: no PriorityClass with name hi-priority was found`, nil, "PriorityClass hi-priority does not exist", signature.User, "Correct priorityClassName"},
		{"image-pull", `Failed to pull image "a:1": failed to extract layer sha256:8a4fb2: write /var/lib/containerd/x: no space left on device`, nil, "the node has no room for the image", signature.Platform, "disk of its container runtime is full"},
		{"queue-evicted", "Workload/job-train: DeactivatedDueToRequeuingLimitExceeded: The workload is deactivated due to exceeding the maximum number of re-queuing retries", nil, "Kueue gave the job up: too often its pods were not ready in time", signature.Nobody, "do not become ready"},
		{"queue-evicted", "Workload/job-train: PodsReadyTimeout: Exceeded the PodsReady timeout ml/job-train", nil, "Kueue took the job's quota back: not all of its pods were ready in time", signature.Nobody, "why they were not"},
		{"queue-evicted", "Workload/job-train: DeactivatedDueToMaximumExecutionTimeExceeded: exceeding the maximum execution time", nil, "Kueue stopped the job at its own maximum execution time", signature.User, "max-exec-time-seconds"},
		{"image-pull", `InspectFailed: Failed to apply default image tag "r.example/ML/Train:1": couldn't parse image name "r.example/ML/Train:1": invalid reference format: repository name (ML/Train) must be lowercase`, nil, "no image can be called r.example/ML/Train:1", signature.User, "lower case"},
		{"image-pull", `Failed to pull image "r/a:1": no match for platform in manifest: not found`, nil, "the image is not built for the architecture of the node", signature.User, "--platform"},
		{"image-pull", `Failed to pull image "a:1": failed to copy: httpReadSeeker: failed open: unexpected status code https://registry-1.docker.io/v2/a/manifests/1: 429 Too Many Requests - Server message: toomanyrequests`, nil, "the registry takes no more pulls for now (429)", signature.User, "tries again by itself"},
		{"image-pull", `Failed to pull image "r/a:1": failed to do request: Head "https://r/v2/a/manifests/1": tls: failed to verify certificate: x509: certificate signed by unknown authority`, nil, "the node does not trust the registry (x509: certificate signed by unknown authority)", signature.Platform, "certs.d"},
		{"image-not-pulled", `Failed to pull image "r/a:1": failed to do request: Head "https://r/v2/a/manifests/1": dial tcp: lookup r on 10.96.0.10:53: no such host`, nil, "the node does not reach the registry (no such host)", signature.Platform, "spelled right"},
		{"image-pull-state", `Failed to pull image "a:1": pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`, nil, "the registry gives the image to no account that the pods have, or has no such repository", signature.User, "imagePullSecrets"},
		{"image-pull", `Failed to pull image "a:9": failed to resolve reference "docker.io/library/a:9": docker.io/library/a:9: not found`, nil, "the registry has no such image or tag", signature.User, "Correct the name"},
		{"evicted", "Pod ephemeral local storage usage exceeds the total limit of containers 100Gi. ", nil, "the pod used more local storage than its own limit of 100Gi", signature.User, "Raise the limit"},
		{"evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 107374182400, available: 96Gi. Container mpi was using 2Gi, request is 0, has larger consumption of ephemeral-storage. ", nil, "the node ran low on ephemeral-storage, and the pod had to go, though it used only 2Gi of it", signature.Platform, "on other nodes"},
		{"evicted", "The node was low on resource: ephemeral-storage. Threshold quantity: 53687091200, available: 48211Mi. Container pytorch was using 212Gi, request is 0, has larger consumption of ephemeral-storage.", nil, "the node ran low on ephemeral-storage, and container pytorch used 212Gi of it with a request of 0", signature.User, "has ephemeral-storage 0, and it used 212Gi"},
		{"pod-evicted", "The node was low on resource: memory. Container main was using 1783932Ki, which exceeds its request of 0.", nil, "the node ran low on memory, and container main used 1783932Ki of it with a request of 0", signature.User, "has memory 0, and it used 1783932Ki"},
		{"signal-received", "Received 1 death signal, shutting down workers", map[string]string{"name": "1"}, "SIGHUP: the terminal or the session that started the run was closed", signature.User, "setsid"},
		{"signal-received", "torch.distributed.elastic.multiprocessing.api.SignalException: Process 14 got signal: 2", nil, "SIGINT: somebody interrupted the run, or what started it was interrupted", signature.User, "checkpoint"},
		{"signal-received", "Received 10 death signal, shutting down workers", nil, "a signal that a batch system sends ahead of the time limit, and the program does not handle it", signature.User, "--signal"},
		{"store-client-timeout", "The client socket has timed out after 20min while trying to connect to (localhost, 57117)", nil, "nothing answered at localhost:57117, which is this pod itself", signature.User, "MASTER_ADDR"},
		{"required-environment", "AssertionError: Using tensor model parallelism require setting the environment variable CUDA_DEVICE_MAX_CONNECTIONS to 1", nil, "the program refuses to start without CUDA_DEVICE_MAX_CONNECTIONS=1", signature.User, "Set CUDA_DEVICE_MAX_CONNECTIONS=1 in"},
		{"sigkill-torchrun", "traceback : Signal 9 (SIGKILL) received by PID 79468", map[string]string{"pid": "79468"}, "a rank (pid 79468) was killed with SIGKILL", "", "killed pid 79468"},
		{"mount-failed", "MountVolume.SetUp failed for volume \"nfs\" : mount failed: exit status 32 Output: mount.nfs: Connection timed out", nil, "a volume cannot be mounted: the node does not reach its server", signature.Platform, "Tell the administrators the node and the server"},
		{"mount-failed", "MountVolume.SetUp failed for volume \"nfs\" : mount.nfs: access denied by server while mounting fs:/data", nil, "a volume cannot be mounted: its server refuses the node", signature.Platform, "export list"},
		{"mount-failed", "MountVolume.SetUp failed for volume \"cfg\" : configmap \"train-cfg\" not found", nil, "a volume cannot be mounted: configmap train-cfg does not exist", signature.User, "Create configmap train-cfg"},
		{"node-not-ready-text", "2m Normal NodeNotReady node/gpu-7 Node gpu-7 status is now: NodeNotReady", nil, "node gpu-7 is not ready", "", "kubectl describe node gpu-7"},
		{"node-not-ready-text", "NodeNotReady: Node is not ready", map[string]string{"node": "gpu-7"}, "", "", "kubectl describe node gpu-7"},
		{"node-not-ready-text", "2m Warning NodeNotReady pod/train-worker-0 Node is not ready", nil, "", "", "kubectl get pod train-worker-0 -o wide"},
		{"pod-node-lost", "train-worker-0   0/1     NodeLost   0    10m", nil, "", "", "kubectl get pod train-worker-0 -o wide"},
		{"node-not-ready-text", "Warning  NodeNotReady  10m   node-controller  Node is not ready", nil, "", "", "kubectl get pod -o wide"},
		{"queue-quota", "insufficient quota for nvidia.com/gpu in flavor default, request > maximum capacity (16 > 8)", nil, "it asks for 16 where 8 is all there ever is", signature.User, "Ask for 8 or less"},
		{"quota-exceeded", `pods "w-0" is forbidden: failed quota: compute: must specify cpu,memory`, nil, "the namespace's quota wants cpu,memory to be written, and the pod does not", signature.User, "Write cpu,memory"},
		{"container-start-failed", "error during container init: error running hook #0: error running hook: exit status 137, stdout: , stderr: ", nil, "a hook of the container runtime failed (137)", signature.Platform, "journalctl"},
		{"container-start-failed", `runc create failed: unable to start container process: error during container init: exec: "torchrun": executable file not found in $PATH: unknown`, nil, "the image has no program torchrun in its PATH", "", "an image that has torchrun"},
		{"container-start-failed", `unable to start container process: exec: "/app/run.sh": stat /app/run.sh: no such file or directory: unknown`, nil, "there is no /app/run.sh to start", "", "mounted over its folder"},
		{"container-start-failed", `exec /app/run.sh: exec format error`, nil, "what the container starts is built for another architecture, or is a script without an interpreter in its first line", "", "kubernetes.io/arch"},
		{"slurm-cancelled", "slurmstepd: error: *** JOB 4711 ON node01 CANCELLED AT 2024-01-01T10:00:00 DUE TO TIME LIMIT ***", nil, "Slurm cancelled job 4711 at its time limit", signature.User, "sacct -j 4711"},
		{"slurm-cancelled", "slurmstepd: error: *** JOB 4711 ON node01 CANCELLED AT 2024-01-01T10:00:00 DUE TO PREEMPTION ***", nil, "Slurm preempted job 4711", signature.Platform, "--requeue"},
		{"kernel-oom-kill", "slurmstepd: error: Detected 1 oom_kill event in StepId=12.0. Some of the step tasks have been OOM Killed.", nil, "the kernel killed a task of Slurm job 12 for lack of memory", signature.User, "sacct -j 12"},
		{"operator-refuses", `ErrResourceExists: Resource "train-config" of Kind "ConfigMap" already exists and is not managed by MPIJob`, nil, "ConfigMap train-config of somebody else is in the way of one that the operator makes", "", "See whose ConfigMap train-config is"},
		{"operator-refuses", "ValidationError: Found validation errors: spec: Required value", nil, "the job's operator does not take it: Found validation errors: spec: Required value", "", ""},
		{"gang-unschedulable", "Unschedulable: resource in cluster is overused: overused nvidia.com/gpu", nil, "the cluster has too little nvidia.com/gpu left for the gang, and Volcano makes no pods before it has", signature.User, "Wait for running jobs"},
		{"queue-evicted", `Workload/job-train-1: Deactivated: The workload is deactivated due to AdmissionCheck in Rejected state: "prov" (no capacity)`, nil, `an admission check of the queue rejected the job: "prov" (no capacity)`, signature.Platform, "kubectl describe admissionchecks"},
		{"kueue-node-failed", "Workload/job-train-1: NodeFailures: Workload was evicted as there was no replacement for unhealthy node(s): gpu-7", map[string]string{"node": "gpu-7"}, "node gpu-7 failed, and Kueue found no other for the job's pods", "", "kubectl describe node gpu-7"},
		{"image-pull-state", `ErrImageNeverPull: Container image "train:dev" is not present with pull policy of Never`, nil, "the node does not have image train:dev, and imagePullPolicy is Never", signature.User, "IfNotPresent"},
		{"mount-failed", `MountVolume.MountDevice failed for volume "pvc-7f3e" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name fs.csi.example.com not found in the list of registered CSI drivers`, nil, "a volume cannot be mounted: its driver fs.csi.example.com does not run on the node", signature.Platform, "kubectl get csinode"},
		{"admission-denied", `pods "train-0-" is forbidden: pod rejected: RuntimeClass "nvidia-cdi" not found`, nil, "RuntimeClass nvidia-cdi does not exist", signature.User, "kubectl get runtimeclass"},
		{"admission-denied", `pods "train-0-1" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostNetwork=true)`, nil, "the namespace's PodSecurity level baseline:latest refuses the pods: host namespaces (hostNetwork=true)", signature.User, "Leave out"},
		{"evicted", "Evicted: The node was low on resource: pids. Threshold quantity: 1572, available: 1201. ", nil, "the node ran out of process IDs (1201 left)", signature.Platform, "podPidsLimit"},
		{"unschedulable-cpu-memory", "0/3 nodes are available: 3 Insufficient hugepages-2Mi.", nil, "not enough free hugepages-2Mi", signature.User, "status.allocatable.hugepages-2Mi"},
		{"device-class-missing", "0/6 nodes are available: request gpu: device class h100.example.com does not exist.", nil, "DeviceClass h100.example.com does not exist", "", "kubectl get deviceclasses"},
		{"mount-failed", `MountVolume.MountDevice failed for volume "pvc-31aa" : rpc error: code = DeadlineExceeded desc = context deadline exceeded`, nil, "volume pvc-31aa cannot be mounted: the storage driver does not answer in time", signature.Platform, "Tell the administrators the node"},
		{"liveness-probe-killed", "Killing: Container main failed startup probe, will be restarted", map[string]string{"probe": "startup"}, "", "", "Raise failureThreshold"},
		{"liveness-probe-killed", "Killing: Container main failed liveness probe, will be restarted", map[string]string{"probe": "liveness"}, "", "", "give it minutes"},
		{"unschedulable-claim", `0/8 nodes are available: persistentvolumeclaim "data" is being deleted. preemption: 0/8 nodes are available`, nil, "", "", "Somebody deleted claim data"},
		{"unschedulable-claim", `0/8 nodes are available: persistentvolumeclaim "data" not found.`, nil, "", "", "Create claim data"},
		{"pod-disrupted", "pod train-1: DisruptionTarget=True EvictionByEvictionAPI: Eviction API: evicting", nil, "the pod was evicted through the eviction API, as a drain of its node does it", "", "who drains the node"},
		{"pod-disrupted", "pod train-1: DisruptionTarget=True DeletionByTaintManager: Taint manager: deleting due to NoExecute taint", nil, "the pod was deleted for a NoExecute taint of its node", "", "taints of the node"},
		{"pod-disrupted", "pod train-1: DisruptionTarget=True DeletionByPodGC: PodGC: node no longer exists", nil, "the pod was deleted because its node does not exist any more", "", "who removed the node"},
		{"drained", "ScaleDown: deleting pod for node scale down", nil, "the cluster autoscaler removed the pod to take its node away", "", "safe-to-evict"},
		{"drained", "SpotInterruption: Spot ITN received. Instance will be interrupted at 2026-09-14T11:22:40Z", nil, "the cloud takes the machine of the node back (spot)", signature.Platform, "last checkpoint"},
	}
	if len(cases) != len(byFact) {
		t.Errorf("%d lines for %d rows", len(cases), len(byFact))
	}
	for i, tc := range cases {
		a := adviceFor(&evidence.Observation{Signature: &signature.Signature{ID: tc.of}, Line: tc.line, Facts: tc.facts})
		if a == nil {
			t.Errorf("%q: no row of the catalogue fits", tc.line)
			continue
		}
		if a.says != tc.says || a.owner != tc.owner || !strings.Contains(strings.Join(a.steps[:min(1, len(a.steps))], ""), tc.does) {
			t.Errorf("%q: %q, %s: %q", tc.line, a.says, a.owner, a.steps)
		}
		if i < len(byFact) && byFact[i].line != a.line {
			t.Errorf("%q is taken by another row than the %dth", tc.line, i+1)
		}
	}
	for of, line := range map[string]string{
		"ssh-unreachable":       "ssh: connect to host train-node-1 port 22: Connection refused",
		"signal-received":       "Received 15 death signal, shutting down workers",
		"store-client-timeout":  "The client socket has timed out after 900s while trying to connect to (train-master-0, 23456)",
		"nccl-watchdog-timeout": "Watchdog caught collective operation timeout",
		"evicted":               "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi.",
		"unschedulable-taint":   "2 node(s) had untolerated taint(s).",
	} {
		if a := adviceFor(&evidence.Observation{Signature: &signature.Signature{ID: of}, Line: line}); a != nil {
			t.Errorf("%q gets the advice %q", line, a.steps)
		}
	}
}

// A citation is a number that is resolved below; what only looks like one stays as it is.
func TestNumbersOfEvidence(t *testing.T) {
	r := Report{
		Verdict: Diagnosed, Root: &Cause{Line: "it broke", Cites: []evidence.ID{"log//data/a b/train.log#5"}},
		Analysis: "It broke. [log//data/a b/train.log#5] Others say so [pod/w-1/main#7]; a text says [log/none#1]. [log//data/a b/train.log#5]",
		Evidence: []evidence.Item{{ID: "log//data/a b/train.log#5", Text: "it broke"}, {ID: "pod/w-1/main#7", Kind: evidence.Log, Text: strings.Repeat("x", widestCited+1)}},
	}
	text, cited := Analysis(r)
	if want := "It broke. [1] Others say so [2]; a text says [log/none#1]. [1]"; text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	want := "[1] /data/a b/train.log:5\n[2] pod/w-1/main#7  " + strings.Repeat("x", widestCited) + "…"
	if got := strings.Join(cited, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
