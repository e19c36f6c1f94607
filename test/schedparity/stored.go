package main

import (
	corev1 "k8s.io/api/core/v1"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	core "k8s.io/kubernetes/pkg/apis/core"
	apidefaults "k8s.io/kubernetes/pkg/apis/core/v1"
)

// stored gives a pod the defaults that the API server writes when it is created: those of its version,
// and those of resources of the whole pod, which come last
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/registry/core/pod/strategy.go#L101).
func stored(p *corev1.Pod) {
	apidefaults.SetObjectDefaults_Pod(p)
	if p.Spec.Resources == nil {
		return
	}
	in, out := &core.Pod{}, &corev1.Pod{}
	if err := apidefaults.Convert_v1_Pod_To_core_Pod(p.DeepCopy(), in, nil); err != nil {
		panic(err) // of objects of the same process
	}
	podutil.DefaultPodLevelResources(in)
	if err := apidefaults.Convert_core_Pod_To_v1_Pod(in, out, nil); err != nil {
		panic(err)
	}
	p.Spec.Resources = out.Spec.Resources
}
