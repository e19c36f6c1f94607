package certs

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apply "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// fieldManager owns the CA in the webhook configuration, and nothing else in it.
const fieldManager = "signalbox-certs"

// withBundle is the part of the configuration that is ours: the CA of each webhook.
func withBundle(have *admissionregistrationv1.ValidatingWebhookConfiguration, bundle []byte) *apply.ValidatingWebhookConfigurationApplyConfiguration {
	out := apply.ValidatingWebhookConfiguration(have.Name)
	for _, w := range have.Webhooks {
		out.WithWebhooks(apply.ValidatingWebhook().WithName(w.Name).
			WithClientConfig(apply.WebhookClientConfig().WithCABundle(bundle...)))
	}
	return out
}

// watch wakes the loop when the Secret or the webhook configuration changes, so that all
// replicas serve a new certificate within moments and a CA that was overwritten comes
// back. Both are watched by name: the role allows no more.
func (a *Authority) watch(ctx context.Context) error {
	secret := informers.NewSharedInformerFactoryWithOptions(a.o.Client, 0,
		informers.WithNamespace(a.o.Namespace), byName(a.o.Secret))
	watched := []cache.SharedIndexInformer{secret.Core().V1().Secrets().Informer()}
	factories := []informers.SharedInformerFactory{secret}
	for _, name := range a.o.Configurations {
		config := informers.NewSharedInformerFactoryWithOptions(a.o.Client, 0, byName(name))
		watched = append(watched, config.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer())
		factories = append(factories, config)
	}
	notify := func() {
		select {
		case a.wake <- struct{}{}:
		default: // a wake-up is pending already
		}
	}
	for _, w := range watched {
		if _, err := w.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { notify() },
			UpdateFunc: func(any, any) { notify() },
			DeleteFunc: func(any) { notify() },
		}); err != nil {
			return fmt.Errorf("watch the certificates: %w", err)
		}
	}
	for _, f := range factories {
		f.Start(ctx.Done())
	}
	return nil
}

func byName(name string) informers.SharedInformerOption {
	return informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", name).String()
	})
}
