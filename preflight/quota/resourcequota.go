package quota

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// resourceQuotas compares the sum of the gang with each ResourceQuota of its namespace.
func (o *check) resourceQuotas() {
	all := cluster.In[cluster.Quota](o.s.Index(), cluster.QuotaKind, o.gang.Namespace)
	if !cluster.Any(all) {
		return
	}
	uses := make([]job.Resources, len(o.gang.Groups))
	said := make([][]saidPart, len(o.gang.Groups))
	for i := range o.gang.Groups {
		uses[i] = podUse(o.s, o.gang.Namespace, &o.gang.Groups[i].Pod)
		said[i] = saidBy(&o.gang.Groups[i].Pod)
	}
	o.sets = o.together()
	for _, quota := range all {
		o.resourceQuota(quota, uses, said)
	}
}

// resourceQuota compares the gang with one quota.
func (o *check) resourceQuota(resourceQuota *cluster.Quota, uses []job.Resources, said [][]saidPart) {
	matches := make([]bool, len(uses)) // by group: its pods are counted
	counted := make([]bool, len(uses)) // by group: whether they are is known
	for i := range uses {
		pod := &o.gang.Groups[i].Pod
		if matches[i], counted[i] = inScope(o.s, resourceQuota.ResourceQuota, &pod.Spec); !counted[i] {
			o.doubt("whether the ResourceQuota %s counts %s depends on a default PriorityClass that was not read", resourceQuota.Name, o.gang.Groups[i].Name)
			continue
		}
		if matches[i] {
			o.unsaid(o.gang.Groups[i].Name, said[i], resourceQuota.Names, "the quota", func(name corev1.ResourceName) Violation {
				return Violation{Rule: RuleAmount, Kind: "ResourceQuota", Namespace: resourceQuota.Namespace, Name: resourceQuota.Name, Path: job.Path("spec.hard").Key(string(name))}
			})
		}
	}
	for _, name := range resourceQuota.Names {
		counts := resourceQuota.Unscoped || !claimed(name)
		o.bound(resourceQuota, name, func(i int) int64 {
			if !counts || !counted[i] || !matches[i] && !claimed(name) {
				return 0
			}
			return uses[i][name]
		})
	}
	o.self(resourceQuota)
}

// bound compares the sum of the gang with one bound of a quota; each is what one pod of a group
// counts for.
func (o *check) bound(quota *cluster.Quota, name corev1.ResourceName, each func(group int) int64) {
	hard := quota.Hard[name]
	all, more := o.sum(name, each)
	taken, known := quota.Used[name]
	never := all > hard
	if !known && !never && more > 0 {
		if taken, known = o.inUse(quota, name); !known {
			o.doubt("the ResourceQuota %s does not say how much %s is in use", quota.Name, name)
		}
	}
	if !never && (!known || more <= 0 || saturate.Add(taken, more) <= hard) {
		return
	}
	counts := make([]job.Resources, len(o.gang.Groups))
	for i := range counts {
		counts[i] = job.Resources{name: each(i)}
	}
	l := Violation{
		Rule: RuleQuota, Kind: "ResourceQuota", Namespace: quota.Namespace, Name: quota.Name,
		Resource: string(name), Used: taken, Hard: hard, Path: job.Path("spec.hard").Key(string(name)), At: o.largest(counts, name),
	}
	unit := cluster.PlainName(name)
	if strings.HasSuffix(string(name), string(corev1.ResourceRequestsStorage)) { // also of a class
		unit = corev1.ResourceEphemeralStorage // in bytes, too
	}
	format := func(n int64) string { return job.Format(unit, n) }
	if never {
		l.When, l.Asked = Never, all
		l.Message = fmt.Sprintf("%s; the hard limit is %s", o.asksFor(counts, name, format(all)), format(hard))
	} else {
		l.When, l.Asked = Now, more
		l.Message = fmt.Sprintf("the job asks for %s %s beside %s in use; the hard limit is %s", format(more), name, format(taken), format(hard))
	}
	o.add(l)
}

