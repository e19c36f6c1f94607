package cluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// fillRange completes a LimitRange as the API server does when it stores one; in a file
// written by hand that has not happened yet
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem).
func fillRange(r *corev1.LimitRange) {
	for i := range r.Spec.Limits {
		item := &r.Spec.Limits[i]
		if item.Type != corev1.LimitTypeContainer {
			continue
		}
		item.Default = podspec.WithMissing(item.Default, item.Max)
		item.DefaultRequest = podspec.WithMissing(podspec.WithMissing(item.DefaultRequest, item.Default), item.Min)
	}
}

// The API server counts a pod against every ResourceQuota of its namespace whose scopes
// match it, when it is created. The rules below are those of
// https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/quota/v1/evaluator/core/pods.go
// and staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go.

// Quota is a quota with its amounts in base units, by the quota's own names of resources.
// The API server goes by the status; without one, as in a file written by hand, nothing is
// known to be used.
type Quota struct {
	*corev1.ResourceQuota
	Hard, Used job.Resources
	Names      []corev1.ResourceName // of hard, in order
	Unscoped   bool
}

func storedQuotaOf(q *corev1.ResourceQuota) *Quota {
	list := q.Status.Hard
	if list == nil {
		list = q.Spec.Hard
	}
	hard := QuotaAmounts(list)
	return &Quota{q, hard, QuotaAmounts(q.Status.Used), hard.Names(), len(q.Spec.Scopes) == 0 && q.Spec.ScopeSelector == nil}
}

// QuotaAmounts are amounts in base units, by the quota's own names of resources.
func QuotaAmounts(list corev1.ResourceList) job.Resources {
	out := make(job.Resources, len(list))
	for name, q := range list {
		out[name] = job.InBaseUnits(PlainName(name), q)
	}
	return out
}

// PlainName is the resource that a quota's name is about: cpu of limits.cpu.
func PlainName(name corev1.ResourceName) corev1.ResourceName {
	for _, prefix := range []string{corev1.DefaultResourceRequestsPrefix, "limits."} {
		if rest, ok := strings.CutPrefix(string(name), prefix); ok {
			return corev1.ResourceName(rest)
		}
	}
	return name
}
