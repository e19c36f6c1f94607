package serve

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/doctor"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/policies/oci"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/webhook"
)

// ruleOfBundle denies jobs of more pods than a number.
const ruleOfBundle = `# METADATA
# title: a job has few pods
# description: For the test.
# custom: {remedy: Ask for fewer.}
package signalbox.few_pods

deny contains sprintf("%d pods; MOST are allowed", [input.job.pods]) if input.job.pods > MOST
`

func fewPods(most string) string { return strings.ReplaceAll(ruleOfBundle, "MOST", most) }

// packed are files as a compressed tar, with a signature in OPA's form (https://www.openpolicyagent.org/docs/management-bundles#signing),
// of the files as they are said to be.
func packed(t *testing.T, by ed25519.PrivateKey, said, files map[string]string) []byte {
	t.Helper()
	var listed []map[string]string
	for _, name := range slices.Sorted(maps.Keys(said)) {
		listed = append(listed, map[string]string{"name": name, "hash": fmt.Sprintf("%x", sha256.Sum256([]byte(said[name]))), "algorithm": "SHA-256"})
	}
	payload, err := json.Marshal(map[string]any{"files": listed})
	if err != nil {
		t.Fatal(err)
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	token += "." + base64.RawURLEncoding.EncodeToString(ed25519.Sign(by, []byte(token)))
	files = maps.Clone(files)
	files[".signatures.json"] = `{"signatures": ["` + token + `"]}`
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: "/" + name, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// registry holds one repository; what it answers with is by digest or tag.
type registry map[string][]byte

func (r registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	kind, name := filepath.Split(strings.TrimPrefix(req.URL.Path, "/v2/platform/rules/"))
	text, there := r[name]
	if !there {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if kind == "manifests/" {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Docker-Content-Digest", digested(text))
	}
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(text))
}

func digested(text []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(text)) }

// push puts a bundle under a tag and answers with the digests of manifest and layer.
func (r registry) push(tag string, archive []byte) (manifest, layer string) {
	layer, config := digested(archive), []byte("{}")
	text := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":%q,"size":2},`+
		`"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":%q,"size":%d}]}`, digested(config), layer, len(archive))
	manifest = digested(text)
	r[layer], r[digested(config)], r[manifest], r[tag] = archive, config, text, text
	return manifest, layer
}

func keyFile(t *testing.T, of ed25519.PrivateKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(of.Public())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// enforcing is a cluster without nodes whose namespaces enforce.
type enforcing struct{}

func (enforcing) Snapshot() *cluster.Snapshot {
	var b cluster.Builder
	return b.Snapshot(time.Time{})
}

func (enforcing) Namespace(string) map[string]string {
	return map[string]string{preflight.ModeLabel: preflight.ModeEnforce}
}

// bundled is what serve makes of its settings about a bundle, and where it says what became of it.
type bundled struct {
	*oci.Follower
	engine  *policies.OPA
	kube    *fake.Clientset
	metrics *prometheus.Registry
	log     *lines
	events  *record.FakeRecorder
	handler *webhook.Handler
}

// lines are what was logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(_, line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
}

// taken are the lines since it was asked last.
func (l *lines) taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := strings.Join(l.all, "\n")
	l.all = nil
	return out
}

func serveBundle(t *testing.T, b config.PolicyBundle) *bundled {
	t.Helper()
	out, options := served(t, func(c *config.Policies) { c.ConfigMaps, c.Bundle = false, b })
	follower, ok := options.Bundle.(*oci.Follower)
	if !ok {
		t.Fatalf("the bundle is followed by a %T", options.Bundle)
	}
	out.Follower = follower
	return out
}

// served is what serve makes of settings.
func served(t *testing.T, set func(*config.Policies)) (*bundled, webhook.Options) {
	t.Helper()
	out := &bundled{kube: fake.NewClientset(), metrics: prometheus.NewRegistry(), log: &lines{}, events: record.NewFakeRecorder(16)}
	engine, err := policies.Load(policies.Library())
	if err != nil {
		t.Fatal(err)
	}
	counts, err := webhook.NewMetrics(out.metrics)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{settings: config.Default(), clients: live.Clients{Kube: out.kube}, log: funcr.New(out.log.add, funcr.Options{})}
	set(&s.settings.Policies)
	var options webhook.Options
	s.policies(&options, engine, counts)
	out.engine = engine
	out.handler = webhook.NewHandler(webhook.HandlerOptions{Reviewer: webhook.Stages(&preflight.Reviewer{Policies: engine}), View: enforcing{}, Log: s.log})
	return out, options
}

// try looks at the registry and answers with the Event that was written.
func (b *bundled) try(t *testing.T) string {
	t.Helper()
	b.log.taken()
	b.Try(t.Context(), b.events)
	select {
	case event := <-b.events.Events:
		return event
	default:
		return ""
	}
}