// inUse is what the pods in the view take of a quota whose status does not say it; known: nothing else counts.
func (o *check) inUse(quota *cluster.Quota, name corev1.ResourceName) (taken int64, known bool) {
	in := o.s.PodLists()[o.gang.Namespace]
	if in == nil || !o.s.PodsKnown() {
		return 0, o.s.PodsKnown()
	}
	if o.taken == nil { // one look at the pods for all quotas and names
		o.taken = job.Resources{}
		for p := range in.All() {
			o.taken[corev1.ResourcePods]++
			for _, a := range p.Requests() {
				o.taken[a.Name] = saturate.Add(o.taken[a.Name], a.N)
			}
		}
	}
	summed := quota.Unscoped && !claimed(name) && !strings.HasPrefix(string(name), "limits.") && !strings.HasPrefix(string(name), "count/")
	return o.taken[cluster.PlainName(name)], summed
}

// sum is how much of a resource the pods take that certainly exist together: all of
// them, and those that do not exist yet. Whatever has been created counts as an object
// until it is deleted, groups that completed included.
func (o *check) sum(name corev1.ResourceName, each func(group int) int64) (all, missing int64) {
	sets := o.sets
	if strings.HasPrefix(string(name), "count/") {
		sets = [][]int{make([]int, len(o.gang.Groups))}
		for i := range sets[0] {
			sets[0][i] = i
		}
	}
	for _, set := range sets {
		var a, m int64
		for _, i := range set {
			a = saturate.Add(a, saturate.Mul(each(i), o.wanted(i)))
			m = saturate.Add(m, saturate.Mul(each(i), o.missing(i)))
		}
		all, missing = max(all, a), max(missing, m)
	}
	return all, missing
}

