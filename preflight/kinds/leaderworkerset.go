package kinds

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var leaderWorkerSet = &Kind{
	Name:     "LeaderWorkerSet",
	Resource: "leaderworkersets",
	GVKs:     []schema.GroupVersionKind{{Group: "leaderworkerset.x-k8s.io", Version: "v1", Kind: "LeaderWorkerSet"}},
	Doc: "A LeaderWorkerSet is replicas groups of size pods: the role leader has one pod of each group, the role worker " +
		"the others, with the defaults of LeaderWorkerSet v0.7 (one group of one pod, the leader from workerTemplate, " +
		"restart policy Always). All groups count, and all of them have to find a place. Workers that start when their leader is ready " +
		"(startupPolicy) run together with it all the same. exclusive-topology ties each group to a place of its own. " +
		"A set of no groups is paused. A set serves and does not end: there is no success.",
	Runs: Told{
		English: "Each group has one leader and its workers and serves one replica of a model; by default the whole group is made again when one of its pods restarts or fails, so the first pod of the group that failed matters, not the ones that were recreated. A set does not end.",
		Chinese: "每个组由一个 leader 和若干 worker 组成，共同提供模型的一个副本。默认情况下，组内任一 Pod 重启或失败，整组都会重建，因此要看组内最先失败的 Pod，而不是被重建的 Pod。LeaderWorkerSet 不会结束。",
	},
	Scale:   "spec.replicas",
	Read:    reading("LeaderWorkerSet", readLeaderWorkerSet),
	Pods:    func(ref job.Ref) labels.Selector { return selector(requirement(lwsName, ref.Name)) },
	Between: []schema.GroupVersionKind{statefulSets, pods}, // the workers' set is the leader's
	Place:   placeInLeaderWorkerSet,
	State:   leaderWorkerSetState,
	Operator: Operator{
		Validates: Validation{
			Webhook: "vleaderworkerset.kb.io", // lws v0.7.0 pkg/webhooks/leaderworkerset_webhook.go
			Refuses: []string{"immutable-field-changed", "job-name-invalid", "leaderworkerset-field-refused"},
		},
		Names: dnsLabel1035, LongestName: lwsLongestName, Hosts: lwsHosts, Peers: PeersByService,
		Annotations: []string{lwsExclusive, lwsSubExclusive},
		Fixed:       []FixedField{{At: "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize", Reason: "the pods were put into subgroups when they were made"}},
		Choices: []Choice{ // api/leaderworkerset/v1/leaderworkerset_types.go
			{At: "spec.startupPolicy", Words: []string{"LeaderCreated", "LeaderReady"}},
			{At: "spec.leaderWorkerTemplate.restartPolicy", Words: []string{"RecreateGroupOnPodRestart", "None", "Default"}},
			{At: "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType", Words: []string{"LeaderWorker", "LeaderExcluded"}},
			{At: "spec.networkConfig.subdomainPolicy", Words: []string{"Shared", "UniquePerReplica"}},
			{At: "spec.rolloutStrategy.type", Words: []string{"RollingUpdate"}},
		},
		// Seen of v0.7.0, whose types are those of Kubernetes 1.33: they write a time that is not set as null.
		Restamped: []job.Path{"spec.leaderWorkerTemplate.leaderTemplate", "spec.leaderWorkerTemplate.workerTemplate"},
		ZeroPods:  true, PolicyEnds: true, // a set does not end
		Env:      variables("LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "LWS_WORKER_INDEX"), // pkg/utils/pod/pod_utils.go
		NoEnv:    "LeaderWorkerSet sets only variables of its own, which begin with LWS_",
		LabelsBy: "LeaderWorkerSet", PodGroups: PodGroupsByFlag, Kueue: true,
	},
}

// Labels and annotations of LeaderWorkerSet (sigs.k8s.io/lws v0.7.0
// api/leaderworkerset/v1/leaderworkerset_types.go).
const (
	lwsPrefix       = "leaderworkerset.sigs.k8s.io/"
	lwsName         = lwsPrefix + "name"
	lwsGroup        = lwsPrefix + "group-index"
	lwsWorker       = lwsPrefix + "worker-index"
	lwsGroupKey     = lwsPrefix + "group-key"
	lwsSize         = lwsPrefix + "size"
	lwsExclusive    = lwsPrefix + "exclusive-topology"
	lwsSubgroup     = lwsPrefix + "subgroup-index"
	lwsSubgroupKey  = lwsPrefix + "subgroup-key"
	lwsSubExclusive = lwsPrefix + "subgroup-exclusive-topology"
	lwsRevision     = lwsPrefix + "template-revision-hash"
)

type lwsSpec struct {
	Replicas             *int32      `json:"replicas"`
	LeaderWorkerTemplate lwsTemplate `json:"leaderWorkerTemplate"`
	RolloutStrategy      *lwsRollout `json:"rolloutStrategy"`
	StartupPolicy        string      `json:"startupPolicy"`
	NetworkConfig        any         `json:"networkConfig"`
}

type lwsRollout struct {
	Type                       string `json:"type"`
	RollingUpdateConfiguration *struct {
		Partition      *int32              `json:"partition"`
		MaxUnavailable any                 `json:"maxUnavailable"`
		MaxSurge       *intstr.IntOrString `json:"maxSurge"`
	} `json:"rollingUpdateConfiguration"`
}

// surge is how many groups there are besides the others while a set is rolled out, which its author may make last
// (sigs.k8s.io/lws v0.7.0 pkg/controllers/leaderworkerset_controller.go, rollingUpdateParameters).
func (o *lwsRollout) surge(groups int) int {
	if o == nil || o.RollingUpdateConfiguration == nil || o.RollingUpdateConfiguration.MaxSurge == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(o.RollingUpdateConfiguration.MaxSurge, groups, true)
	if err != nil {
		return 0 // the webhook refuses it
	}
	return min(max(n, 0), groups)
}

type lwsTemplate struct {
	LeaderTemplate *corev1.PodTemplateSpec `json:"leaderTemplate"`
	WorkerTemplate corev1.PodTemplateSpec  `json:"workerTemplate"`
	Size           *int32                  `json:"size"`
	RestartPolicy  string                  `json:"restartPolicy"`
	SubGroupPolicy *struct {
		Type         string `json:"subGroupPolicyType"`
		SubGroupSize *int32 `json:"subGroupSize"`
	} `json:"subGroupPolicy"`
	VolumeClaimTemplates                 []corev1.PersistentVolumeClaim `json:"volumeClaimTemplates"`                 // v0.8
	PersistentVolumeClaimRetentionPolicy any                            `json:"persistentVolumeClaimRetentionPolicy"` // v0.8
	ResourceClaimTemplates               any                            `json:"resourceClaimTemplates"`
}

func readLeaderWorkerSet(r *reader, j *job.Job, o *object[lwsSpec]) {
	t, at := &o.Spec.LeaderWorkerTemplate, job.Path("spec.leaderWorkerTemplate")
	groups := r.count("spec.replicas", o.Spec.Replicas, 1)
	j.Suspended = o.Spec.Replicas != nil && *o.Spec.Replicas == 0 // scaled to zero, which is how a set is paused
	size := r.count(at.Child("size"), t.Size, 1)
	if t.Size != nil && *t.Size == 0 {
		r.problem(at.Child("size"), describe(int64(0)), "1 or more: the leader is one of the group")
	}
	// The webhook has the same limit (v0.7.0 pkg/webhooks/leaderworkerset_webhook.go).
	if product := int64(groups) * int64(size); product > math.MaxInt32 {
		r.problem(r.written("spec.replicas", at.Child("size")), fmt.Sprintf("%d groups of %d pods", groups, size), fmt.Sprintf("at most %d pods together", math.MaxInt32))
		groups, size = math.MaxInt32, 1
	}
	surge := o.Spec.RolloutStrategy.surge(groups)
	leader := job.Role{Name: "leader", Replicas: job.Exactly(groups), Surge: surge, ReplicasPath: r.written("spec.replicas", r.anchor(at))}
	// One StatefulSet has the leaders and one the workers of each group; the pods of all groups share a Service, or those of each
	// have their own (v0.9.0 pkg/controllers, reconcileHeadlessServices and PodReconciler.Reconcile).
	leader.StatefulSets, leader.Services = 1, 1
	if textIn(j, "spec.networkConfig.subdomainPolicy") == "UniquePerReplica" {
		leader.Services = groups
	}
	if t.LeaderTemplate != nil {
		leader.Path = at.Child("leaderTemplate")
		leader.Pod = r.pod(t.LeaderTemplate, leader.Path)
	} else {
		leader.Path = r.anchor(at.Child("workerTemplate"))
		leader.Pod = r.pod(t.WorkerTemplate.DeepCopy(), at.Child("workerTemplate"))
	}
	j.Roles = []job.Role{leader}
	if size > 1 {
		j.Roles = append(j.Roles, job.Role{
			Name: "worker", Replicas: job.Exactly(groups * (size - 1)), Surge: surge * (size - 1), Path: r.anchor(at.Child("workerTemplate")),
			ReplicasPath: r.written(at.Child("size"), "spec.replicas", r.anchor(at)), PodsEach: groups, PodsBeside: 1, Along: leader.Name, StatefulSets: groups,
			Pod: r.pod(&t.WorkerTemplate, at.Child("workerTemplate")),
		})
	}
	for role := range j.EachRole() {
		lwsMarks(j, role, groups, t.SubGroupPolicy != nil)
		t.addClaims(&role.Pod)
		settle(role)
		if groups > 1 { // a launcher counts the nodes of its own group
			role.Launch.Nodes, role.Launch.NodesPath = job.Range{}, ""
		}
	}
	gang(r, j)
}

// lwsMarks are the labels of the pods, and what the webhook adds so that a group has a place to itself
// (lws v0.7.0 pkg/webhooks/pod_webhook.go, Default and SetExclusiveAffinities).
func lwsMarks(j *job.Job, role *job.Role, groups int, subgroups bool) {
	m := job.Marks{
		Labels: map[string]string{lwsName: j.Ref.Name},
		Varies: []string{lwsGroup, lwsWorker, lwsRevision},
		Whole:  []string{lwsPrefix},
	}
	if role.Name == "leader" {
		m.Labels[lwsWorker] = "0"
		m.Varies = []string{lwsGroup, lwsRevision}
	}
	if groups == 1 && j.Ref.Namespace != "" && j.Source.GetName() != "" {
		m.Labels[lwsGroupKey] = placeKey(j.Ref.Namespace, j.Ref.Name+"-0")
	} else {
		m.Varies = append(m.Varies, lwsGroupKey)
	}
	if subgroups {
		m.Some = append(m.Some, lwsSubgroup, lwsSubgroupKey)
	}
	role.Pod.Marks = m
	annotations := j.Source.GetAnnotations()
	if topology := annotations[lwsExclusive]; topology != "" {
		role.Parts = partsOf(j, lwsGroupKey, lwsExclusive, "", groups)
		exclusive(&role.Pod, topology, lwsGroupKey, "", nil, job.Path("metadata.annotations").Key(lwsExclusive))
	}
	if topology := annotations[lwsSubExclusive]; topology != "" && subgroups {
		exclusive(&role.Pod, topology, lwsSubgroupKey, "", nil, job.Path("metadata.annotations").Key(lwsSubExclusive))
	}
}

// addClaims adds the volumes of which each pod gets a claim of its own, as of a StatefulSet: like one that is
// ephemeral, only that it outlives the pod.
func (t *lwsTemplate) addClaims(p *job.Pod) {
	p.Spec.Volumes = slices.Grow(slices.Clip(p.Spec.Volumes), len(t.VolumeClaimTemplates))
	for i := range t.VolumeClaimTemplates {
		claim := &t.VolumeClaimTemplates[i]
		at := job.Path("spec.leaderWorkerTemplate.volumeClaimTemplates").Index(i)
		inject(p, job.Path("volumes").Index(len(p.Spec.Volumes)), at)
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
			Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim.Spec}},
		}})
	}
}

