package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
)

// accountsName is the ConfigMap, in the controller's own namespace, that holds what the model answered and what was
// spent on it, so that neither a restart nor another leader asks or pays again.
const (
	accountsName = "signalbox-model"
	accountsKey  = "answers"
)

// accountsEvery is how often it is written at most: what is lost when a process is killed was asked since.
const accountsEvery = 5 * time.Second

// accounts keeps it.
type accounts struct {
	kube      kubernetes.Interface
	namespace string
	explain   explain.Explainer
	metrics   *metrics
	dirty     atomic.Bool
}

// load goes on from what another process left. What cannot be read is no reason not to ask.
func (l *accounts) load(ctx context.Context) {
	if l == nil {
		return
	}
	m, err := l.kube.CoreV1().ConfigMaps(l.namespace).Get(ctx, accountsName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return
	case err == nil && len(m.BinaryData[accountsKey]) > 0:
		err = l.explain.Load(m.BinaryData[accountsKey])
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "what the model answered before is not known")
	}
}

// note says that there is something to write.
func (l *accounts) note() {
	if l != nil {
		l.dirty.Store(true)
	}
}

// run writes what there is to write until the context ends, and then once more.
func (l *accounts) run(ctx context.Context) {
	if l == nil {
		return
	}
	ticker := time.NewTicker(accountsEvery)
	defer ticker.Stop()
	for {
		l.metrics.spent(l.explain.Budget)
		select {
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), accountsEvery)
			defer stop()
			l.write(last)
			return
		case <-ticker.C:
			l.write(ctx)
		}
	}
}

func (l *accounts) write(ctx context.Context) {
	if !l.dirty.Swap(false) {
		return
	}
	if err := l.apply(ctx); err != nil {
		l.dirty.Store(true)
		log.FromContext(ctx).Error(err, "what the model answered is not kept")
	}
}

func (l *accounts) apply(ctx context.Context) error {
	data, err := l.explain.Save()
	if err != nil {
		return err
	}
	m := corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: accountsName, Namespace: l.namespace, Labels: map[string]string{"app.kubernetes.io/managed-by": FieldOwner}},
		BinaryData: map[string][]byte{accountsKey: data},
	}
	patch, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", l.namespace, accountsName, err)
	}
	force := true
	if _, err := l.kube.CoreV1().ConfigMaps(l.namespace).Patch(ctx, accountsName, types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: FieldOwner, Force: &force}); err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", l.namespace, accountsName, err)
	}
	return nil
}
