package get

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// news are the rows that tell something else than was seen, which they become.
func news(seen map[string]JobRow, rows []JobRow) (out []JobRow) {
	for _, r := range rows {
		before, known := seen[r.key()]
		if !known || before.told() != r.told() {
			out = append(out, r)
		}
		seen[r.key()] = r
	}
	return out
}

// deleted are the jobs that were seen and are listed no more, each for once. One that a filter no longer takes is there.
func (f *Flags) deleted(seen map[string]JobRow) (out []JobRow) {
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		if r := seen[key]; !f.there[key] {
			r.State, r.Since, r.Waiting, r.Nodes, r.Held = "deleted", nil, "", nil, nil
			out = append(out, r)
			delete(seen, key)
		}
	}
	return out
}

// told is all that is shown of a job; rows that tell the same are not printed again.
func (r *JobRow) told() string {
	text, _ := json.Marshal(r) // nothing in a row fails
	return string(text)
}

// anyChange waits until something of the resources changes, from the versions that were listed on.
func anyChange(ctx context.Context, c *apiserver.Cluster, versions map[schema.GroupVersionResource]string, namespace string) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changed := make(chan struct{}, len(versions))
	for gvr, version := range versions {
		w, err := c.Objects.Resource(gvr).Namespace(namespace).Watch(watching, metav1.ListOptions{ResourceVersion: version})
		if apierrors.IsForbidden(err) {
			return &shell.Exit{Code: shell.ExitUsage, Cause: fmt.Errorf("watch %s: %w", gvr.Resource, err)}
		}
		if err != nil {
			return fmt.Errorf("watch %s: %w", gvr.Resource, err)
		}
		go func() {
			defer w.Stop()
			<-w.ResultChan() // one event, or the end of the watch: both are a reason to list again
			changed <- struct{}{}
		}()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	}
	select { // what changes together is shown together
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
		return nil
	}
}
