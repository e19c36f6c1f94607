package quota

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/pod-security-admission/api"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// named are the objects without which the API server refuses the pods that name them
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/priority/admission.go, admitPod, and
// https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/runtimeclass/admission.go, Admit).
var named = []struct {
	gvk   schema.GroupVersionKind
	field job.Path
	name  func(*corev1.PodSpec) string
}{
	{schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}, "priorityClassName", func(spec *corev1.PodSpec) string { return spec.PriorityClassName }},
	{schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}, "runtimeClassName", func(spec *corev1.PodSpec) string {
		if spec.RuntimeClassName == nil {
			return ""
		}
		return *spec.RuntimeClassName
	}},
}

// objects reports objects that the pods name and that do not exist.
func (o *check) objects() {
	for _, n := range named {
		seen := map[string]bool{}
		for i := range o.gang.Groups {
			g := &o.gang.Groups[i]
			name := n.name(&g.Pod.Spec)
			if name == "" || seen[name] || o.missing(i) == 0 {
				continue
			}
			seen[name] = true
			const priority = "priorityClassName"
			_, is := o.s.Lookup(n.gvk, "", name)
			if _, known := o.s.PriorityClass(&g.Pod.Spec); is == job.Present || known && n.field == priority {
				continue // it is there, or every cluster has it
			}
			if is == job.Unknown {
				if n.field == priority { // of a runtime class the fit says so itself: it adds to the pods, too
					o.doubt("the %s %s was not read; the API server refuses pods of one that does not exist", n.gvk.Kind, name)
				}
				continue
			}
			o.add(Violation{
				Rule: RuleObject, When: Never, Kind: n.gvk.Kind, Name: name, Path: nameOfObject, Role: g.Name, At: g.Pod.At(n.field),
				Message: "it does not exist, and the API server refuses pods that name it", Others: o.s.NamesOf(n.gvk.GroupKind(), ""),
			})
		}
	}
	o.namespace()
	o.accounts()
	o.runtimeClasses()
	o.priorities()
	o.claimTemplates()
}

// namespace reports a namespace that takes no pods of the gang: one that does not exist or is being deleted, in which
// nothing is created
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go,
// Admit), and one that enforces a level of Pod Security which the pods break
// (https://kubernetes.io/docs/concepts/security/pod-security-admission/). One of the same name may come after what is deleted.
// The API server looks whether a namespace is there before it asks webhooks.
func (o *check) namespace() {
	namespace, is := o.s.Lookup(namespaceKind, "", o.gang.Namespace)
	if o.gang.Namespace == "" || is == job.Unknown {
		return
	}
	none := Violation{Rule: RuleObject, When: Now, Kind: namespaceKind.Kind, Name: o.gang.Namespace, At: "metadata.namespace"}
	if is == job.Absent && (o.gang.Arrived || o.gang.Exists) {
		return // it was made a moment ago, and the view has not seen it
	}
	if is == job.Absent {
		none.When, none.Path, none.Message = Never, nameOfObject, "it does not exist, and the API server refuses what is to be created in it"
	} else if phase, _, _ := unstructured.NestedString(namespace.Object, "status", "phase"); phase == string(corev1.NamespaceTerminating) {
		none.Path, none.Message = "status.phase", "it is being deleted, and the API server creates nothing in it"
	}
	var labels map[string]string
	if namespace != nil {
		labels = namespace.GetLabels()
	}
	levels, ok := podspec.SecurityLevels(labels)
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		switch {
		case o.missing(i) == 0:
		case none.Message != "":
			o.add(none)
			return
		case ok && !g.Pod.Partial:
			if broken, err := podspec.Insecure(levels.Enforce, &g.Pod); err == nil && len(broken) > 0 {
				pods := "the pods"
				if len(o.gang.Groups) > 1 {
					pods += " of " + g.Name
				}
				o.add(Violation{
					Rule: RuleObject, When: Never, Kind: namespaceKind.Kind, Name: o.gang.Namespace, Role: g.Name, At: g.Pod.At(""),
					Path:    job.Path("metadata.labels").Key(api.EnforceLevelLabel),
					Message: fmt.Sprintf("it enforces the level %s of Pod Security, and the API server refuses %s: %s", levels.Enforce.Level, pods, strings.Join(broken, ", ")),
				})
			}
		}
	}
}

// accounts reports a service account that the pods run as and that does not exist
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/serviceaccount/admission.go, Admit). The one
// that every namespace gets is made with it.
func (o *check) accounts() {
	kind := corev1.SchemeGroupVersion.WithKind("ServiceAccount")
	seen := map[string]bool{}
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		name := cmp.Or(g.Pod.Spec.ServiceAccountName, g.Pod.Spec.DeprecatedServiceAccount)
		if name == "" || name == "default" || seen[name] || o.missing(i) == 0 {
			continue
		}
		seen[name] = true
		if _, is := o.s.Lookup(kind, o.gang.Namespace, name); is == job.Absent {
			none := Violation{
				Rule: RuleObject, When: Never, Kind: kind.Kind, Namespace: o.gang.Namespace, Name: name, Path: nameOfObject, Role: g.Name, At: g.Pod.At("serviceAccountName"),
				Message: "it does not exist, and the API server refuses pods that run as it", Others: o.s.NamesOf(kind.GroupKind(), o.gang.Namespace),
			}
			if o.gang.Arrived { // applied with the job, it may be there before the view has seen it; and the pods are tried again
				none.When, none.Message = Now, "it was not there when the job came, and the API server refuses pods that run as it until it is"
			}
			o.add(none)
		}
	}
}

