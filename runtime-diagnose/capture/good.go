package capture

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// aboutGood is what people read on the objects of good runs.
const aboutGood = "forms of the lines that the last good runs of jobs printed"

// Good keeps what a job printed that ended well. The object belongs to nobody, because the next run
// is another job; it is one of a few of the namespace, and holds so many runs.
func (k *Keeper) Good(ctx context.Context, ref job.Ref, generateName string, g keep.Good) error {
	if k == nil || k.PerJob <= 0 {
		return nil
	}
	k.good.Lock() // several jobs share an object, and one that writes it has to have read what the others wrote
	defer k.good.Unlock()
	name, key := keep.GoodKey(ref.Kind, ref.Name, generateName)
	maps := k.Kube.CoreV1().ConfigMaps(ref.Namespace)
	before, err := maps.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		before = &corev1.ConfigMap{}
	case err != nil:
		return fmt.Errorf("read good runs in %s: %w", ref.Namespace, err)
	}
	cm := applycore.ConfigMap(name, ref.Namespace).
		WithLabels(map[string]string{keep.Label: "true"}).
		WithAnnotations(map[string]string{keep.Summary: aboutGood}).
		WithBinaryData(keep.WithGood(before.BinaryData, key, g))
	if before.ResourceVersion != "" {
		cm = cm.WithResourceVersion(before.ResourceVersion) // another leader may not have ended yet
	}
	if _, err := maps.Apply(ctx, cm, metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}); err != nil {
		return fmt.Errorf("keep the good run of %s %s/%s: %w", ref.Kind, ref.Namespace, ref.Name, err)
	}
	return nil
}
