package apiserver

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// ServedVersions are the versions in which a cluster serves the resource of a kind: those that are read, and the others.
func ServedVersions(kube serverResources, served map[string][]string, k *kinds.Kind) (read, unread []string, err error) {
	group := k.GVKs[0].Group
	for _, v := range served[group] {
		list, err := kube.ServerResourcesForGroupVersion(schema.GroupVersion{Group: group, Version: v}.String())
		if err != nil {
			return nil, nil, err
		}
		switch {
		case !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == k.Resource }):
		case slices.ContainsFunc(k.GVKs, func(gvk schema.GroupVersionKind) bool { return gvk.Version == v }):
			read = append(read, v)
		default:
			unread = append(unread, v)
		}
	}
	return read, unread, nil
}

// serverResources is what discovery says of one version of a group.
type serverResources interface {
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
}