// claimTemplates reports templates that no device can be had by: of a class that does not exist, or with admin access, which the
// API server takes in marked namespaces only
// (https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/#admin-access).
func (o *check) claimTemplates() {
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		for k, claim := range g.Pod.Spec.ResourceClaims {
			if claim.ResourceClaimTemplateName == nil || o.missing(i) == 0 {
				continue
			}
			template := cluster.Find[resourcev1.ResourceClaimTemplate](o.s.Index(), cluster.TemplateKind, o.gang.Namespace, *claim.ResourceClaimTemplateName)
			if template == nil {
				continue
			}
			at := g.Pod.At(job.Path("resourceClaims").Index(k))
			for _, r := range template.Spec.Spec.Devices.Requests {
				if r.Exactly == nil {
					continue
				}
				if _, is := o.s.Lookup(deviceClassKind, "", r.Exactly.DeviceClassName); is == job.Absent {
					o.add(Violation{
						Rule: RuleObject, When: Never, Kind: deviceClassKind.Kind, Name: r.Exactly.DeviceClassName, Path: nameOfObject, Role: g.Name, At: at,
						Message: "it does not exist, and the scheduler finds no device of it", Others: o.s.NamesOf(deviceClassKind.GroupKind(), ""),
					})
				}
				namespace, is := o.s.Lookup(namespaceKind, "", o.gang.Namespace)
				if admin := r.Exactly.AdminAccess; admin != nil && *admin && is == job.Present && namespace.GetLabels()[resourcev1.DRAAdminNamespaceLabelKey] != "true" {
					o.add(Violation{
						Rule: RuleAmount, When: Never, Kind: namespaceKind.Kind, Name: o.gang.Namespace, Path: "metadata.labels", Role: g.Name, At: at,
						Message: fmt.Sprintf("%s asks for admin access, and the label %s of the namespace is not true", template.Name, resourcev1.DRAAdminNamespaceLabelKey),
						Remedy:  "Leave adminAccess out, or ask whoever keeps the cluster for the label.",
					})
				}
			}
		}
	}
}

var deviceClassKind = schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceClass"}

// priorities reports pods that contradict their priority class, which the API server refuses: it writes both itself
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/priority/admission.go, admitPod).
func (o *check) priorities() {
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		spec := &g.Pod.Spec
		class, known := o.s.PriorityClass(&corev1.PodSpec{PriorityClassName: spec.PriorityClassName})
		if !known || o.missing(i) == 0 {
			continue
		}
		name := cmp.Or(class.Name, noClass)
		refuse := func(field job.Path, format string, args ...any) {
			o.add(Violation{Rule: RuleAmount, When: Never, Kind: "PriorityClass", Name: name, Path: "value", Role: g.Name, At: g.Pod.At(field), Message: fmt.Sprintf(format, args...), Remedy: "Leave it out: it follows from priorityClassName."})
		}
		if own := spec.Priority; own != nil && *own != class.Value {
			refuse("priority", "%s has the priority %d, and its class gives it %d", g.Name, *own, class.Value)
		}
		if own := spec.PreemptionPolicy; own != nil && (*own == corev1.PreemptNever) != class.Never {
			refuse("preemptionPolicy", "%s has the preemptionPolicy %s, and its class another", g.Name, *own)
		}
	}
}

// noClass is the name of the class of pods that have none.
const noClass = "none"

// runtimeClasses reports pods that contradict their runtime class, which the API server refuses
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/plugin/pkg/admission/runtimeclass/admission.go, setOverhead and
// setScheduling).
func (o *check) runtimeClasses() {
	for i := range o.gang.Groups {
		g := &o.gang.Groups[i]
		class, named := o.s.RuntimeClass(&g.Pod.Spec), g.Pod.Spec.RuntimeClassName
		if named == nil || *named == "" {
			class = &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: noClass}}
		}
		if class == nil || o.missing(i) == 0 {
			continue
		}
		refuse := func(path, at job.Path, message string) {
			o.add(Violation{Rule: RuleAmount, When: Never, Kind: "RuntimeClass", Name: class.Name, Path: path, Role: g.Name, At: g.Pod.At(at), Message: message, Remedy: "Leave it out: it follows from runtimeClassName."})
		}
		given := corev1.ResourceList(nil)
		if class.Overhead != nil {
			given = class.Overhead.PodFixed
		}
		if own := g.Pod.Spec.Overhead; len(own) > 0 && !equality.Semantic.DeepEqual(own, given) {
			message := "the overhead of %s is another than that of its runtime class"
			if class.Name == noClass {
				message = "%s has an overhead and no runtime class that it is of"
			}
			refuse("overhead.podFixed", "overhead", fmt.Sprintf(message, g.Name))
		}
		if class.Scheduling == nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
			if own, selects := g.Pod.Spec.NodeSelector[key]; selects && own != class.Scheduling.NodeSelector[key] {
				refuse(job.Path("scheduling.nodeSelector").Key(key), job.Path("nodeSelector").Key(key),
					fmt.Sprintf("%s selects nodes with %s=%s, and its runtime class those with %s=%s", g.Name, key, own, key, class.Scheduling.NodeSelector[key]))
			}
		}
	}
}
