package assign

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// lookPast records what of the pod the fit does not model.
func (q *Solver) lookPast(k *PodSet) {
	spec := &k.Pod.Spec
	if q.Gang.Unread != "" && !q.Gang.NodesOnly {
		q.DoubtYes(q.Gang.Unread)
	}
	switch {
	case k.Facts.claimMayMove != "":
		q.DoubtYes(fmt.Sprintf("%s: no pod has the ResourceClaim %s, which has devices: the scheduler may take them back and give it others", k.Name, k.Facts.claimMayMove))
	case len(spec.ResourceClaims) > 0 && !k.Facts.devicesCounted:
		q.DoubtYes(k.Name + ": resource claims (DRA) are not judged: " + quota.ClaimText(q.Snapshot, q.Gang.Namespace, spec))
	}
	if name, asked := podspec.RefusedDevices(spec); name != "" && !q.Gang.NodesOnly {
		q.refused("%s asks for %s %s; the API server takes whole devices, and a limit that is the request", k.Name, asked, name)
	}
	for _, r := range podspec.Refusals(k.Pod) {
		if q.Gang.NodesOnly { // the pods were let in
			break
		}
		unless := ""
		if r.Gate != "" {
			unless = " unless its feature gate " + r.Gate + " is on"
		}
		q.refused("%s: %s; the API server refuses such pods%s", k.Name, r.Text, unless)
	}
	if os := spec.OS; os != nil && spec.NodeSelector[corev1.LabelOSStable] == "" && slices.ContainsFunc(q.Snapshot.Nodes(), func(n *cluster.Node) bool { return n.Labels[corev1.LabelOSStable] != string(os.Name) }) {
		// https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/kubelet/lifecycle/predicate.go, rejectPodAdmissionBasedOnOSField
		q.DoubtYes(fmt.Sprintf("%s is of os %s, by which the scheduler chooses no node; the kubelet of another system rejects it", k.Name, os.Name))
	}
	for _, n := range k.Needs {
		if class := q.Snapshot.DeviceClass(n.Name); class != "" {
			q.FlipsNo = append(q.FlipsNo, fmt.Sprintf("%s is served as devices of class %s (DRA), which are not counted", n.Name, class))
		}
	}
	if g := spec.SchedulingGroup; g != nil && g.PodGroupName != nil {
		q.lookPastGroup(*g.PodGroupName)
	}
	if len(spec.SchedulingGates) > 0 {
		names := make([]string, len(spec.SchedulingGates))
		for i, g := range spec.SchedulingGates {
			names[i] = g.Name
		}
		q.Inform("%s waits for the scheduling gates %s to be lifted", k.Name, strings.Join(names, ", "))
	}
	if q.Cycle.partless == k.Name {
		why := fmt.Sprintf("pods of %s have nodes, and which of its parts they are of is not known", k.Name)
		q.DoubtYes(why)
		q.FlipsNo = append(q.FlipsNo, why)
	}
	hows := []string{q.Gang.Untied}
	for _, at := range k.Groups {
		hows = append(hows, q.Gang.Groups[at].Untied)
	}
	for _, how := range hows {
		if how != "" {
			q.DoubtYes(how + ", which is not judged")
		}
	}
	if n := spec.SchedulerName; n != "" && n != corev1.DefaultSchedulerName {
		q.Inform("%s is placed by the scheduler %s, which may decide by rules of its own", k.Name, n)
	}
}

// refused records that the API server takes no pods of the gang: nothing of what is said of nodes follows.
func (q *Solver) refused(format string, args ...any) {
	q.Refused = true
	q.DoubtYes(fmt.Sprintf(format, args...))
}

// lookPastGroup records what a pod group of Kubernetes asks of its pods beyond their number: that they share a
// domain, alone or with those of other groups, or devices
// (https://pkg.go.dev/k8s.io/api/scheduling/v1beta1#PodGroupSpec).
func (q *Solver) lookPastGroup(name string) {
	group := quota.NativeGroup(q.Snapshot, q.Gang.Namespace, name)
	if group == nil {
		q.DoubtYes(fmt.Sprintf("the pod group %s was not read; what it asks of its pods together is not judged", name))
		return
	}
	asks := func(fields ...string) bool {
		v, there, err := unstructured.NestedFieldNoCopy(group.Object, append([]string{"spec"}, fields...)...)
		if err != nil {
			return true
		}
		list, is := v.([]any)
		return there && v != nil && (!is || len(list) > 0)
	}
	if asks("schedulingConstraints", "topology") || asks("parentCompositePodGroupName") {
		q.DoubtYes(fmt.Sprintf("the pod group %s keeps its pods in one place, which is not judged", name))
	}
	if asks("resourceClaims") {
		why := fmt.Sprintf("the pod group %s has claims of devices that its pods share, which are not judged", name)
		q.DoubtYes(why)
		q.FlipsNo = append(q.FlipsNo, why)
	}
}

