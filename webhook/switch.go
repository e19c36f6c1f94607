package webhook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

// Reasons of the Events about the configuration that is closed on failure.
const (
	// ClosedOff (Warning): it is gone, though the settings want it.
	ClosedOff = "ClosedOff"
	// ClosedOn (Normal): it is there again.
	ClosedOn = "ClosedOn"
	// ClosedAlone (Warning): fewer than two replicas are wanted, so that jobs are refused whenever one of them restarts.
	ClosedAlone = "ClosedAlone"
)

// closedConfiguration is what those Events are about.
var closedConfiguration = corev1.ObjectReference{
	APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration", Name: ClosedConfigurationName,
}

// LeastClosed is how many replicas it takes to be closed on failure: with one, each restart refuses everybody's jobs.
const LeastClosed = 2

// SwitchOptions are what a Switch is made of. Client and Namespace are required.
type SwitchOptions struct {
	Client     kubernetes.Interface
	Namespace  string // of the Deployment
	Deployment string // whose replicas are counted; empty: none are
	Metrics    *Metrics
	Log        logr.Logger
	Every      time.Duration // between two looks at the replicas; 0: a minute
}

// Switch tells whether the configuration that is closed on failure is on. Deleting that configuration switches
// it off: the API server itself stops refusing, also where no process of ours runs. The switch says so, in the log, as an
// Event and in a metric, so that nobody is open without knowing. Make it with NewSwitch.
type Switch struct {
	announcer
	o       SwitchOptions
	changed chan struct{}
	on      *bool // as was said; nil: nothing was
	alone   bool  // was said
}

// NewSwitch makes a switch that has said nothing.
func NewSwitch(o SwitchOptions) *Switch {
	o.Every = cmp.Or(o.Every, time.Minute)
	return &Switch{announcer: announcer{client: o.Client, log: o.Log, now: time.Now}, o: o, changed: make(chan struct{}, 1)}
}

// Start follows the configuration until the context is done.
func (s *Switch) Start(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(s.o.Client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector("metadata.name", ClosedConfigurationName).String()
	}))
	followed := factory.Admissionregistration().V1().ValidatingWebhookConfigurations()
	wake := func() {
		select {
		case s.changed <- struct{}{}:
		default: // it is woken already
		}
	}
	if _, err := followed.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { wake() }, DeleteFunc: func(any) { wake() }, UpdateFunc: func(any, any) { wake() },
	}); err != nil {
		return fmt.Errorf("follow the webhook configuration %s: %w", ClosedConfigurationName, err)
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), followed.Informer().HasSynced) {
		return nil // it ends
	}
	tick := time.NewTicker(s.o.Every)
	defer tick.Stop()
	for {
		found, err := followed.Lister().Get(ClosedConfigurationName)
		s.look(ctx, err == nil && refuses(found))
		s.count(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-s.changed:
		case <-tick.C:
		}
	}
}

// refuses says whether a configuration still does what it is for: one that ignores failures is switched off.
func refuses(c *admissionregistrationv1.ValidatingWebhookConfiguration) bool {
	return slices.ContainsFunc(c.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool {
		return ptr.Deref(w.FailurePolicy, admissionregistrationv1.Fail) == admissionregistrationv1.Fail
	})
}

// look says what has changed.
func (s *Switch) look(ctx context.Context, on bool) {
	s.o.Metrics.switched(on)
	if s.on != nil && *s.on == on {
		return
	}
	first := s.on == nil
	s.on = new(on)
	switch {
	case !on:
		s.say(ctx, closedConfiguration, corev1.EventTypeWarning, ClosedOff, "webhook.closed.enabled is set, and the webhook configuration "+ClosedConfigurationName+
			" is not there or ignores failures: while no replica answers, jobs of the chosen namespaces are admitted. Apply the manifests or upgrade the release to close them again")
	case !first:
		s.say(ctx, closedConfiguration, corev1.EventTypeNormal, ClosedOn, "the webhook configuration "+ClosedConfigurationName+" is there: jobs of the chosen namespaces are refused while no replica answers")
	default:
		s.o.Log.Info("jobs of the chosen namespaces are refused while no replica answers", "configuration", ClosedConfigurationName)
	}
}

// count says when only one replica is left. What cannot be read is not said.
func (s *Switch) count(ctx context.Context) {
	if s.o.Deployment == "" || s.on == nil || !*s.on {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	found, err := s.o.Client.AppsV1().Deployments(s.o.Namespace).List(bounded, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("metadata.name", s.o.Deployment).String(),
	})
	if err != nil || len(found.Items) != 1 {
		return
	}
	wanted := found.Items[0].Spec.Replicas
	alone := wanted != nil && *wanted < LeastClosed
	if alone && !s.alone {
		s.say(ctx, closedConfiguration, corev1.EventTypeWarning, ClosedAlone, fmt.Sprintf("%d of the %d replicas that it takes to be closed on failure is wanted: each restart refuses the jobs of the chosen namespaces. Scale %s/%s up, or delete the webhook configuration %s",
			*wanted, LeastClosed, s.o.Namespace, s.o.Deployment, ClosedConfigurationName))
	}
	s.alone = alone
}
