package live

import (
	"context"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
)

// Resource is a kind of object that readers and checks look up by name, or count.
type Resource struct {
	Group, Plural string
	Versions      []string // that our readers understand, best first
	For           string   // the feature that needs it
}

// Resources are the objects that are followed besides nodes, pods and namespaces: read
// and watched, never written. There are no Secrets among them, and no ConfigMaps.
func Resources() []Resource {
	return []Resource{
		{"", "persistentvolumeclaims", []string{"v1"}, "claims a pod names; the volumes behind them bind pods to nodes"},
		{"", "persistentvolumes", []string{"v1"}, "nodes from which a volume can be reached"},
		{"", "resourcequotas", []string{"v1"}, "what a namespace may still ask for"},
		{"", "limitranges", []string{"v1"}, "defaults and bounds the API server applies to pods"},
		{"", "serviceaccounts", []string{"v1"}, "accounts a pod names"},
		{"storage.k8s.io", "storageclasses", []string{"v1"}, "classes a claim names"},
		{"storage.k8s.io", "csidrivers", []string{"v1"}, "whether a volume must be attached to a node"},
		{"storage.k8s.io", "csinodes", []string{"v1"}, "how many volumes a node attaches"},
		{"storage.k8s.io", "csistoragecapacities", []string{"v1"}, "how much storage a driver has where"},
		{"storage.k8s.io", "volumeattachments", []string{"v1"}, "volumes that are attached"},
		{"scheduling.k8s.io", "priorityclasses", []string{"v1"}, "classes a job names"},
		{"node.k8s.io", "runtimeclasses", []string{"v1"}, "overhead and node selectors of a runtime class"},
		{"admissionregistration.k8s.io", "validatingwebhookconfigurations", []string{"v1"}, "whether an operator looks at its jobs itself"},
		{"policy", "poddisruptionbudgets", []string{"v1"}, "pods that may not be moved aside"},
		{"resource.k8s.io", "deviceclasses", []string{"v1", "v1beta2", "v1beta1"}, "extended resources that are served as devices"},
		{"resource.k8s.io", "resourceslices", []string{"v1"}, "devices that nodes offer"},
		{"resource.k8s.io", "resourceclaims", []string{"v1"}, "devices that are taken, and claims a pod names"},
		{"resource.k8s.io", "resourceclaimtemplates", []string{"v1"}, "claims that are made for a pod"},
		{"resource.k8s.io", "devicetaintrules", []string{"v1", "v1beta2", "v1alpha3"}, "devices that an administrator has tainted"},
		{"trainer.kubeflow.org", "clustertrainingruntimes", []string{"v1alpha1"}, "runtimes a TrainJob names"},
		{"trainer.kubeflow.org", "trainingruntimes", []string{"v1alpha1"}, "runtimes a TrainJob names"},
		{"kueue.x-k8s.io", "clusterqueues", []string{"v1beta2", "v1beta1"}, "queues a job names"},
		{"kueue.x-k8s.io", "localqueues", []string{"v1beta2", "v1beta1"}, "queues a job names"},
		{"kueue.x-k8s.io", "cohorts", []string{"v1beta2", "v1beta1", "v1alpha1"}, "what queues may borrow from each other"},
		{"kueue.x-k8s.io", "resourceflavors", []string{"v1beta2", "v1beta1"}, "nodes for which a queue has quota"},
		{"kueue.x-k8s.io", "topologies", []string{"v1beta2", "v1beta1", "v1alpha1"}, "levels of places near each other"},
		{"kueue.x-k8s.io", "workloadpriorityclasses", []string{"v1beta2", "v1beta1"}, "classes a job in a queue names"},
		{"kueue.x-k8s.io", "admissionchecks", []string{"v1beta2", "v1beta1"}, "what else a queue waits for"},
		{"scheduling.volcano.sh", "queues", []string{"v1beta1"}, "queues a job names"},
		{"scheduling.volcano.sh", "podgroups", []string{"v1beta1"}, "how many pods a gang waits for"},
		{"scheduling.x-k8s.io", "podgroups", []string{"v1alpha1"}, "how many pods a gang waits for"},
		{"scheduling.k8s.io", "podgroups", []string{"v1beta1", "v1alpha3", "v1alpha2"}, "how many pods a gang waits for"},
		{"scheduling.k8s.io", "workloads", []string{"v1alpha1"}, "how many pods a gang waits for, before there were pod groups"},
		{"scheduler.tensorstack.dev", "queues", []string{"v1beta1"}, "queues a job names"},
		{"scheduler.tensorstack.dev", "podgroups", []string{"v1beta1"}, "how many pods a gang waits for"},
		{"autoscaling.x-k8s.io", "provisioningrequests", []string{"v1", "v1beta1"}, "that nodes can be added"},
		{"karpenter.sh", "nodepools", []string{"v1", "v1beta1"}, "that nodes can be added"},
	}
}