// self compares the job itself, and the Jobs, Services and StatefulSets that are made for it, with a quota on the number of objects of their kind.
func (o *check) self(quota *cluster.Quota) {
	if o.gang.Self.Empty() || o.gang.Exists || !quota.Unscoped {
		return
	}
	made := map[corev1.ResourceName]int64{countOf(o.gang.Self): 1}
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		for name, n := range map[corev1.ResourceName]int{jobCount: g.Jobs, corev1.ResourceServices: g.Services, serviceCount: g.Services, setCount: g.StatefulSets} {
			if n > 0 {
				made[name] = saturate.Add(made[name], int64(n))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		n := made[name]
		most, bound := quota.Hard[name]
		taken, known := quota.Used[name]
		if !bound || most >= n && (!known || saturate.Add(taken, n) <= most) {
			continue
		}
		l := Violation{
			Rule: RuleQuota, When: Now, Kind: "ResourceQuota", Namespace: quota.Namespace, Name: quota.Name,
			Resource: string(name), Asked: n, Used: taken, Hard: most, Path: job.Path("spec.hard").Key(string(name)), At: "metadata.name",
			Message: fmt.Sprintf("the job asks for %d %s beside %d in use; the hard limit is %d", n, name, taken, most),
		}
		if most < n {
			l.When = Never
		}
		o.add(l)
	}
	o.alongside(quota, made)
}

// alongside is in doubt where a quota leaves no further object of a kind that the operator of the job may make beside its pods:
// a service, a secret, a set of pods, another object of its own API. A plain Job has pods made, and nothing else.
func (o *check) alongside(quota *cluster.Quota, made map[corev1.ResourceName]int64) {
	if countOf(o.gang.Self) == jobCount {
		return
	}
	for _, name := range quota.Names {
		taken, known := quota.Used[name]
		if name == jobCount && makesJobsOfRoles[o.gang.Self.Group] {
			continue
		}
		if _, counted := made[name]; counted || !o.mayMake(name) || quota.Hard[name] > 0 && (!known || taken < quota.Hard[name]) {
			continue
		}
		o.doubt("the ResourceQuota %s leaves no %s; whether the job has one made is not known", quota.Name, name)
	}
}

// makesJobsOfRoles are the groups of kinds whose operators make batch Jobs for the roles that say so, and no others: pods, or
// StatefulSets, are what the rest is made of. Sources: training-operator v1.9.3 pkg/controller.v1, mpi-operator v0.7
// pkg/controller/mpi_job_controller.go, ray-operator v1.5.1 controllers/ray, lws v0.7.0 pkg/controllers, volcano ed72c7c8
// pkg/controllers/job, jobset v0.10.1 pkg/controllers.
var makesJobsOfRoles = map[string]bool{
	"kubeflow.org": true, "ray.io": true, "leaderworkerset.x-k8s.io": true, "batch.volcano.sh": true, "jobset.x-k8s.io": true,
}

// mayMake says whether objects that a quota counts are of an API of Kubernetes or of the job's own, and no pods or claims,
// which are counted.
func (o *check) mayMake(name corev1.ResourceName) bool {
	if name == corev1.ResourceServices || name == corev1.ResourceSecrets || name == corev1.ResourceConfigMaps {
		return true
	}
	text, counts := strings.CutPrefix(string(name), "count/")
	if !counts || name == podCount || claimed(name) {
		return false
	}
	_, group, _ := strings.Cut(text, ".")
	return group == o.gang.Self.Group || !strings.Contains(group, ".") || strings.HasSuffix(group, "k8s.io")
}

// countOf is the name under which a quota counts objects
// (staging/src/k8s.io/apiserver/pkg/quota/v1/generic/evaluator.go, ObjectCountQuotaResourceNameFor).
func countOf(r schema.GroupResource) corev1.ResourceName {
	return corev1.ResourceName("count/" + strings.TrimSuffix(r.String(), "."))
}

var (
	podCount     = countOf(cluster.PodsResource)
	volumeCount  = countOf(schema.GroupResource{Resource: "persistentvolumeclaims"})
	serviceCount = countOf(schema.GroupResource{Resource: "services"})
	setCount     = countOf(schema.GroupResource{Group: "apps", Resource: "statefulsets"})
	jobCount     = countOf(schema.GroupResource{Group: "batch", Resource: "jobs"})
	claimCount   = countOf(schema.GroupResource{Group: "resource.k8s.io", Resource: "resourceclaims"})
)

// claimed says whether a quota counts claims under the name, of devices or of volumes, and not pods.
func claimed(name corev1.ResourceName) bool {
	text := string(name)
	return name == claimCount || strings.HasSuffix(text, corev1.ResourceClaimsPerClass) ||
		name == volumeCount || name == corev1.ResourcePersistentVolumeClaims || name == corev1.ResourceRequestsStorage || strings.Contains(text, ofStorageClass)
}

// ofStorageClass is between the name of a class and what a quota counts of it.
const ofStorageClass = ".storageclass.storage.k8s.io/"

// volumeUse adds what the claims count for that are made for the ephemeral volumes of a pod: where the quota refuses
// them, the pod is there and is never scheduled
// (k8s.io/kubernetes v1.37 pkg/quota/v1/evaluator/core/persistent_volume_claims.go, pvcEvaluator.Usage).
func volumeUse(spec *corev1.PodSpec, out job.Resources) {
	for i := range spec.Volumes {
		v := spec.Volumes[i].Ephemeral
		if v == nil || v.VolumeClaimTemplate == nil {
			continue
		}
		storage := v.VolumeClaimTemplate.Spec.Resources.Requests[corev1.ResourceStorage]
		counts := job.Resources{corev1.ResourcePersistentVolumeClaims: 1, corev1.ResourceRequestsStorage: max(0, storage.Value())}
		claim := corev1.PersistentVolumeClaim{Spec: v.VolumeClaimTemplate.Spec}
		claim.Annotations = v.VolumeClaimTemplate.Annotations
		if class := podspec.ClaimClass(&claim); class != "" {
			for _, name := range []corev1.ResourceName{corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage} {
				counts[corev1.ResourceName(class+ofStorageClass)+name] = counts[name]
			}
		}
		counts[volumeCount] = 1
		for name, n := range counts {
			out[name] = saturate.Add(out[name], n)
		}
	}
}

// podUse is what one pod counts for in quotas, by their names of resources, and the claims
// that are made for it.
func podUse(s *cluster.Snapshot, namespace string, pod *job.Pod) job.Resources {
	requests, limits := amountsOf(s, pod)
	out := job.Resources{corev1.ResourcePods: 1, podCount: 1}
	for name, n := range requests {
		switch {
		case name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage,
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
			out[name] = n
			out[corev1.DefaultResourceRequestsPrefix+name] = n
		case extended(name):
			out[corev1.DefaultResourceRequestsPrefix+name] = n
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if n, ok := limits[name]; ok {
			out["limits."+name] = n
		}
	}
	volumeUse(&pod.Spec, out)
	maps.Copy(out, claimUsage(s, namespace, &pod.Spec))
	return out
}

// amountsOf are the effective requests and limits of a pod, with what its runtime class
// adds. Negative amounts count as nothing.
func amountsOf(s *cluster.Snapshot, pod *job.Pod) (requests, limits job.Resources) {
	spec := pod.Spec
	if class := s.RuntimeClass(&spec); class != nil && class.Overhead != nil && len(spec.Overhead) == 0 {
		spec.Overhead = class.Overhead.PodFixed
	}
	if len(spec.Containers) == 0 {
		return podspec.Requested(*pod), job.Resources{}
	}
	return podspec.Effective(&spec), podspec.EffectiveLimits(&spec)
}

// extended says whether a resource is counted as requests.<name> only: it has a domain that
// is not Kubernetes' own, or is a device class by its implicit name.
func extended(name corev1.ResourceName) bool {
	text := string(name)
	if strings.HasPrefix(text, cluster.ImplicitDevices) {
		return true
	}
	return strings.Contains(text, "/") && !strings.Contains(text, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+text)) == 0
}

// saidPart is a container and the amounts that it says, with what follows from its limits.
type saidPart struct {
	name             string
	at               job.Path
	requests, limits corev1.ResourceList
}

// saidBy is what the containers of a pod say; nil: nothing has to be said.
func saidBy(pod *job.Pod) (out []saidPart) {
	spec := &pod.Spec
	if len(spec.Containers) == 0 || pod.Partial || podLevel(spec) {
		return nil
	}
	for part, list := range containerLists(spec) {
		for i, c := range podspec.RequestsFromLimits(list) {
			out = append(out, saidPart{c.Name, pod.At(part.Index(i).Child("resources")), c.Resources.Requests, c.Resources.Limits})
		}
	}
	return out
}

// unsaid reports the first container that does not say one of the amounts of cpu and memory that are needed, by
// their names in quotas: the API server refuses pods where a quota needs them, if the pod has no amounts of its own
// (podEvaluator.Constraints).
func (o *check) unsaid(role string, said []saidPart, needs []corev1.ResourceName, who string, by func(corev1.ResourceName) Violation) {
	for i := range said {
		for _, name := range needs {
			base := cluster.PlainName(name)
			if base != corev1.ResourceCPU && base != corev1.ResourceMemory {
				continue
			}
			list := said[i].requests
			if strings.HasPrefix(string(name), "limits.") {
				list = said[i].limits
			}
			if _, ok := list[base]; ok {
				continue
			}
			v := by(name)
			v.When, v.Resource, v.Role, v.At = Never, string(name), role, said[i].at
			v.Message = fmt.Sprintf("container %s of %s does not say %s, which %s needs of every container", said[i].name, role, name, who)
			o.add(v)
			return
		}
	}
}

// containerLists are the lists of containers of a pod, in the order in which they are read.
func containerLists(spec *corev1.PodSpec) func(func(job.Path, []corev1.Container) bool) {
	return func(yield func(job.Path, []corev1.Container) bool) {
		_ = yield("containers", spec.Containers) && yield("initContainers", spec.InitContainers)
	}
}

// podLevel says that a pod has amounts of its own (component-helpers resource.IsPodLevelResourcesSet).
func podLevel(spec *corev1.PodSpec) bool {
	if spec.Resources == nil {
		return false
	}
	for _, list := range []corev1.ResourceList{spec.Resources.Requests, spec.Resources.Limits} {
		for name := range list {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
				return true
			}
		}
	}
	return false
}

