package report

import (
	"regexp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// ofPlatform are for what the platform says of volumes, and of pods that it took away: who did stands in the reason of the
// condition DisruptionTarget (https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions) or in the
// event of whoever did it.
var ofPlatform = []advice{
	{ // https://github.com/kubeflow/mpi-operator/blob/v0.8.2/pkg/controller/mpi_job_controller.go, MessageResourceExists
		of: []string{"operator-refuses"}, line: regexp.MustCompile(`Resource "(?P<name>[^"]+)" of Kind "(?P<kind>\w*)" already exists and is not managed by`),
		says: "{{.kind|an object}} {{.name}} of somebody else is in the way of one that the operator makes", shown: true,
		steps: []string{
			"See whose {{.kind}} {{.name}} is: metadata.ownerReferences and metadata.labels name what made it, an earlier job of the name most often.",
			"Delete it where nobody needs it, or create the job under another name.",
		},
	},
	{
		of: []string{"operator-refuses"}, line: regexp.MustCompile(`^\w+: (?P<said>.{1,240})`),
		says: "the job's operator does not take it: {{.said}}", shown: true,
	},
	{ // https://github.com/volcano-sh/volcano/blob/ed72c7c8/pkg/scheduler/plugins/overcommit/overcommit.go
		of: []string{"gang-unschedulable"}, line: regexp.MustCompile(`resource in cluster is overused: overused (?P<resource>\S+)`),
		says: "the cluster has too little {{.resource}} left for the gang, and Volcano makes no pods before it has", owner: signature.User, retry: signature.RetryUnknown, shown: true,
		steps: []string{
			"Wait for running jobs to end, or ask for fewer or smaller pods.",
			"Where that never suffices, ask the administrators: the overcommit plugin of Volcano's scheduler counts what jobs ask for against what all nodes have, times its factor.",
		},
	},
	{ // https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/core/workload_controller.go, buildAdmissionChecksMessage
		of: []string{"queue-evicted"}, line: regexp.MustCompile(`AdmissionChecks? in Rejected state: (?P<said>.{1,240})`),
		says: "an admission check of the queue rejected the job: {{.said}}", owner: signature.Platform, retry: signature.Useless, shown: true,
		steps: []string{
			"Ask whoever runs the check (kubectl describe admissionchecks names its controller): it says what it lacks, machines most often.",
			"When that is changed, set spec.active of the job's Workload to true: Kueue queues it again.",
		},
	},
	{
		of: []string{"kueue-node-failed"}, fact: map[string]string{"node": ""},
		says: "node {{.node}} failed, and Kueue found no other for the job's pods", shown: true,
		steps: []string{
			"Tell the administrators node {{.node}}: kubectl describe node {{.node}} shows since when, and what it said last.",
			"Wait: Kueue starts the job again, from its last checkpoint where it writes some, when the node is back or others are free.",
		},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/kubelet/images/image_manager.go
		of: []string{"image-pull", "image-not-pulled", "image-pull-state"}, line: regexp.MustCompile(`image "(?P<image>[^"]+)" is not present with pull policy of Never`),
		says: "the node does not have image {{.image}}, and imagePullPolicy is Never", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{
			"Set imagePullPolicy to IfNotPresent in the pod template where a registry has the image.",
			"Where none has, load it on every node that may run the pod (ctr -n k8s.io images import, kind load, minikube image load), or push it to a registry.",
		},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/volume/csi/csi_client.go
		of: []string{"mount-failed", "volume-not-mounted"}, line: regexp.MustCompile(`driver name (?P<driver>\S+) not found in the list of registered CSI drivers`),
		says: "a volume cannot be mounted: its driver {{.driver}} does not run on the node", owner: signature.Platform, retry: signature.Helps, shown: true,
		steps: []string{
			"Tell the administrators the node: the node plugin of {{.driver}} (a DaemonSet) is missing there, has not started, or does not tolerate the node's taints; kubectl get csinode shows which nodes have it.",
			"Until then keep the job on nodes that have it.",
		},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/runtimeclass/admission.go
		of: []string{"admission-denied"}, line: regexp.MustCompile(`RuntimeClass "(?P<name>[^"]+)" not found`),
		says: "RuntimeClass {{.name}} does not exist", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{"Correct runtimeClassName in the pod template: kubectl get runtimeclass lists those that there are. Where it should be there, the administrators install it with the container runtime."},
	},
	{ // https://github.com/kubernetes/pod-security-admission/blob/v0.34.0/admission/admission.go
		of: []string{"admission-denied"}, line: regexp.MustCompile(`violates PodSecurity "(?P<level>[^"]+)": (?P<what>.{1,200})`),
		says: "the namespace's PodSecurity level {{.level}} refuses the pods: {{.what}}", owner: signature.User, retry: signature.Useless, shown: true,
		steps: []string{
			"Leave out of the pod template what the message names.",
			"Where the job needs it, run it in a namespace whose label pod-security.kubernetes.io/enforce allows it, or ask the owner of the namespace.",
		},
	},
	{ // https://kubernetes.io/docs/concepts/policy/pid-limiting/
		of: []string{"evicted", "pod-evicted"}, line: regexp.MustCompile(`low on resource: pids\. Threshold quantity: (?P<least>\d+), available: (?P<available>\d+)`),
		says: "the node ran out of process IDs ({{.available}} left)", owner: signature.Platform, retry: signature.Helps, shown: true,
		steps: []string{
			"Tell the administrators the node: ps -eLf | wc -l there counts processes and threads, and podPidsLimit of the kubelet keeps one pod from taking all.",
			"Start the job again, on other nodes where this one stays so. Where the job itself starts very many threads, set OMP_NUM_THREADS and the number of data-loader workers.",
		},
	},
	{ // https://kubernetes.io/docs/tasks/manage-hugepages/scheduling-hugepages/
		of: []string{"unschedulable-cpu-memory"}, line: regexp.MustCompile(`Insufficient (?P<pages>hugepages-\w+)`),
		says: "not enough free {{.pages}}", owner: signature.User, retry: signature.RetryUnknown,
		steps: []string{
			"See which nodes have any: kubectl get nodes -o custom-columns=NAME:.metadata.name,PAGES:.status.allocatable.{{.pages}}. Where none has, no waiting helps.",
			"Leave {{.pages}} out of the pod template unless the program asks for them, or have the administrators set them up on the nodes.",
		},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go
		of: []string{"device-class-missing"}, line: regexp.MustCompile(`device class (?P<class>\S+) does not exist`),
		says: "DeviceClass {{.class}} does not exist", shown: true,
		steps: []string{"Correct deviceClassName in the ResourceClaimTemplate or the ResourceClaim of the pod: kubectl get deviceclasses lists those that there are. Where it should be there, the administrators install it with the driver."},
	},
	{ // https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/volume/csi/csi_attacher.go, waitForVolumeAttachmentWithLister; gRPC's code of a call to the driver
		of: []string{"mount-failed", "volume-not-mounted"}, line: regexp.MustCompile(`for volume "(?P<volume>[^"]+)" : (?:rpc error: code = (?:DeadlineExceeded|Aborted|Unavailable)|timed out waiting for external-attacher)`),
		says: "volume {{.volume}} cannot be mounted: the storage driver does not answer in time", owner: signature.Platform, retry: signature.Helps,
		steps: []string{
			"Tell the administrators the node and the volume: the driver's pod on that node (kubectl get pods -A -o wide, kubectl logs) or the storage behind it does not answer.",
			"The kubelet tries again by itself; where other nodes mount it, keep the job off this one until it does.",
		},
	},
	{ // https://kubernetes.io/docs/concepts/configuration/liveness-readiness-startup-probes/#startup-probe
		of: []string{"liveness-probe-killed"}, fact: map[string]string{"probe": "startup"},
		steps: []string{"Raise failureThreshold of the startupProbe until failureThreshold times periodSeconds covers the slowest start (loading, compiling), or leave the probe out."},
	},
	{
		of: []string{"liveness-probe-killed"}, fact: map[string]string{"probe": "liveness"},
		steps: []string{
			"Take the probe off training containers, or give it minutes.",
			"What only starts slowly needs a startupProbe: the liveness probe waits until that has passed.",
		},
	},
	{ // https://kubernetes.io/docs/concepts/storage/persistent-volumes/#storage-object-in-use-protection
		of: []string{"unschedulable-claim"}, line: regexp.MustCompile(`persistentvolumeclaim "(?P<claim>[^"]+)" is being deleted`),
		steps: []string{
			"Somebody deleted claim {{.claim}}: it goes when no pod uses it any more (kubectl describe pvc {{.claim}} names them), and no new pod gets it.",
			"Keep what its volume holds before it goes, then create the claim again, or name another one in the pod template.",
		},
	},
	{
		of: []string{"unschedulable-claim"}, line: regexp.MustCompile(`persistentvolumeclaim "(?P<claim>[^"]+)" not found`),
		steps: []string{"Create claim {{.claim}} in the job's namespace, or correct its name in the pod template; the pod is scheduled by itself then."},
	},
	{
		of: []string{"pod-disrupted"}, line: regexp.MustCompile(`EvictionByEvictionAPI`),
		says: "the pod was evicted through the eviction API, as a drain of its node does it", shown: true,
		steps: []string{
			"Ask the administrators who drains the node, and which nodes follow: kubectl describe node shows whether it is cordoned.",
			"Start the job again from its last checkpoint. A PodDisruptionBudget with minAvailable of all its pods keeps drains waiting while it runs.",
		},
	},
	{
		of: []string{"pod-disrupted"}, line: regexp.MustCompile(`DeletionByTaintManager`),
		says:  "the pod was deleted for a NoExecute taint of its node",
		steps: []string{"Look at the taints of the node and at its conditions at that time: a node that is not ready or does not answer is tainted so.", "Start the job again from its last checkpoint."},
	},
	{
		of: []string{"pod-disrupted"}, line: regexp.MustCompile(`DeletionByPodGC`),
		says: "the pod was deleted because its node does not exist any more", shown: true,
		steps: []string{"Ask the administrators who removed the node: an autoscaler, the provider of the machine (spot), or a person.", "Start the job again from its last checkpoint."},
	},
	{ // https://github.com/kubernetes/autoscaler/blob/cluster-autoscaler-1.33.0/cluster-autoscaler/FAQ.md, what types of pods can prevent CA from removing a node
		of: []string{"drained"}, line: regexp.MustCompile(`deleting pod for node scale down`),
		says: "the cluster autoscaler removed the pod to take its node away", shown: true,
		steps: []string{
			`Annotate the pod template with cluster-autoscaler.kubernetes.io/safe-to-evict: "false": the autoscaler leaves nodes with such pods alone.`,
			"Start the job again from its last checkpoint.",
		},
	},
	{ // https://github.com/aws/aws-node-termination-handler/blob/v1.25.0/pkg/observability/k8s-events.go
		of: []string{"drained"}, line: regexp.MustCompile(`SpotInterruption|Spot Interruption|Spot ITN`),
		says: "the cloud takes the machine of the node back (spot)", owner: signature.Platform, retry: signature.Helps, shown: true,
		steps: []string{
			"Start the job again from its last checkpoint, where the platform does not do it; the notice comes two minutes ahead.",
			"Run what cannot lose a pod on machines that are not spot, or make the job elastic.",
		},
	},
}