// ask has a job of 7 pods reviewed.
func (b *bundled) ask() admission.Response {
	const train = `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"seven","namespace":"vision","uid":"u7"},"spec":{"pytorchReplicaSpecs":` +
		`{"Worker":{"replicas":7,"template":{"spec":{"containers":[{"name":"pytorch","image":"registry.example.com/a:1"}]}}}}}}`
	return b.handler.Handle(context.Background(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Kind: metav1.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"}, Namespace: "vision", Name: "seven",
		Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(train)},
	}})
}

// gauge is a metric that the page of metrics has, with the value of its one label.
func (b *bundled) gauge(t *testing.T, name string) (label string, value float64) {
	t.Helper()
	all, err := b.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() != name {
			continue
		}
		if len(family.GetMetric()) != 1 {
			t.Errorf("%s has %d series; want one", name, len(family.GetMetric()))
		}
		for _, l := range family.GetMetric()[0].GetLabel() {
			label = l.GetValue()
		}
		return label, family.GetMetric()[0].GetGauge().GetValue()
	}
	t.Errorf("there is no metric %s", name)
	return "", 0
}

// inForce holds the three places that name the revision to the one that decides.
func (b *bundled) inForce(t *testing.T, when string) {
	t.Helper()
	revision := b.engine.Revision()
	if got := b.ask().AuditAnnotations["policy-revision"]; got != revision || revision == "" {
		t.Errorf("%s: the audit annotation says %q; want %q", when, got, revision)
	}
	if got, value := b.gauge(t, "signalbox_policy_revision"); got != revision || value != 1 {
		t.Errorf("%s: the metric says %q %g; want %q 1", when, got, value, revision)
	}
	if text := b.log.taken(); strings.Count(text, revision) != 1 {
		t.Errorf("%s: the log says\n%s\nwant one line with %s", when, text, revision)
	}
}

// doctored is what signalbox doctor says of the bundle.
func (b *bundled) doctored(t *testing.T) string {
	t.Helper()
	return fmt.Sprint(doctor.Policies(t.Context(), b.kube, webhook.Namespace))
}

// TestServeFollowsItsBundle: what is pushed under the tag decides. What is wrong with it is told in an Event, an
// annotation, a metric, the log and by doctor, and to nobody who submits a job; the last good set decides on.
func TestServeFollowsItsBundle(t *testing.T) {
	ours, theirs := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32)), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	r := registry{}
	at := httptest.NewServer(r)
	defer at.Close()
	repository := strings.TrimPrefix(at.URL, "http://") + "/platform/rules"
	of := func(text string) map[string]string { return map[string]string{"few.rego": text} }
	tested := of(fewPods("9"))
	tested["few_test.rego"] = "package signalbox.few_pods_test\n\nimport data.signalbox.few_pods\n\ntest_few if count(few_pods.deny) == 1 with input.job.pods as 8\n"
	good, _ := r.push("v1", packed(t, ours, of(fewPods("5")), of(fewPods("5"))))
	b := serveBundle(t, config.PolicyBundle{Reference: repository + ":v1", Key: keyFile(t, ours), PlainHTTP: true})
	if event := b.try(t); !strings.HasPrefix(event, "Normal PolicyBundleLoaded bundle "+good) || !strings.Contains(event, b.engine.Revision()) {
		t.Fatalf("Event %q, broken %q", event, b.Broken())
	}
	b.inForce(t, "loaded")
	first := b.ask()
	if first.Allowed || !strings.Contains(first.Result.Message, "7 pods; 5 are allowed") || !strings.Contains(b.doctored(t), b.engine.Revision()) {
		t.Errorf("denied %q, doctor %s", first.Result.Message, b.doctored(t))
	}
	revision := b.engine.Revision()
	for name, c := range map[string]struct {
		push func()
		want string
	}{
		"somebody else's signature":           {func() { r.push("v1", packed(t, theirs, of(fewPods("90")), of(fewPods("90")))) }, "failed to verify JWT signature"},
		"a file that is not as it was signed": {func() { r.push("v1", packed(t, ours, of(fewPods("9")), of(fewPods("90")))) }, "few.rego"},
		"a file that was not signed":          {func() { r.push("v1", packed(t, ours, of(fewPods("9")), tested)) }, "few_test.rego"},
		"a layer that was tampered with": {func() {
			_, layer := r.push("v1", packed(t, ours, of(fewPods("4")), of(fewPods("4"))))
			r[layer] = append(slices.Clone(r[layer][:len(r[layer])-1]), 'x')
		}, "mismatch"},
		"a set that does not compile": {func() {
			bad := of(fewPods("9") + "deny contains \"x\" if input.job.podz\n")
			r.push("v1", packed(t, ours, bad, bad))
		}, "podz"},
		"a set whose own test fails": {func() { r.push("v1", packed(t, ours, tested, tested)) }, "test_few"},
	} {
		c.push()
		event := b.try(t)
		if !strings.HasPrefix(event, "Warning PolicyBundleBroken ") || !strings.Contains(event, c.want) {
			t.Errorf("%s: Event %q; want %q in it", name, event, c.want)
		}
		m, err := b.kube.CoreV1().ConfigMaps(webhook.Namespace).Get(t.Context(), oci.StatusName, metav1.GetOptions{})
		if err != nil || !strings.Contains(m.Annotations[webhook.PolicyErrorAnnotation], c.want) || m.Data["revision"] != revision || m.Data["digest"] != good {
			t.Errorf("%s: the status is %v %v %v; want %q in it", name, m.Annotations, m.Data, err, c.want)
		}
		if _, broken := b.gauge(t, "signalbox_policy_bundle_broken"); broken != 1 {
			t.Errorf("%s: the metric says that the bundle is fine", name)
		}
		if text := b.doctored(t); !strings.Contains(text, "the last good set stays") || !strings.Contains(text, c.want) {
			t.Errorf("%s: doctor says %s; want %q in it", name, text, c.want)
		}
		b.inForce(t, name)
		if got := b.ask(); got.Result.Message != first.Result.Message || !slices.Equal(got.Warnings, first.Warnings) || !maps.Equal(got.AuditAnnotations, first.AuditAnnotations) {
			t.Errorf("%s: who submits a job hears of it: %q %q; before %q %q", name, got.Result.Message, got.Warnings, first.Result.Message, first.Warnings)
		}
	}
	tested["few_test.rego"] = strings.Replace(tested["few_test.rego"], "pods as 8", "pods as 10", 1)
	second, _ := r.push("v1", packed(t, ours, tested, tested))
	if event := b.try(t); !strings.HasPrefix(event, "Normal PolicyBundleLoaded bundle "+second) || b.engine.Revision() == revision {
		t.Errorf("Event %q", event)
	}
	b.inForce(t, "mended")
	if _, broken := b.gauge(t, "signalbox_policy_bundle_broken"); broken != 0 || !b.ask().Allowed {
		t.Errorf("broken %g, 7 of 9 pods allowed: %v", broken, b.ask().Allowed)
	}
	// By its digest the first is in force again, whatever the tag has come to name: signed or not.
	for _, key := range []string{"", keyFile(t, ours)} {
		d := serveBundle(t, config.PolicyBundle{Reference: repository + "@" + good, Key: key, PlainHTTP: true})
		if d.try(t); d.engine.Revision() != revision || d.ask().Allowed {
			t.Errorf("by digest: revision %s, broken %q; want %s", d.engine.Revision(), d.Broken(), revision)
		}
	}
	d := serveBundle(t, config.PolicyBundle{Reference: repository + "@" + good, Key: keyFile(t, theirs), PlainHTTP: true})
	if d.try(t); !strings.Contains(d.Broken(), "failed to verify JWT signature") {
		t.Errorf("by digest, with the wrong key: %q", d.Broken())
	}
}