// inScope says whether the scopes of a quota match a pod: all of them must.
func inScope(s *cluster.Snapshot, quota *corev1.ResourceQuota, spec *corev1.PodSpec) (matches, known bool) {
	var scopes []corev1.ScopedResourceSelectorRequirement
	for _, scope := range quota.Spec.Scopes {
		scopes = append(scopes, corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists})
	}
	if quota.Spec.ScopeSelector != nil {
		scopes = append(scopes, quota.Spec.ScopeSelector.MatchExpressions...)
	}
	known = true
	for _, scope := range scopes {
		in, sure := scoped(s, scope, spec)
		if sure && !in {
			return false, true
		}
		known = known && sure
	}
	return true, known
}

// scoped says whether one scope matches a pod, and whether that is known.
func scoped(s *cluster.Snapshot, scope corev1.ScopedResourceSelectorRequirement, spec *corev1.PodSpec) (matches, known bool) {
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return ends(spec), true
	case corev1.ResourceQuotaScopeNotTerminating:
		return !ends(spec), true
	case corev1.ResourceQuotaScopeBestEffort:
		return bestEffort(spec), true
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !bestEffort(spec), true
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return looksAcross(spec.Affinity), true
	case corev1.ResourceQuotaScopePriorityClass:
		class, known := s.PriorityClassName(spec)
		return known && classIn(scope, class), known
	case corev1.ResourceQuotaScopeVolumeAttributesClass:
	}
	return false, true
}

