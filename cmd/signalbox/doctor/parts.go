package doctor

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/policies/oci"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/webhook"
)

// doctor looks at the parts of an installation, each for itself: one that cannot be looked at hides no other.
type doctor struct {
	kube      kubernetes.Interface
	ask       func(ctx context.Context, namespace string) (bool, error) // whether a dry run of a job there was answered with a record
	served    map[string][]string                                       // group: versions
	namespace string
	named     bool                 // the namespace was asked for: no other will do
	skew      func() time.Duration // of our clock ahead of the API server's
	now       func() time.Time

	own     string // the namespace that Signalbox runs in
	outside string // the address of a server that runs outside of the cluster; empty: it runs in it
}

const (
	// leastVersion has the admission policies that hold the account to its bounds.
	leastVersion = "1.30"
	// mostSkew is what leases and certificates bear without trouble.
	mostSkew = time.Minute
	// endsSoon is past the time by which a certificate is renewed.
	endsSoon = 14 * 24 * time.Hour
	// leaseIsOld is ten times what a leader that lives lets pass.
	leaseIsOld = 2 * time.Minute
)

func (d *doctor) examine(ctx context.Context) examination {
	e := &examination{Schema: doctorSchema}
	hook, unread := d.configuration(ctx, e)
	e.Namespace = d.own
	d.serverVersion(e)
	if hook != nil && hook.ClientConfig.URL != nil {
		d.outside = *hook.ClientConfig.URL
	}
	pods := d.deployment(ctx, e)
	d.reached(ctx, e, hook, unread)
	d.certificate(e, "certificate", hook)
	read := &examination{} // which say whether there is a leader to look for
	settings := d.settings(ctx, read)
	d.leader(ctx, e, settings)
	e.Parts = append(e.Parts, read.Parts...)
	d.modes(ctx, e)
	d.closed(ctx, e, settings, pods)
	e.Parts = append(e.Parts, Policies(ctx, d.kube, d.own)...)
	d.maps(ctx, e, "signatures", controller.SignatureLabel, controller.SignatureErrorAnnotation)
	d.bounds(ctx, e)
	d.rights(ctx, e)
	d.kinds(e, hook)
	d.operators(ctx, e)
	d.clock(e)
	return *e
}

// Policies looks at the policies that Signalbox in a namespace follows: those in ConfigMaps, and those of a bundle.
func Policies(ctx context.Context, kube kubernetes.Interface, namespace string) []Examined {
	d, e := &doctor{kube: kube, own: namespace}, &examination{}
	d.maps(ctx, e, "policies", webhook.PolicyLabel, webhook.PolicyErrorAnnotation)
	d.bundle(ctx, e)
	return e.Parts
}

func (d *doctor) install() string {
	return "helm upgrade --install signalbox config/chart -n " + word(d.own)
}

// configuration is our webhook in the API server; nil: there is none, or it cannot be read. It says in which namespace
// Signalbox runs.
func (d *doctor) configuration(ctx context.Context, e *examination) (hook *admissionregistrationv1.ValidatingWebhook, unread error) {
	const part = "webhook configuration"
	d.own = webhook.Namespace
	found, err := d.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, webhook.ConfigurationName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		e.wrong(part, d.install(), "there is none called %s: the API server asks nobody about jobs", webhook.ConfigurationName)
		return nil, nil
	case err != nil:
		e.unknown(part, err)
		return nil, err
	}
	at := slices.IndexFunc(found.Webhooks, func(w admissionregistrationv1.ValidatingWebhook) bool { return w.Name == webhook.Name })
	if at < 0 {
		e.wrong(part, d.install(), "%s holds no webhook called %s", found.Name, webhook.Name)
		return nil, nil
	}
	hook = &found.Webhooks[at]
	if s := hook.ClientConfig.Service; s != nil {
		d.own = s.Namespace
	}
	if p := hook.FailurePolicy; p == nil || *p != admissionregistrationv1.Ignore {
		e.wrong(part, d.install(), "failurePolicy is Fail; expected Ignore: jobs are refused while Signalbox is away")
		return hook, nil
	}
	e.fine(part, "failurePolicy Ignore, %d rules", len(hook.Rules))
	return hook, nil
}

