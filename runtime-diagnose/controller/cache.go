package controller

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// CacheOptions keep only pods of jobs, and of these only what the controller looks at: a cluster has many more pods
// than jobs, and what a diagnosis needs beyond is read from the API server when it is needed. kube reads the list of pods;
// one that speaks protobuf reads it as it comes.
//
// jobs answers with an informer that another part of the process runs, of jobs that Keep has packed: each is watched and
// decoded once, whatever wants to know of it. nil, or nil for an answer: the cache watches them itself.
func CacheOptions(kube kubernetes.Interface, jobs func(schema.GroupVersionKind) toolscache.SharedIndexInformer) cache.Options {
	return cache.Options{
		// A kind that has just gone must not be watched again, for ever and in vain, because a job of it is asked for.
		ReaderFailOnMissingInformer: true,
		NewInformer:                 informerOf(kube, jobs, relevance(kinds.All()), jobLabels(kinds.All())),
		DefaultTransform:            keepObject,
		ByObject:                    map[client.Object]cache.ByObject{&corev1.Pod{}: {Transform: trimPod}},
	}
}
