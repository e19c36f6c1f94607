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

// ledgerName is the ConfigMap, in the controller's own namespace, that holds what the model answered and what was
// spent on it, so that neither a restart nor another leader asks or pays again.
const (
	ledgerName = "signalbox-model"
	ledgerKey  = "answers"
)

// ledgerEvery is how often it is written at most: what is lost when a process is killed was asked since.
const ledgerEvery = 5 * time.Second

// ledger keeps it.
type ledger struct {
	kube      kubernetes.Interface
	namespace string
	explain   explain.Explainer
	dirty     atomic.Bool
}

// load goes on from what another process left. What cannot be read is no reason not to ask.
func (l *ledger) load(ctx context.Context) {
	if l == nil {
		return
	}
	m, err := l.kube.CoreV1().ConfigMaps(l.namespace).Get(ctx, ledgerName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return
	case err == nil && len(m.BinaryData[ledgerKey]) > 0:
		err = l.explain.Load(m.BinaryData[ledgerKey])
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "what the model answered before is not known")
	}
}

// note says that there is something to write.
func (l *ledger) note() {
	if l != nil {
		l.dirty.Store(true)
	}
}

// run writes what there is to write until the context ends, and then once more.
func (l *ledger) run(ctx context.Context) {
	if l == nil {
		return
	}
	ticker := time.NewTicker(ledgerEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), ledgerEvery)
			defer stop()
			l.write(last)
			return
		case <-ticker.C:
			l.write(ctx)
		}
	}
}

func (l *ledger) write(ctx context.Context) {
	if !l.dirty.Swap(false) {
		return
	}
	if err := l.apply(ctx); err != nil {
		l.dirty.Store(true)
		log.FromContext(ctx).Error(err, "what the model answered is not kept")
	}
}

func (l *ledger) apply(ctx context.Context) error {
	data, err := l.explain.Save()
	if err != nil {
		return err
	}
	m := corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: ledgerName, Namespace: l.namespace, Labels: map[string]string{"app.kubernetes.io/managed-by": FieldOwner}},
		BinaryData: map[string][]byte{ledgerKey: data},
	}
	patch, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", l.namespace, ledgerName, err)
	}
	force := true
	if _, err := l.kube.CoreV1().ConfigMaps(l.namespace).Patch(ctx, ledgerName, types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: FieldOwner, Force: &force}); err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", l.namespace, ledgerName, err)
	}
	return nil
}