// ends says that a pod has a time after which it ends.
func ends(spec *corev1.PodSpec) bool {
	return spec.ActiveDeadlineSeconds != nil && *spec.ActiveDeadlineSeconds >= 0
}

// bestEffort says that no container asks for any cpu or memory, nor the pod as a whole
// (k8s.io/kubernetes v1.36 pkg/apis/core/v1/helper/qos).
func bestEffort(spec *corev1.PodSpec) bool {
	asks := func(r corev1.ResourceRequirements) bool {
		for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if q, ok := list[name]; ok && q.Sign() > 0 {
					return true
				}
			}
		}
		return false
	}
	if spec.Resources != nil {
		return !asks(*spec.Resources)
	}
	for _, list := range containerLists(spec) {
		if slices.ContainsFunc(list, func(c corev1.Container) bool { return asks(c.Resources) }) {
			return false
		}
	}
	return true
}

// looksAcross says that some affinity between pods looks into other namespaces.
func looksAcross(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	across := func(namespaces []string, selector *metav1.LabelSelector) bool {
		return len(namespaces) > 0 || selector != nil
	}
	terms := func(required []corev1.PodAffinityTerm, wished []corev1.WeightedPodAffinityTerm) bool {
		return slices.ContainsFunc(required, func(t corev1.PodAffinityTerm) bool { return across(t.Namespaces, t.NamespaceSelector) }) ||
			slices.ContainsFunc(wished, func(t corev1.WeightedPodAffinityTerm) bool {
				return across(t.PodAffinityTerm.Namespaces, t.PodAffinityTerm.NamespaceSelector)
			})
	}
	return a.PodAffinity != nil && terms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) ||
		a.PodAntiAffinity != nil && terms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
}

// classIn says whether a scope over priority classes matches a class.
func classIn(scope corev1.ScopedResourceSelectorRequirement, class string) bool {
	operators := map[corev1.ScopeSelectorOperator]selection.Operator{
		corev1.ScopeSelectorOpIn: selection.In, corev1.ScopeSelectorOpNotIn: selection.NotIn,
		corev1.ScopeSelectorOpExists: selection.Exists, corev1.ScopeSelectorOpDoesNotExist: selection.DoesNotExist,
	}
	if scope.Operator == corev1.ScopeSelectorOpExists {
		return class != ""
	}
	r, err := labels.NewRequirement(string(scope.ScopeName), operators[scope.Operator], scope.Values)
	if err != nil {
		return false
	}
	has := labels.Set{}
	if class != "" {
		has[string(scope.ScopeName)] = class
	}
	return r.Matches(has)
}