func (d *doctor) serverVersion(e *examination) {
	const part = "API server"
	info, err := d.kube.Discovery().ServerVersion()
	if err != nil {
		e.unknown(part, err)
		return
	}
	have, err := utilversion.ParseGeneric(info.GitVersion)
	if err != nil {
		e.unknown(part, err)
		return
	}
	if have.LessThan(utilversion.MustParseGeneric(leastVersion)) {
		e.wrong(part, "Upgrade the cluster.", "it is %s; expected %s or later: the admission policies that bound the account are missing", info.GitVersion, leastVersion)
		return
	}
	e.fine(part, "%s", info.GitVersion)
}

// deployment is ours; nil: there is none, or it cannot be read.
func (d *doctor) deployment(ctx context.Context, e *examination) *appsv1.Deployment {
	const part = "pods"
	found, err := d.kube.AppsV1().Deployments(d.own).Get(ctx, "signalbox", metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && d.outside != "":
		e.fine(part, "none: the server runs outside of the cluster, at %s", d.outside)
	case apierrors.IsNotFound(err):
		e.wrong(part, d.install(), "there is no Deployment signalbox in %s", d.own)
	case err != nil:
		e.unknown(part, err)
	default:
		d.replicas(ctx, e, part, found)
		return found
	}
	return nil
}

func (d *doctor) replicas(ctx context.Context, e *examination, part string, found *appsv1.Deployment) {
	want := int32(1)
	if found.Spec.Replicas != nil {
		want = *found.Spec.Replicas
	}
	if found.Status.ReadyReplicas >= want && want > 0 {
		e.fine(part, "%d of %d ready, image %s", found.Status.ReadyReplicas, want, found.Spec.Template.Spec.Containers[0].Image)
		return
	}
	why := ""
	if pods, err := d.kube.CoreV1().Pods(d.own).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=signalbox"}); err == nil {
		why = whyNotReady(pods.Items)
	}
	e.wrong(part, d.kubectl()+" describe pods -l app.kubernetes.io/name=signalbox", "%d of %d ready%s", found.Status.ReadyReplicas, want, why)
}

// reached asks the API server about a job that is never stored: the answer is the webhook's.
func (d *doctor) reached(ctx context.Context, e *examination, hook *admissionregistrationv1.ValidatingWebhook, unread error) {
	const part = "webhook is reached"
	switch {
	case unread != nil:
		e.unknown(part, unread)
		return
	case hook == nil:
		e.wrong(part, d.install(), "nothing tells the API server to")
		return
	}
	namespace, err := d.tried(ctx, hook)
	if err != nil {
		e.unknown(part, err)
		return
	}
	begun := d.now()
	answered, err := d.ask(ctx, namespace)
	took := d.now().Sub(begun).Round(time.Millisecond)
	if err != nil {
		e.unknown(part, fmt.Errorf("a Job in namespace %s is refused: %w", namespace, err))
		return
	}
	if answered {
		e.fine(part, "it answered a dry run in namespace %s within %s", namespace, took)
		return
	}
	e.wrong(part, d.kubectl()+" logs -l app.kubernetes.io/name=signalbox; a network policy or firewall between the API server and port 9443 is the usual reason",
		"it did not answer a dry run in namespace %s: jobs are admitted unreviewed", namespace)
}

// certificate reads the CA that the API server was told to trust.
func (d *doctor) certificate(e *examination, part string, hook *admissionregistrationv1.ValidatingWebhook) {
	if hook == nil {
		return
	}
	ends, n := time.Time{}, 0
	for rest := hook.ClientConfig.CABundle; ; n++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			e.wrong(part, d.kubectl()+" rollout restart deployment/signalbox", "the CA in the webhook configuration cannot be read: %v", err)
			return
		}
		if c.NotAfter.After(ends) {
			ends = c.NotAfter
		}
	}
	left := ends.Sub(d.now())
	switch {
	case n == 0:
		e.wrong(part, d.kubectl()+" logs -l app.kubernetes.io/name=signalbox; with cert-manager: "+d.kubectl()+" describe certificate",
			"the webhook configuration holds no CA: the API server trusts nobody")
	case left < endsSoon:
		e.wrong(part, d.kubectl()+" logs -l app.kubernetes.io/name=signalbox", "the CA ends at %s; it should have been renewed long ago", ends.UTC().Format(time.DateOnly))
	default:
		e.fine(part, "the CA ends at %s", ends.UTC().Format(time.DateOnly))
	}
}