// discover starts and stops sources as the API begins and ceases to serve them.
func (l *Live) discover(ctx context.Context, running *sync.WaitGroup) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		if served, err := l.served(ctx); err == nil {
			l.adjust(ctx, running, served)
		}
	}, l.options.Poll)
}

// servedResource is a resource in the version that is followed.
type servedResource struct {
	resource schema.GroupVersionResource
	kind     string
}

// served asks the API which of the resources it has. Groups that do not answer (an
// aggregated API that is down) are as good as not served.
func (l *Live) served(ctx context.Context) (map[schema.GroupResource]servedResource, error) {
	api := discovery.ToDiscoveryInterfaceWithContext(l.clients.Discovery)
	groups, err := api.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, err
	}
	versions := map[string][]string{}
	for _, g := range groups.Groups {
		for _, v := range g.Versions {
			versions[g.Name] = append(versions[g.Name], v.Version)
		}
	}
	lists := map[schema.GroupVersion]*metav1.APIResourceList{}
	out := map[schema.GroupResource]servedResource{}
	for _, want := range l.options.Resources {
		for _, version := range want.Versions {
			if !slices.Contains(versions[want.Group], version) {
				continue
			}
			gv := schema.GroupVersion{Group: want.Group, Version: version}
			if _, ok := lists[gv]; !ok {
				lists[gv], _ = api.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
			}
			if kind := kindIn(lists[gv], want.Plural); kind != "" {
				name := schema.GroupResource{Group: want.Group, Resource: want.Plural}
				out[name] = servedResource{name.WithVersion(version), kind}
				break
			}
		}
	}
	return out, nil
}

// kindIn finds the kind of a resource that can be watched.
func kindIn(list *metav1.APIResourceList, plural string) string {
	if list == nil {
		return ""
	}
	for _, r := range list.APIResources {
		if r.Name == plural && slices.Contains(r.Verbs, "watch") && !strings.Contains(r.Name, "/") {
			return r.Kind
		}
	}
	return ""
}

// adjust follows what is served and drops what is not any more.
func (l *Live) adjust(ctx context.Context, running *sync.WaitGroup, served map[schema.GroupResource]servedResource) {
	l.mu.Lock()
	var gone []*source
	for name, src := range l.sources {
		if now, ok := served[name]; src.version != "" && !src.partial && (!ok || now.resource.Version != src.version) {
			gone = append(gone, src)
			delete(l.sources, name)
			l.store.SetComplete(name, false)
			l.store.DropKind(src.kind.GroupKind())
		}
	}
	var fresh []servedResource
	for name, r := range served {
		if l.sources[name] == nil {
			fresh = append(fresh, r)
		}
	}
	l.mu.Unlock()
	for _, src := range gone {
		src.stop()
	}
	for _, r := range fresh {
		kind := r.resource.GroupVersion().WithKind(r.kind)
		l.follow(ctx, running, dynamicSource(l.clients.Dynamic, l.clients.Dynamic.Resource(r.resource), r.resource.GroupResource(), kind, ""))
	}
	l.mu.Lock()
	first := !l.asked
	l.asked = true
	l.mu.Unlock()
	if first || len(gone)+len(fresh) > 0 {
		l.changed()
	}
}
