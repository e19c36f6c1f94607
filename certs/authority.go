package certs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// Authority issues the webhook's certificate itself. Every replica runs one; they share
// one Secret: the replica that creates or changes it first wins, and the others take what is
// there. Make it with NewAuthority.
type Authority struct {
	held
	o      Options
	wake   chan struct{}                  // the Secret or the webhook configuration changed
	writes flowcontrol.PassiveRateLimiter // of the Secret
}

var _ Source = (*Authority)(nil)

// Options are what an Authority is made of.
type Options struct {
	Client    kubernetes.Interface
	Namespace string // of the Secret
	Secret    string // its name
	// Configurations are the ValidatingWebhookConfigurations that get the CA.
	Configurations []string
	// Hosts are the names and IP addresses by which the API server calls the webhook.
	Hosts  []string
	Lives  Lives                // zero: DefaultLives
	Clock  clock.WithTicker     // nil: the real one
	Expiry *prometheus.GaugeVec // nil: not measured
	Log    logr.Logger
}

// NewAuthority makes an authority; Start makes it work.
func NewAuthority(o Options) *Authority {
	if o.Lives == (Lives{}) {
		o.Lives = DefaultLives()
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return &Authority{
		held: held{now: o.Clock.Now, expiry: o.Expiry}, o: o, wake: make(chan struct{}, 1),
		writes: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(float32(1/retry.Seconds()), mostWrites, o.Clock),
	}
}

const (
	// look is how often rotation is thought about when nothing else happens; more often where
	// the overlap is short.
	look = 5 * time.Minute
	// retry is how soon after a failure.
	retry = 5 * time.Second
	// mostWrites is how often the Secret is written at once. A replica whose clock is months behind, or whatever writes
	// the Secret as it is in git, takes back each write of ours, and each would be answered as soon as it is seen.
	mostWrites = 10
)

var errWrites = fmt.Errorf("the Secret was written %d times, and each time it was changed again: by a replica whose clock is wrong, or by whatever else writes it", mostWrites)

// Start issues, rotates and injects until the context is done. A failure is logged and
// tried again; what is being served stays.
func (a *Authority) Start(ctx context.Context) error {
	if err := a.watch(ctx); err != nil {
		return err
	}
	for {
		pause := min(look, a.o.Lives.Overlap/4)
		if err := a.Step(ctx); err != nil && ctx.Err() == nil {
			a.o.Log.Error(err, "keep the certificate current")
			pause = retry
		}
		timer := a.o.Clock.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-a.wake:
			timer.Stop()
		case <-timer.C():
		}
	}
}

// Step does once whatever is due: it reads the Secret, serves what is in it, has the CA
// trusted, and writes the next state if there is one. Start calls it; a program that
// must have a certificate before it goes on may call it too.
func (a *Authority) Step(ctx context.Context) error {
	for {
		secret, err := a.load(ctx)
		if err != nil {
			return err
		}
		now := parseState(secret.Data)
		injected := a.serve(ctx, now)
		after, changed, err := next(now, a.now(), a.o.Lives, a.o.Hosts, injected == nil)
		if err != nil {
			return err
		}
		if !changed {
			return injected
		}
		if !a.writes.TryAccept() {
			return fmt.Errorf("write secret %s/%s: %w", a.o.Namespace, a.o.Secret, errWrites)
		}
		err = a.save(ctx, secret, after)
		switch {
		case err == nil:
			a.o.Log.Info("wrote the webhook's certificates", "secret", a.o.Namespace+"/"+a.o.Secret,
				"servingUntil", stamp(after.serving.cert.NotAfter), "caUntil", stamp(after.ca.cert.NotAfter), "trusted", 1+len(after.older))
			return a.serve(ctx, after)
		case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
			continue // another replica was faster: take what it wrote
		default:
			return fmt.Errorf("write secret %s/%s: %w", a.o.Namespace, a.o.Secret, err)
		}
	}
}

// serve holds the certificate of a state and has its CAs trusted.
func (a *Authority) serve(ctx context.Context, s state) error {
	c := s.certificate()
	if c == nil || s.ca.cert == nil {
		return nil
	}
	a.hold(c)
	a.ca.Store(s.ca.cert)
	a.observe("ca", s.ca.cert)
	return a.inject(ctx, s.bundle())
}

func (a *Authority) load(ctx context.Context) (*corev1.Secret, error) {
	secret, err := a.o.Client.CoreV1().Secrets(a.o.Namespace).Get(ctx, a.o.Secret, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return &corev1.Secret{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read secret %s/%s: %w", a.o.Namespace, a.o.Secret, err)
	}
	return secret, nil
}

// save creates the Secret if it was absent and updates it if it is still the one that
// was read.
func (a *Authority) save(ctx context.Context, read *corev1.Secret, s state) error {
	data, err := s.data()
	if err != nil {
		return err
	}
	secrets := a.o.Client.CoreV1().Secrets(a.o.Namespace)
	if read.Name == "" {
		_, err = secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name: a.o.Secret, Namespace: a.o.Namespace,
				Labels: map[string]string{"app.kubernetes.io/name": "signalbox", "app.kubernetes.io/managed-by": "signalbox"},
			},
			Type: corev1.SecretTypeTLS,
			Data: data,
		}, metav1.CreateOptions{FieldManager: fieldManager})
		return err
	}
	changed := read.DeepCopy()
	changed.Data = data
	_, err = secrets.Update(ctx, changed, metav1.UpdateOptions{FieldManager: fieldManager})
	return err
}

// inject has the API server trust the bundle. A configuration that does not exist is no
// error: it may be installed later, and then watch wakes us.
func (a *Authority) inject(ctx context.Context, bundle []byte) error {
	var errs []error
	for _, name := range a.o.Configurations {
		errs = append(errs, a.injectInto(ctx, name, bundle))
	}
	return errors.Join(errs...)
}

func (a *Authority) injectInto(ctx context.Context, name string, bundle []byte) error {
	api := a.o.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	have, err := api.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read webhook configuration %s: %w", name, err)
	}
	current := true
	for _, w := range have.Webhooks {
		current = current && bytes.Equal(w.ClientConfig.CABundle, bundle)
	}
	if current {
		return nil
	}
	if _, err := api.Apply(ctx, withBundle(have, bundle), metav1.ApplyOptions{FieldManager: fieldManager, Force: true}); err != nil {
		return fmt.Errorf("put the CA into webhook configuration %s: %w", name, err)
	}
	return nil
}
