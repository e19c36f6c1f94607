package policies

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight"
)

// Policies are replaced while a hundred reviews run: by one that is broken, by one that has no end, and by the same rule at
// another stage of a review. A rule that all of them hold denies each time.
func TestPoliciesThatAreReplacedDenyAllTheTime(t *testing.T) {
	rule := func(condition string) fstest.MapFS {
		return fstest.MapFS{"few.rego": {Data: []byte(`# METADATA
# title: few pods
# description: Few pods.
# custom: {remedy: Ask for fewer.}
package signalbox.few

deny contains {"path": "spec", "msg": "too many"} if {
	` + condition + `
	some role in input.job.roles
	role.max > 4
}
`)}}
	}
	endless := fstest.MapFS{"endless.rego": {Data: []byte(`# METADATA
# title: no end
# description: No end.
# custom: {remedy: Wait.}
package signalbox.endless

deny contains {"path": "spec", "msg": "never"} if {
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a * b == -1
}
`)}}
	broken := fstest.MapFS{"broken.rego": {Data: []byte("package signalbox.broken\n\ndeny contains {")}}
	early, late := rule("true"), rule("count(input.findings) >= 0")
	set, err := Load(early)
	if err != nil {
		t.Fatal(err)
	}
	sources := NewSources(set, nil)
	from := sources.Source("ConfigMaps")
	if err := from.Swap(early); err != nil {
		t.Fatal(err)
	}
	reviewer := &preflight.Reviewer{Policies: set}
	job := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": map[string]any{"name": "a", "namespace": "ml"},
		"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": int64(60), "template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "a:1"}}}}}}},
	}}
	var ended atomic.Bool
	var swaps int
	var all sync.WaitGroup
	all.Go(func() {
		for ; !ended.Load(); swaps++ {
			for _, files := range []fstest.MapFS{late, broken, early} {
				if err := from.Swap(files); (err != nil) != (files["broken.rego"] != nil) {
					t.Error(err)
				}
			}
			for _, files := range []fstest.MapFS{endless, {}} {
				if err := sources.Source("bundle").Swap(files); err != nil {
					t.Error(err)
				}
			}
		}
	})
	var reviews sync.WaitGroup
	var denied, revisions atomic.Int64
	for range 100 {
		reviews.Go(func() {
			ctx, end := context.WithTimeout(t.Context(), 10*time.Second) // one processor may have all of them
			defer end()
			r, err := reviewer.Review(ctx, preflight.Request{Object: job, Namespace: map[string]string{preflight.ModeLabel: preflight.ModeEnforce}, Operation: "CREATE"})
			if err != nil {
				t.Error(err)
				return
			}
			if r.Revision != "" {
				revisions.Add(1)
			}
			said := strings.Join(r.Undecided, "\n")
			if r.Decision == preflight.Denied && !strings.Contains(said, "few") {
				denied.Add(1)
			} else {
				t.Errorf("%s, undecided %q", r.Decision, said)
			}
		})
	}
	reviews.Wait()
	ended.Store(true)
	all.Wait()
	if denied.Load() != 100 || revisions.Load() != 100 || swaps == 0 {
		t.Errorf("%d of 100 are denied, %d by a revision, over %d rounds of replacing", denied.Load(), revisions.Load(), swaps)
	}
}