// leader is the replica that diagnoses. A server that takes part in no election diagnoses without a Lease.
func (d *doctor) leader(ctx context.Context, e *examination, settings *config.Config) {
	const part = "leader"
	election := config.Default().LeaderElection
	if settings != nil {
		election = settings.LeaderElection
	}
	found, err := d.kube.CoordinationV1().Leases(d.own).Get(ctx, election.Name, metav1.GetOptions{})
	logs := d.kubectl() + " logs -l app.kubernetes.io/name=signalbox"
	switch {
	case apierrors.IsNotFound(err) && settings != nil && !election.Enabled:
		e.fine(part, "none is elected: leaderElection.enabled is false, and every replica diagnoses")
	case apierrors.IsNotFound(err) && settings == nil && d.outside != "":
		e.unknown(part, fmt.Errorf("there is no Lease, and the server at %s needs none where leaderElection.enabled is false: its settings are not in the cluster", d.outside))
	case apierrors.IsNotFound(err):
		e.wrong(part, logs, "there is no Lease: nobody diagnoses")
	case err != nil:
		e.unknown(part, err)
	case found.Spec.HolderIdentity == nil || *found.Spec.HolderIdentity == "" || found.Spec.RenewTime == nil:
		e.wrong(part, logs, "nobody holds the Lease: nobody diagnoses")
	case d.now().Add(-d.skew()).Sub(found.Spec.RenewTime.Time) > leaseIsOld:
		e.wrong(part, logs, "%s has not renewed the Lease since %s: nobody diagnoses", *found.Spec.HolderIdentity, found.Spec.RenewTime.UTC().Format(time.RFC3339))
	default:
		e.fine(part, "%s", *found.Spec.HolderIdentity)
	}
}

// settings are read as serve would; nil: there are none, or they cannot be read.
func (d *doctor) settings(ctx context.Context, e *examination) (out *config.Config) {
	const part = "settings"
	found, err := d.kube.CoreV1().ConfigMaps(d.own).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=signalbox"})
	if err != nil {
		e.unknown(part, err)
		return nil
	}
	seen := 0
	for _, m := range found.Items {
		text, ok := m.Data["config.yaml"]
		if !ok {
			continue
		}
		seen++
		settings, err := config.Read(strings.NewReader(text))
		if err != nil {
			e.wrong(part, d.kubectl()+" edit configmap "+word(m.Name), "%s: %v", m.Name, err)
			return nil
		}
		if settings.Namespace != d.own {
			e.wrong(part, d.kubectl()+" edit configmap "+word(m.Name), "%s: namespace is %s; Signalbox runs in %s", m.Name, settings.Namespace, d.own)
			return nil
		}
		if out == nil || settings.Webhook.Closed.Enabled { // of two the one that asks for more is held to it
			out = &settings
		}
	}
	if seen == 0 && d.outside != "" {
		e.unknown(part, fmt.Errorf("the server at %s reads them outside of the cluster", d.outside))
		return nil
	}
	if seen == 0 {
		e.wrong(part, d.install(), "no ConfigMap in %s holds config.yaml", d.own)
		return nil
	}
	e.fine(part, "%d read", seen)
	return out
}

// maps are labelled ConfigMaps on which the server says what does not load.
func (d *doctor) maps(ctx context.Context, e *examination, part, label, annotation string) {
	found, err := d.kube.CoreV1().ConfigMaps(d.own).List(ctx, metav1.ListOptions{LabelSelector: label + "=true"})
	if err != nil {
		e.unknown(part, err)
		return
	}
	broken := false
	for _, m := range found.Items {
		if why := m.Annotations[annotation]; why != "" {
			broken = true
			e.wrong(part, d.kubectl()+" edit configmap "+word(m.Name), "%s does not load: %s", m.Name, why)
		}
	}
	if !broken {
		says := terminal.Count(len(found.Items), "ConfigMap")
		if label == webhook.PolicyLabel {
			says += unsetPolicies(found.Items) //nolint:contextcheck // compiling policies blocks on nothing
		}
		e.fine(part, "%s", says)
	}
}

// unsetPolicies says how many policies rule nothing because no ConfigMap sets what they read; empty: all rule, or that
// cannot be told here.
func unsetPolicies(all []corev1.ConfigMap) string {
	files, err := apiserver.FilesOf(all)
	if err != nil {
		return ""
	}
	engine, err := policies.Load(policies.Library(), files)
	if err != nil {
		return ""
	}
	docs, unset := engine.Docs(), engine.Unset()
	if len(unset) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d policies, with those that signalbox brings, say nothing, because no data sets what they read", len(unset), len(docs))
}