// TestServeFollowsConfigMaps: the same of policies in ConfigMaps, as they are edited.
func TestServeFollowsConfigMaps(t *testing.T) {
	b, options := served(t, func(*config.Policies) {})
	stored := b.kube.CoreV1().ConfigMaps(webhook.Namespace)
	put := func(text string) {
		t.Helper()
		m := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: webhook.Namespace, Name: "team-rules", Labels: map[string]string{webhook.PolicyLabel: "true"}},
			Data:       map[string]string{"few.rego": text},
		}
		_, err := stored.Update(t.Context(), m, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			_, err = stored.Create(t.Context(), m, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	events := func() (out string) {
		all, err := b.kube.CoreV1().Events(webhook.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all.Items {
			out += e.Type + " " + e.Reason + " " + e.InvolvedObject.Name + ": " + e.Message + "\n"
		}
		return out
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		poll := func(context.Context) (bool, error) { return ok(), nil }
		if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, poll); err != nil {
			t.Fatalf("it did not come about that %s; Events:\n%s", what, events())
		}
	}
	library := b.engine.Revision()
	put(fewPods("5"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = options.Policies.Start(ctx) }()
	defer func() { stop(); <-ended }()
	until("the set is in force", func() bool { return options.Policies.Synced() && b.engine.Revision() != library })
	b.inForce(t, "loaded")
	first := b.ask()
	if first.Allowed || !strings.Contains(first.Result.Message, "7 pods; 5 are allowed") {
		t.Errorf("denied %q", first.Result.Message)
	}
	put(fewPods("9") + "deny contains \"x\" if input.job.podz\n")
	const want = "Warning PolicyBroken team-rules: the policies do not load, the last good set stays: "
	until("an Event says so", func() bool { return strings.Contains(events(), want) })
	b.inForce(t, "broken")
	m, err := stored.Get(t.Context(), "team-rules", metav1.GetOptions{})
	if err != nil || !strings.Contains(m.Annotations[webhook.PolicyErrorAnnotation], "podz") || !strings.Contains(b.doctored(t), "team-rules does not load") {
		t.Errorf("annotations %v %v, doctor %s", m.Annotations, err, b.doctored(t))
	}
	if got := b.ask(); got.Result.Message != first.Result.Message || !slices.Equal(got.Warnings, first.Warnings) {
		t.Errorf("who submits a job hears of it: %q %q", got.Result.Message, got.Warnings)
	}
	put(fewPods("9"))
	until("it is mended", func() bool { return options.Policies.Broken() == "" && b.ask().Allowed })
}
