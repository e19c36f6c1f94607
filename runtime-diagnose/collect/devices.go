package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// claims and slices are where the devices of dynamic resource allocation are, newest first.
var deviceVersions = []string{"resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"}

// mostClaims is how many claims of a job are read one by one: those of pods that are not well first.
const mostClaims = 64

// readDevices reads the claims of the pods that have not ended well, and what the nodes they are on say
// of their devices: a driver taints those that are broken.
func (r *reading) readDevices(ctx context.Context) {
	claims, nodes, left := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range urgentFirst(r.out.Pods) {
		for _, c := range p.Status.ResourceClaimStatuses {
			switch {
			case c.ResourceClaimName == nil || p.Status.Phase == corev1.PodSucceeded || claims[*c.ResourceClaimName]:
			case len(claims) < mostClaims:
				claims[*c.ResourceClaimName], nodes[p.Spec.NodeName] = true, true
			default:
				left[*c.ResourceClaimName] = true
			}
		}
	}
	if len(left) > 0 {
		r.missing("ResourceClaims", fmt.Errorf("%d of %d were not read", len(left), len(claims)+len(left)))
	}
	for _, name := range sortedKeys(claims) {
		r.readBeside(ctx, deviceVersions, "ResourceClaim", name)
	}
	delete(nodes, "")
	for _, node := range sortedKeys(nodes) {
		if err := r.readSlices(ctx, node); err != nil {
			if !apierrors.IsForbidden(err) {
				r.missing("ResourceSlices of node "+node, err)
			}
			break
		}
	}
	if len(claims) > 0 {
		r.readTaintRules(ctx)
	}
}

// taintRuleVersions are those of DeviceTaintRule since Kubernetes 1.33, newest first.
var taintRuleVersions = []string{"resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1alpha3"}

// mostTaintRules bounds how many rules of administrators are read.
const mostTaintRules = 500

// readTaintRules reads the taints that administrators put on devices which the job's claims were given.
// Most clusters serve none, and whoever asks may not be allowed to see what is the cluster's: neither is
// missing.
func (r *reading) readTaintRules(ctx context.Context) {
	for _, apiVersion := range taintRuleVersions {
		gv, _ := schema.ParseGroupVersion(apiVersion)
		m, err := r.mapping(schema.GroupKind{Group: gv.Group, Kind: "DeviceTaintRule"}, gv.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		var list *unstructured.UnstructuredList
		if err == nil {
			list, err = r.Dynamic.Resource(m.Resource).List(ctx, metav1.ListOptions{Limit: mostTaintRules})
		}
		switch {
		case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
		case err != nil:
			r.missing("DeviceTaintRules", err)
		default:
			r.keepTaintRules(list, apiVersion)
		}
		return
	}
}

// keepTaintRules keeps the rules that are for a device of the job.
func (r *reading) keepTaintRules(list *unstructured.UnstructuredList, apiVersion string) {
	if list.GetContinue() != "" {
		r.missing("DeviceTaintRules", fmt.Errorf("there are more than %d; the rest was not read", mostTaintRules))
	}
	var devices []map[string]any
	for _, u := range r.owners.objects() {
		if u.GetKind() == "ResourceClaim" {
			devices = append(devices, control.AllocatedDevices(u)...)
		}
	}
	for i := range list.Items {
		u := &list.Items[i]
		if !control.RuleReadable(u) {
			r.missing("DeviceTaintRule "+u.GetName(), errors.New("it selects devices by class or by CEL, which is not evaluated"))
			continue
		}
		if !slices.ContainsFunc(devices, func(d map[string]any) bool { return control.RuleSelects(u, d) }) {
			continue
		}
		u.SetAPIVersion(apiVersion)
		u.SetKind("DeviceTaintRule")
		r.owners.between[u.GetUID()] = u
	}
}

// readSlices reads the ResourceSlices of one node (field selector spec.nodeName, k8s.io/api resource/v1).
func (r *reading) readSlices(ctx context.Context, node string) error {
	for _, apiVersion := range deviceVersions {
		gv, _ := schema.ParseGroupVersion(apiVersion)
		m, err := r.mapping(schema.GroupKind{Group: gv.Group, Kind: "ResourceSlice"}, gv.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return err
		}
		list, err := r.Dynamic.Resource(m.Resource).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		if err != nil {
			return err
		}
		for i := range list.Items {
			u := &list.Items[i]
			if on, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName"); on != node {
				continue
			}
			u.SetAPIVersion(apiVersion)
			u.SetKind("ResourceSlice")
			r.owners.between[u.GetUID()] = u
		}
		return nil
	}
	return errors.New("the cluster serves none")
}