// declared closes the nodes that have not declared a feature which the pods of a group need. Where no node declares
// any, the cluster may be older than the rule.
func (cycle *Cycle) declared(t *podFacts, g *gang.Group) {
	needed := podspec.DeclaredFeatures(&g.Pod.Spec)
	if len(needed) == 0 || !cycle.Budget.Spend(len(cycle.s.Nodes())) {
		return
	}
	all, able := cycle.s.Nodes(), 0
	if !slices.ContainsFunc(all, func(n *cluster.Node) bool { return len(n.Object().Status.DeclaredFeatures) > 0 }) {
		t.doubtYes(fmt.Sprintf("%s needs nodes that declare %s; no node of the snapshot declares a feature", g.Name, strings.Join(needed, ", ")))
		return
	}
	closeWhereNot(cycle.s, t, func(at int) bool {
		is := undeclared(needed, all[at]) == ""
		able += OneIf(is)
		return is
	})
	if able < len(all) {
		t.inform("%s needs nodes that declare %s; %d of %s", g.Name, strings.Join(needed, ", "), able, words.Count(len(all), "node does", "nodes do"))
	}
}

// Undeclared is a feature that the pods need and a node has not declared; empty: none.
func (k *PodSet) Undeclared(n *cluster.Node) string {
	return undeclared(podspec.DeclaredFeatures(&k.Pod.Spec), n)
}

func undeclared(needed []string, n *cluster.Node) string {
	at := slices.IndexFunc(needed, func(f string) bool { return !slices.Contains(n.Object().Status.DeclaredFeatures, f) })
	if at < 0 {
		return ""
	}
	return needed[at]
}

// runtimeClass adds what the API server puts on the pods of a pod set when they are created: tolerations of
// their devices' taints, and overhead, node selector and tolerations of the runtime class.
func (q *Solver) runtimeClass(k *PodSet, requests job.Resources) job.Resources {
	k.Pod = tolerating(q.Snapshot, k.Pod)
	name := k.Pod.Spec.RuntimeClassName
	if name == nil || *name == "" {
		return requests
	}
	class := q.Snapshot.RuntimeClass(&k.Pod.Spec)
	if class == nil {
		q.DoubtYes(fmt.Sprintf("the runtime class %s was not read; what it adds to %s is not counted", *name, k.Name))
		return requests
	}
	k.Pod, requests = admitted(class, k.Pod, requests)
	return requests
}

// tolerating is the pod with the tolerations that it has once it is stored.
func tolerating(s *cluster.Snapshot, was *job.Pod) *job.Pod {
	tolerations := s.Tolerations(&was.Spec)
	if len(tolerations) == len(was.Spec.Tolerations) {
		return was
	}
	pod := *was
	pod.Spec.Tolerations = tolerations
	return &pod
}

// Admitted is a pod with what its runtime class and the API server add when it is created, and what it then asks for.
func Admitted(s *cluster.Snapshot, pod *job.Pod, requests job.Resources) (*job.Pod, job.Resources) {
	pod = tolerating(s, pod)
	if class := s.RuntimeClass(&pod.Spec); class != nil {
		return admitted(class, pod, requests)
	}
	return pod, requests
}

func admitted(class *nodev1.RuntimeClass, was *job.Pod, requests job.Resources) (*job.Pod, job.Resources) {
	pod := *was
	if class.Overhead != nil && len(pod.Spec.Overhead) == 0 {
		requests = maps.Clone(requests)
		for name, n := range job.ResourcesOf(class.Overhead.PodFixed) {
			requests[name] = saturate.Add(max(0, requests[name]), max(0, n))
		}
	}
	if class.Scheduling != nil {
		pod.Spec.NodeSelector = map[string]string{}
		maps.Copy(pod.Spec.NodeSelector, was.Spec.NodeSelector)
		maps.Copy(pod.Spec.NodeSelector, class.Scheduling.NodeSelector)
		pod.Spec.Tolerations = slices.Concat(pod.Spec.Tolerations, class.Scheduling.Tolerations)
	}
	return &pod, requests
}
