package collect

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestDevicesThatPodsClaimAreRead(t *testing.T) {
	job := trainJob("Running")
	p := worker("a", 1, -1)
	p.Spec.NodeName = "gpu-1"
	p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("train-0-gpu")}, {Name: "none"}}
	c := serving(job, runtime.Object(p))
	on := func(node, name string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"nodeName": node}}}
		u.SetName(name)
		u.SetUID(types.UID(name))
		return u
	}
	mine, other := on("gpu-1", "slice-1"), on("gpu-2", "slice-2")
	also(c, false, schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceClaim"}, "resourceclaims", object("x/v1", "ResourceClaim", "train-0-gpu", "rc", nil, nil))
	also(c, true, schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1beta1", Kind: "ResourceSlice"}, "resourceslices")
	var asked string
	c.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "resourceslices", func(a clienttesting.Action) (bool, runtime.Object, error) {
		asked = a.(clienttesting.ListAction).GetListRestrictions().Fields.String()
		list := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{*mine, *other}}
		list.SetAPIVersion("resource.k8s.io/v1beta1")
		list.SetKind("ResourceSliceList")
		return true, list, nil
	})
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, o := range got.Objects {
		have = append(have, o.GetKind()+" "+o.GetName())
	}
	slices.Sort(have)
	if diff := cmp.Diff([]string{"ResourceClaim train-0-gpu", "ResourceSlice slice-1"}, have); diff != "" || asked != "spec.nodeName=gpu-1" {
		t.Errorf("asked for %q, missing %v, objects (-want +got):\n%s", asked, got.Missing, diff)
	}
}

// Taints that administrators put on devices are beside the job when they are for a device it holds.
func TestTaintRulesForTheDevicesOfTheJobAreRead(t *testing.T) {
	rule := func(name string, selector map[string]any) unstructured.Unstructured {
		u := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"deviceSelector": selector}}}
		u.SetName(name)
		u.SetUID(types.UID(name))
		return u
	}
	rules := []unstructured.Unstructured{
		rule("this", map[string]any{"driver": "gpu.nvidia.com", "device": "gpu-3"}),
		rule("other", map[string]any{"device": "gpu-4"}),
		rule("by-class", map[string]any{"deviceClassName": "gpu.nvidia.com"}),
	}
	resource := schema.GroupResource{Group: "resource.k8s.io", Resource: "devicetaintrules"}
	byClass := "missing DeviceTaintRule by-class: it selects devices by class or by CEL, which is not evaluated"
	cases := map[string]struct {
		version, more string
		err           error
		want          []string
	}{
		"Kubernetes 1.37":                  {version: "v1", want: []string{"v1 DeviceTaintRule this", byClass}},
		"Kubernetes 1.36":                  {version: "v1beta2", want: []string{"v1beta2 DeviceTaintRule this", byClass}},
		"Kubernetes 1.33":                  {version: "v1alpha3", want: []string{"v1alpha3 DeviceTaintRule this", byClass}},
		"more than are read":               {version: "v1", more: "on", want: []string{"v1 DeviceTaintRule this", "missing DeviceTaintRules: there are more than 500; the rest was not read", byClass}},
		"a cluster that serves none":       {},
		"not allowed to see the cluster's": {version: "v1", err: apierrors.NewForbidden(resource, "", nil)},
		"an API server in trouble":         {version: "v1", err: errors.New("etcd is away"), want: []string{"missing DeviceTaintRules: etcd is away"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			job := trainJob("Running")
			p := worker("a", 1, -1)
			p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: new("train-0-gpu")}}
			claim := object("x/v1", "ResourceClaim", "train-0-gpu", "rc", nil, nil)
			if err := unstructured.SetNestedSlice(claim.Object, []any{map[string]any{"driver": "gpu.nvidia.com", "pool": "gpu-1", "device": "gpu-3"}}, "status", "allocation", "devices", "results"); err != nil {
				t.Fatal(err)
			}
			c := serving(job, runtime.Object(p))
			also(c, false, schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim"}, "resourceclaims", claim)
			if tc.version != "" {
				also(c, true, schema.GroupVersionKind{Group: "resource.k8s.io", Version: tc.version, Kind: "DeviceTaintRule"}, "devicetaintrules")
			}
			c.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "devicetaintrules", func(clienttesting.Action) (bool, runtime.Object, error) {
				if tc.err != nil {
					return true, nil, tc.err
				}
				list := &unstructured.UnstructuredList{Items: rules}
				list.SetContinue(tc.more)
				return true, list, nil
			})
			got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
			if err != nil {
				t.Fatal(err)
			}
			var have []string
			for _, o := range got.Objects {
				if o.GetKind() == "DeviceTaintRule" {
					have = append(have, o.GroupVersionKind().Version+" "+o.GetKind()+" "+o.GetName())
				}
			}
			for _, m := range got.Missing {
				if strings.HasPrefix(m, "DeviceTaintRule") {
					have = append(have, "missing "+m)
				}
			}
			if diff := cmp.Diff(tc.want, have); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}
