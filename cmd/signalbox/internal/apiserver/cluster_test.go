package apiserver

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight"
)

// brokenCluster is a cluster that answers the list of one resource with an error.
func brokenCluster(resource string, err error) *Cluster {
	lists, served := map[schema.GroupVersionResource]string{}, map[string][]string{}
	for _, r := range viewed() {
		for _, v := range r.versions {
			lists[r.WithVersion(v)] = "AnyList"
			served[r.Group] = append(served[r.Group], v)
		}
	}
	objects := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	objects.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
	return &Cluster{Objects: objects, Clients: kubefake.NewClientset(), Served: served}
}

func TestGatherLeavesUnknownWhatTheServerDoesNotList(t *testing.T) {
	conversion := apierrors.NewInternalError(errors.New("conversion webhook failed"))
	cases := map[string]struct {
		resource string
		err      error
		skipped  string // what is said
		want     string // of the error
	}{
		"a CRD whose conversion fails": {resource: "clusterqueues", err: conversion, skipped: "clusterqueues.kueue.x-k8s.io: the API server does not list them, so they are unknown"},
		"no right to list nodes": {
			resource: "nodes", err: apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no")),
			skipped: "nodes: you may not list them, so they are unknown; to ask for: list on them in all namespaces",
		},
		"nodes that cannot be listed": {resource: "nodes", err: conversion, want: "list nodes: "},
		"a server that has gone":      {resource: "clusterqueues", err: errors.New("connection refused"), want: "list clusterqueues: connection refused"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			view, skipped, err := brokenCluster(tc.resource, tc.err).Gather(t.Context(), time.Now(), &shell.Progress{})
			if tc.want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
					t.Errorf("the error is %v, want one that begins with %q", err, tc.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(skipped, func(s preflight.Skip) bool { return strings.HasPrefix(s.Check+": "+s.Reason, tc.skipped) }) {
				t.Errorf("what is said is %v; want %q", skipped, tc.skipped)
			}
			if i := slices.IndexFunc(view.Complete, func(r schema.GroupResource) bool { return r.Resource == tc.resource }); i >= 0 || len(view.Complete) == 0 {
				t.Errorf("%s is said to be whole: %v", tc.resource, view.Complete)
			}
		})
	}
}