// lwsLongestName is the label by which a StatefulSet knows the pods of a version: its own name, which is
// <set> or <set>-<group>, with a hash of ten characters at most
// (k8s.io/kubernetes v1.37 pkg/controller/history, ControllerRevisionName).
func lwsLongestName(j *job.Job, r *job.Role, name string) (child, what string) {
	if r.Name == "worker" {
		name += "-" + strconv.Itoa(max(0, countIn(j, "spec.replicas")-1))
	}
	return name + "-xxxxxxxxxx", "label controller-revision-hash of " + r.Name
}

// lwsHosts are <set>-<group> and <set>-<group>-<worker>, in the domain of the set unless each group has its own.
func lwsHosts(j *job.Job, r *job.Role) Hosts {
	groups := max(1, countIn(j, "spec.replicas"))
	h := Hosts{Prefix: j.Source.GetName() + "-", Pods: groups, Domain: j.Source.GetName()}
	if r.Name == "worker" {
		h.Jobs, h.Pods = groups, max(1, countIn(j, "spec.leaderWorkerTemplate.size"))
	}
	if textIn(j, "spec.networkConfig.subdomainPolicy") == "UniquePerReplica" {
		h.Domain = ""
	}
	return h
}

// placeInLeaderWorkerSet numbers the leaders by their group, and the workers group by group.
func placeInLeaderWorkerSet(pod *corev1.Pod) (string, int, bool) {
	group, okGroup := atoi(pod.Labels[lwsGroup])
	worker, okWorker := atoi(pod.Labels[lwsWorker])
	switch {
	case pod.Labels[lwsName] == "" || !okGroup || !okWorker || group > 1<<31 || worker > 1<<31:
		return "", 0, false
	case worker == 0:
		return "leader", group, true
	}
	size, ok := atoi(pod.Annotations[lwsSize])
	if !ok || size <= worker || size > 1<<31 {
		return "worker", 0, false
	}
	return "worker", group*(size-1) + worker - 1, true
}

// GroupsUpdating is the reason of a LeaderWorkerSet that rolls out another template: of its groups one after the other is deleted.
const GroupsUpdating = "GroupsUpdating"

// leaderWorkerSetState reads how many groups are ready: a set that was ready once and is not any more is
// Progressing again, and of one that never was it is the same word
// (lws v0.7.0 pkg/controllers/leaderworkerset_controller.go, updateConditions).
func leaderWorkerSetState(u *unstructured.Unstructured) State {
	s, ok := decide(conditions(u), []verdict{{"UpdateInProgress", Running}, {"Available", Running}, {"Progressing", Created}})
	if !ok {
		return State{}
	}
	status, _ := dig(u, "status").(map[string]any)
	ready, wanted := number(status, "readyReplicas"), int64(1)
	if n, said := job.Whole(dig(u, "spec", "replicas")); said {
		wanted = n
	}
	if wanted == 0 {
		s.Phase = Suspended
	} else if ready > 0 {
		s.Phase = Running
	}
	s.Message = fmt.Sprintf("%d of %s ready", ready, words.Count(int(wanted), "group", "groups"))
	return s
}
