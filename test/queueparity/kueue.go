package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler/flavorassigner"
	preemptioncommon "sigs.k8s.io/kueue/pkg/scheduler/preemption/common"
	"sigs.k8s.io/kueue/pkg/workload"
)

// nothing is a client of an API server that has no objects: the cache is told all it knows.
type nothing struct{ client.Client }

func (nothing) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// oracle is Kueue's cache, as its scheduler sees it.
type oracle struct {
	cache *schdcache.Cache
	view  *schdcache.Snapshot
}

// newOracle tells the cache about queues, and about workloads that hold quota.
func newOracle(ctx context.Context, s *scenario, held []*kueue.Workload) (*oracle, error) {
	cache := schdcache.New(nothing{})
	for _, f := range s.flavors {
		cache.AddOrUpdateResourceFlavor(logr.Discard(), f)
	}
	for _, c := range s.cohorts {
		if err := cache.AddOrUpdateCohort(c); err != nil {
			return nil, err
		}
	}
	for _, q := range s.queues {
		if err := cache.AddClusterQueue(ctx, q); err != nil {
			return nil, err
		}
	}
	for _, w := range held {
		if !cache.AddOrUpdateWorkload(logr.Discard(), w) {
			return nil, fmt.Errorf("kueue does not take workload %s", w.Name)
		}
	}
	view, err := cache.Snapshot(ctx)
	return &oracle{cache, view}, err
}

// nobodyGoes is preemption that finds no victim: whether others would have to go is another question.
type nobodyGoes struct{}

func (nobodyGoes) SimulatePreemption(context.Context, *schdcache.ClusterQueueSnapshot, workload.Info, resources.FlavorResource, resources.Amount) (preemptioncommon.PreemptionPossibility, int) {
	return preemptioncommon.NoCandidates, 0
}

// admits says whether Kueue finds flavors with room for the pod sets.
func (o *oracle) admits(ctx context.Context, queue string, sets []kueue.PodSet) (bool, error) {
	q := o.view.ClusterQueue(kueue.ClusterQueueReference(queue))
	if q == nil {
		return false, fmt.Errorf("kueue holds ClusterQueue %s for inactive", queue)
	}
	info := workload.NewInfo(&kueue.Workload{
		ObjectMeta: metav1.ObjectMeta{Name: "asked", Namespace: namespace},
		Spec:       kueue.WorkloadSpec{QueueName: localName, Active: new(true), PodSets: sets},
	})
	info.ClusterQueue = kueue.ClusterQueueReference(queue)
	a := flavorassigner.New(info, q, o.view.ResourceFlavors, false, nobodyGoes{}, nil, configapi.QuotaCheckBlockUndeclared, resources.NewResourceFormatter())
	assigned := a.Assign(ctx, nil)
	return assigned.RepresentativeMode() == flavorassigner.Fit, nil
}

// usage is what Kueue writes into the status of a ClusterQueue.
func (o *oracle) usage(q *kueue.ClusterQueue) ([]kueue.FlavorUsage, error) {
	stats, err := o.cache.Usage(q)
	if err != nil {
		return nil, err
	}
	return stats.ReservedResources, nil
}

// allowed are the flavors of a resource group that a pod set may use: those from which Kueue
// takes it where quota is no matter.
func allowed(ctx context.Context, s *scenario, g *kueue.ResourceGroup, set kueue.PodSet) (map[string]bool, error) {
	out := map[string]bool{}
	for _, f := range g.Flavors {
		plenty := kueue.FlavorQuotas{Name: f.Name}
		var names []corev1.ResourceName
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, gpu, corev1.ResourcePods} {
			plenty.Resources = append(plenty.Resources, kueue.ResourceQuota{Name: name, NominalQuota: *resource.NewQuantity(1<<40, resource.DecimalSI)})
			names = append(names, name)
		}
		alone := &scenario{flavors: s.flavors, queues: []*kueue.ClusterQueue{{
			ObjectMeta: metav1.ObjectMeta{Name: "plenty"},
			Spec:       kueue.ClusterQueueSpec{ResourceGroups: []kueue.ResourceGroup{{CoveredResources: names, Flavors: []kueue.FlavorQuotas{plenty}}}},
		}}}
		o, err := newOracle(ctx, alone, nil)
		if err != nil {
			return nil, err
		}
		if out[string(f.Name)], err = o.admits(ctx, "plenty", []kueue.PodSet{set}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
