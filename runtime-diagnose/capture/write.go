package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// fieldOwner is the manager of server-side apply, as on the jobs.
const fieldOwner = "signalbox"

// around is what the object takes beside its data: names, the owner, managed fields.
const around = 2 << 10

// mostTries is how often a write that fails is tried again.
const mostTries = 6

// writeNext writes what is kept of one job, when it has come to rest; false: there is no more.
func (k *Keeper) writeNext(ctx context.Context) bool {
	next, shutdown := k.writes.Get()
	if shutdown {
		return false
	}
	defer k.writes.Done(next)
	if wait := k.settling(next.uid); wait > 0 {
		k.writes.AddAfter(next, wait)
		return true
	}
	err := k.write(ctx, next.uid)
	switch {
	case err == nil:
		k.writes.Forget(next)
	case k.writes.NumRequeues(next) < mostTries:
		k.writes.AddRateLimited(next)
	default:
		k.writes.Forget(next)
		k.Log.Info("evidence is kept in memory only", "job", next.uid, "error", err.Error())
	}
	return true
}

// settling is how long to wait for more of the same failure; 0: write now.
func (k *Keeper) settling(uid types.UID) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	one := k.jobs[uid]
	if one == nil || len(one.claimed) == 0 || one.changed.IsZero() {
		return 0
	}
	left := k.Latest - k.Now().Sub(one.changed)
	return min(k.Quiet, max(0, left))
}

// write applies the object of one job, if anything changed.
func (k *Keeper) write(ctx context.Context, uid types.UID) error {
	// What an earlier process stored would be lost otherwise; what cannot be read is lost already.
	if err := k.load(ctx, uid); err != nil && !errors.Is(err, keep.ErrForm) {
		return err
	}
	k.mu.Lock()
	one := k.jobs[uid]
	if one == nil || one.changed.IsZero() || one.set.Len() == 0 && len(one.set.Pods()) == 0 {
		k.mu.Unlock()
		return nil
	}
	ref, changed, set := one.ref, one.changed, one.set.Clone()
	one.changed = time.Time{}
	k.mu.Unlock()
	if k.Gone != nil && k.Gone(ctx, ref) {
		return nil
	}
	// A thousand ranks take a while to compress, and nothing has to wait for that.
	data, summary := set.Encode(k.PerJob-around), set.String()
	k.mu.Lock()
	one.set.Settle(set)
	k.mu.Unlock()
	err := k.apply(ctx, ref, data, summary)
	if k.Wrote != nil {
		k.Wrote(len(data), err)
	}
	if err == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if one := k.jobs[uid]; one != nil && one.changed.IsZero() {
		one.changed = changed
	}
	return err
}

// apply writes the ConfigMap. It belongs to the job and goes with it; should the job be gone
// already, the garbage collector removes the object at once.
func (k *Keeper) apply(ctx context.Context, ref job.Ref, data []byte, summary string) error {
	cm := applycore.ConfigMap(keep.Name(types.UID(ref.UID)), ref.Namespace).
		WithLabels(map[string]string{keep.Label: "true"}).
		WithAnnotations(map[string]string{keep.About: ref.Kind + "/" + ref.Name, keep.Summary: summary}).
		WithOwnerReferences(applymeta.OwnerReference().
			WithAPIVersion(ref.APIVersion).WithKind(ref.Kind).WithName(ref.Name).WithUID(types.UID(ref.UID))).
		WithBinaryData(map[string][]byte{keep.DataKey: data})
	_, err := k.Kube.CoreV1().ConfigMaps(ref.Namespace).Apply(ctx, cm, metav1.ApplyOptions{FieldManager: fieldOwner, Force: true})
	if err != nil {
		return fmt.Errorf("keep evidence of %s %s/%s: %w", ref.Kind, ref.Namespace, ref.Name, err)
	}
	return nil
}

// flush writes everything that is not written: the process ends.
func (k *Keeper) flush(ctx context.Context) {
	if k.PerJob <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, oneLog)
	defer cancel()
	k.mu.Lock()
	var due []types.UID
	for uid, one := range k.jobs {
		if !one.changed.IsZero() {
			due = append(due, uid)
		}
	}
	k.mu.Unlock()
	for _, uid := range due {
		if err := k.write(ctx, uid); err != nil {
			k.Log.Info("evidence is lost", "job", uid, "error", err.Error())
		}
	}
}
