package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// nominator holds the pods that wait for room which others make on a node, as the scheduler's queue does.
type nominator map[string][]fwk.PodInfo

func (n nominator) keep(p *corev1.Pod) error {
	if p.Spec.NodeName != "" || p.Status.NominatedNodeName == "" {
		return nil
	}
	info, err := framework.NewPodInfo(p)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.Name, err)
	}
	n[p.Status.NominatedNodeName] = append(n[p.Status.NominatedNodeName], info)
	return nil
}

// NominatedPodsForNode is what the filters ask for.
func (n *nominator) NominatedPodsForNode(node string) []fwk.PodInfo { return (*n)[node] }

// AddNominatedPod, DeleteNominatedPodIfExists and UpdateNominatedPod are the queue's; nothing here calls them.
func (n *nominator) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}

// DeleteNominatedPodIfExists is not called.
func (n *nominator) DeleteNominatedPodIfExists(*corev1.Pod) {}

// UpdateNominatedPod is not called.
func (n *nominator) UpdateNominatedPod(klog.Logger, *corev1.Pod, fwk.PodInfo) {}
