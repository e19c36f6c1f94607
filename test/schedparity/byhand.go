package main

import (
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// byHand are the scenarios that stand in a folder each, cluster.yaml beside job.yaml.
func byHand(folder string) (out []*scenario, err error) {
	clusters, err := filepath.Glob(filepath.Join(folder, "*", "cluster.yaml"))
	if err != nil {
		return nil, err
	}
	for _, name := range clusters {
		s, err := readScenario(filepath.Dir(name))
		if err != nil {
			return nil, err
		}
		if s != nil {
			out = append(out, s)
		}
	}
	return out, nil
}

// aboutByHand is what scenarios that were written by hand are about. Some were written to be unknown, and a test of the
// command line holds them to that.
const aboutByHand = "written by hand"

// readScenario is one of them; nil: its job is not read by itself.
func readScenario(folder string) (*scenario, error) {
	s := &scenario{name: filepath.Base(folder), about: []string{aboutByHand}, ranked: true}
	var objects []*unstructured.Unstructured
	written := 0 // objects before those of job.yaml
	for _, name := range []string{"cluster.yaml", "job.yaml"} {
		path, before := filepath.Join(folder, name), len(objects)
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		for doc, err := range manifest.Read(path, file) {
			if err != nil {
				return nil, fmt.Errorf("read %s: %w", path, err)
			}
			if doc.Object != nil && !doc.List {
				objects = append(objects, doc.Object)
			}
		}
		if err := file.Close(); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		written = before
	}
	classes := map[string]int32{}
	for _, u := range objects {
		s.keep(u)
		obj, err := scheme.Scheme.New(u.GroupVersionKind())
		if err != nil || kinds.For(u.GroupVersionKind()) != nil || u.GetKind() == "Node" || u.GetKind() == "Pod" {
			continue // no part of Kubernetes, or kept already
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, obj); err != nil {
			return nil, fmt.Errorf("read %s %s of %s: %w", u.GetKind(), u.GetName(), folder, err)
		}
		if class, ok := obj.(*schedulingv1.PriorityClass); ok {
			s.ranks, classes[class.Name] = append(s.ranks, class), class.Value
			if lowest, is := classes[""]; class.GlobalDefault && (!is || class.Value < lowest) { // that of pods that name none
				classes[""] = class.Value
			}
			continue
		}
		if _, is := obj.(*corev1.LimitRange); is {
			continue // the API server's, before there is a pod to schedule
		}
		s.objects = append(s.objects, obj)
	}
	for _, u := range objects[written:] {
		kind := kinds.For(u.GroupVersionKind())
		if kind == nil {
			continue
		}
		j, err := kind.Read(u, lookup(objects))
		if err != nil {
			return nil, fmt.Errorf("read the job of %s: %w", folder, err)
		}
		if j == nil {
			return nil, nil
		}
		s.gang = named(alone(gang.Of(j)).InParts(ordinary))
	}
	if len(s.gang.Groups) == 0 {
		return nil, nil
	}
	for i := range s.gang.Groups {
		s.priority = max(s.priority, classes[s.gang.Groups[i].Pod.Spec.PriorityClassName])
	}
	return s, nil
}

// lookup is what a reader asks for beside its job.
func lookup(objects []*unstructured.Unstructured) kinds.Got {
	return func(w kinds.Want) (*unstructured.Unstructured, job.Presence) {
		for _, u := range objects {
			if u.GetKind() == w.GVK.Kind && u.GetName() == w.Name && u.GetNamespace() == w.Namespace {
				return u, job.Present
			}
		}
		return nil, job.Unknown
	}
}