// bundle is what the replicas say of the bundle of policies; nothing is said where there is none.
func (d *doctor) bundle(ctx context.Context, e *examination) {
	const part = "bundle of policies"
	m, err := d.kube.CoreV1().ConfigMaps(d.own).Get(ctx, oci.StatusName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		e.unknown(part, err)
	case m.Annotations[webhook.PolicyErrorAnnotation] != "":
		e.wrong(part, "signalbox policy test DIR, then push the bundle again", "%s does not load, the last good set stays: %s", m.Data["bundle"], m.Annotations[webhook.PolicyErrorAnnotation])
	default:
		e.fine(part, "%s, revision %s", m.Data["bundle"], m.Data["revision"])
	}
}

// bounds are the admission policies without which the account may do more than it needs, or others write what is its own.
func (d *doctor) bounds(ctx context.Context, e *examination) {
	const part = "bounds of the account"
	const stolen = "a stolen token could change what is not Signalbox's"
	for _, bound := range []struct{ name, without string }{
		{"signalbox-jobs", stolen}, {"signalbox-evidence", stolen}, {"signalbox-own", stolen}, {"signalbox-kept", "whoever writes ConfigMaps could change what is kept of a job's containers"},
	} {
		_, err := d.kube.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, bound.name, metav1.GetOptions{})
		if err == nil {
			_, err = d.kube.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Get(ctx, bound.name, metav1.GetOptions{})
		}
		if apierrors.IsNotFound(err) {
			e.wrong(part, d.install(), "ValidatingAdmissionPolicy %s or its binding is missing: %s", bound.name, bound.without)
			return
		}
		if err != nil {
			e.unknown(part, err)
			return
		}
	}
	e.fine(part, "four admission policies hold it to its own annotations and ConfigMaps, and others off those")
}

// rights asks the API server what the account may do, for what nothing works without.
func (d *doctor) rights(ctx context.Context, e *examination) {
	const part = "rights of the account"
	user := "system:serviceaccount:" + d.own + ":signalbox"
	needs := []authorizationv1.ResourceAttributes{
		{Verb: "list", Resource: "nodes"},
		{Verb: "list", Resource: "pods"},
		{Verb: "get", Resource: "pods", Subresource: "log"},
		{Verb: "list", Resource: "namespaces"},
		{Verb: "list", Resource: "events"},
		{Verb: "create", Group: "events.k8s.io", Resource: "events"},
		{Verb: "create", Resource: "configmaps"},
		{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: d.own, Name: config.Default().LeaderElection.Name},
	}
	for _, k := range kinds.All() {
		if group := k.GVKs[0].Group; len(d.served[group]) > 0 {
			for _, verb := range []string{"list", "watch", "patch"} {
				needs = append(needs, authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: k.Resource})
			}
		}
	}
	var lacks []string
	for _, need := range needs {
		review, err := d.kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + d.own, "system:authenticated"}, ResourceAttributes: &need},
		}, metav1.CreateOptions{})
		if err != nil {
			e.unknown(part, err)
			return
		}
		if !review.Status.Allowed {
			lacks = append(lacks, strings.TrimSuffix(need.Verb+" "+need.Resource+"."+need.Group, "."))
		}
	}
	if len(lacks) > 0 {
		e.wrong(part, d.install(), "%s may not %s", user, strings.Join(lacks, ", "))
		return
	}
	e.fine(part, "%d asked about", len(needs))
}

func (d *doctor) clock(e *examination) {
	const part = "clocks"
	skew := d.skew()
	if skew.Abs() > mostSkew {
		word := "ahead of"
		if skew < 0 {
			word = "behind"
		}
		e.wrong(part, "timedatectl status", "this machine is %s %s the API server", skew.Abs().Round(time.Second), word)
		return
	}
	e.fine(part, "this machine and the API server are %s apart", cmp.Or(skew.Abs().Round(time.Second), time.Second))
}

// word is a name of the cluster's in a command to copy: a cluster of somebody else calls things what it likes.
func word(name string) string { return words.ShellWord(words.VisibleLine(name)) }

// kubectl begins a command about our own namespace.
func (d *doctor) kubectl() string { return "kubectl -n " + word(d.own) }
