package oci_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/policies/oci"
)

// served is a registry of one repository, team/policies, as far as pulling goes
// (https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md#pull).
type served struct {
	*httptest.Server
	mu    sync.Mutex
	blobs map[string][]byte
	types map[string]string // of manifests
	tags  map[string]string
	user  string // "name:password"; empty: anybody may pull
	asked int    // for manifests
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{blobs: map[string][]byte{}, types: map[string]string{}, tags: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(s.Close)
	return s
}

func (s *served) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user != "" && r.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(s.user)) {
		w.Header().Set("WWW-Authenticate", `Basic realm="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/v2/team/policies/")
	what, reference, _ := strings.Cut(rest, "/")
	if tagged := s.tags[reference]; tagged != "" {
		reference = tagged
	}
	text, there := s.blobs[reference]
	if !ok || !there || (what == "manifests") != (s.types[reference] != "") {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if what == "manifests" {
		s.asked++
		w.Header().Set("Content-Type", s.types[reference])
	}
	w.Header().Set("Docker-Content-Digest", reference)
	http.ServeContent(w, r, "", metav1.Now().Time, bytes.NewReader(text))
}

func (s *served) put(text []byte, manifest string) ocispec.Descriptor {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := digest.FromBytes(text)
	s.blobs[d.String()] = text
	if manifest != "" {
		s.types[d.String()] = manifest
	}
	return ocispec.Descriptor{Digest: d, Size: int64(len(text)), MediaType: ocispec.MediaTypeImageLayerGzip}
}

// push puts a bundle under a tag, and answers with its digest.
func (s *served) push(t *testing.T, tag string, layers ...[]byte) string {
	t.Helper()
	config := s.put([]byte("{}"), "")
	config.MediaType = ocispec.MediaTypeImageConfig
	m := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: config}
	m.SchemaVersion = 2
	for _, l := range layers {
		m.Layers = append(m.Layers, s.put(l, ""))
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d := s.put(text, ocispec.MediaTypeImageManifest).Digest.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tags[tag] = d
	return d
}

func (s *served) reference(of string) string {
	return strings.TrimPrefix(s.URL, "http://") + "/team/policies" + of
}

// signer writes bundles and signs them.
type signer struct {
	key    ed25519.PrivateKey
	public string // file
}

func newSigner(t *testing.T) signer {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return signer{private, file}
}

const rule = `# METADATA
# title: a rule
# description: Why it is there.
# custom: {remedy: Do it otherwise.}
package signalbox.a

deny contains "no" if input.job.gpus > LIMIT
`

func (s signer) bundle(t *testing.T, limit, test string) []byte {
	t.Helper()
	b := bundle.Bundle{Data: map[string]any{}, Modules: []bundle.ModuleFile{{URL: "/a.rego", Path: "/a.rego", Raw: []byte(strings.ReplaceAll(rule, "LIMIT", limit))}}}
	if test != "" {
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: "/a_test.rego", Path: "/a_test.rego", Raw: []byte("package signalbox.a_test\n\ntest_it if " + test)})
	}
	b.Manifest.Init()
	der, err := x509.MarshalPKCS8PrivateKey(s.key)
	if err != nil {
		t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err := b.GenerateSignature(bundle.NewSigningConfig(string(private), "EdDSA", ""), "key", true); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).UseModulePath(true).DisableFormat(true).Write(b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// follower is one in a namespace, with what it tells.
type follower struct {
	*oci.Follower
	set    *policies.OPA
	kube   *fake.Clientset
	events *record.FakeRecorder
	errs   []error
}

func follow(t *testing.T, reference, key string, more func(*oci.Options)) *follower {
	t.Helper()
	f := &follower{set: &policies.OPA{}, kube: fake.NewClientset(), events: record.NewFakeRecorder(16)}
	o := oci.Options{
		Place: oci.Place{Reference: reference, PlainHTTP: true}, Key: key, Into: policies.NewSources(f.set, fstest.MapFS{}).Source("bundle"),
		Client: f.kube, Namespace: "signalbox-system", Label: "signalbox.dev/policy", Annotation: "signalbox.dev/policy-error",
		Log: logr.Discard(), Loaded: func(err error) { f.errs = append(f.errs, err) },
	}
	if more != nil {
		more(&o)
	}
	f.Follower = oci.New(o)
	return f
}

func (f *follower) try(t *testing.T) (event string) {
	t.Helper()
	f.Try(t.Context(), f.events)
	select {
	case event = <-f.events.Events:
	default:
	}
	return event
}

func (f *follower) status(t *testing.T) (data map[string]string, why string) {
	t.Helper()
	m, err := f.kube.CoreV1().ConfigMaps("signalbox-system").Get(t.Context(), oci.StatusName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Labels["signalbox.dev/policy"] != oci.StatusMark {
		t.Errorf("labels %v: the status would be loaded as policies", m.Labels)
	}
	return m.Data, m.Annotations["signalbox.dev/policy-error"]
}

// TestATagIsFollowed: what is pushed is in force; what is wrong leaves the last good set, and says so once;
// what is right again takes the word back.
func TestATagIsFollowed(t *testing.T) {
	s, sign := serve(t), newSigner(t)
	f := follow(t, s.reference(":v1"), sign.public, nil)
	first := s.push(t, "v1", sign.bundle(t, "8", "1 == 1"))
	if event := f.try(t); !strings.HasPrefix(event, "Normal PolicyBundleLoaded bundle "+first+" is in force; revision sha256:") || !f.Synced() {
		t.Errorf("event %q", event)
	}
	good := f.set.Revision()
	data, why := f.status(t)
	want := map[string]string{"bundle": s.reference(":v1"), "digest": first, "revision": good}
	if diff := cmp.Diff(want, data); diff != "" || why != "" || good == "" {
		t.Errorf("status: %s %s", diff, why)
	}
	if event := f.try(t); event != "" {
		t.Errorf("event %q though nothing changed", event)
	}
	for _, broken := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"its own test fails", sign.bundle(t, "16", "1 == 2"), "tests of policies fail: @bundle/a_test.rego:3 test_it: it is not true"},
		{"a field is misspelt", bytes.Clone(misspelt(t, sign)), "undefined ref: input.job.gpuz"},
		{"somebody else signed it", newSigner(t).bundle(t, "16", ""), "read bundle: "},
		{"it is no bundle", []byte("hello"), "read bundle: unexpected EOF"},
	} {
		s.push(t, "v1", broken.archive)
		if event := f.try(t); !strings.HasPrefix(event, "Warning PolicyBundleBroken the bundle does not load, the last good set stays: ") || !strings.Contains(event, broken.want) {
			t.Errorf("%s: event %q; want %s", broken.name, event, broken.want)
		}
		data, why := f.status(t)
		if f.set.Revision() != good || data["digest"] != first || !strings.Contains(why, broken.want) || !strings.Contains(f.Broken(), broken.want) {
			t.Errorf("%s: revision %s, status %v %q", broken.name, f.set.Revision(), data, why)
		}
		if event := f.try(t); event != "" {
			t.Errorf("%s: said twice: %q", broken.name, event)
		}
	}
	second := s.push(t, "v1", sign.bundle(t, "16", ""))
	if event := f.try(t); !strings.HasPrefix(event, "Normal PolicyBundleLoaded bundle "+second) || f.set.Revision() == good || f.Broken() != "" {
		t.Errorf("event %q", event)
	}
	if _, why := f.status(t); why != "" {
		t.Errorf("the annotation stays: %s", why)
	}
	failed := 0
	for _, err := range f.errs {
		if err != nil {
			failed++
		}
	}
	if failed != 8 || len(f.errs) != 11 {
		t.Errorf("%d of %d looks were told as failed; want 8 of 11", failed, len(f.errs))
	}
}

func misspelt(t *testing.T, s signer) []byte {
	t.Helper()
	return s.bundle(t, "8\n\ndeny contains \"z\" if input.job.gpuz == 1", "")
}

// TestADigestIsFetchedOnce: nobody has to sign what a digest names, and nobody can move it.
func TestADigestIsFetchedOnce(t *testing.T) {
	s, sign := serve(t), newSigner(t)
	first := s.push(t, "v1", sign.bundle(t, "8", ""))
	f := follow(t, s.reference("@"+first), "", nil)
	s.push(t, "v1", sign.bundle(t, "16", ""))
	f.try(t)
	good := f.set.Revision()
	if data, why := f.status(t); data["digest"] != first || why != "" {
		t.Errorf("status %v %s", data, why)
	}
	if f.try(t); f.set.Revision() != good {
		t.Error("it has changed")
	}
	s.mu.Lock()
	s.blobs[first] = append(s.blobs[first], ' ') // the registry lies
	s.mu.Unlock()
	g := follow(t, s.reference("@"+first), "", nil)
	if g.try(t); g.Broken() == "" || g.set.Revision() != "" {
		t.Errorf("%q, revision %s; want that it is not what the digest says", g.Broken(), g.set.Revision())
	}
}

func TestWhatIsNotFetched(t *testing.T) {
	s, sign := serve(t), newSigner(t)
	s.push(t, "two", sign.bundle(t, "8", ""), sign.bundle(t, "9", ""))
	s.push(t, "none")
	s.push(t, "large", append(sign.bundle(t, "8", ""), make([]byte, 16<<20)...))
	big := s.put(bytes.Repeat([]byte(" "), 1<<20+1), ocispec.MediaTypeImageManifest)
	s.tags["manifest"] = big.Digest.String()
	for tag, want := range map[string]string{
		"two": "it has 2 layers that are a compressed tar", "none": "it has 0 layers", "large": "at most 16777216 are read",
		"manifest": "it has 1048577 bytes; at most 1048576 are read", "away": "look up ",
	} {
		f := follow(t, s.reference(":"+tag), sign.public, nil)
		if f.try(t); !strings.Contains(f.Broken(), want) {
			t.Errorf("%s: %q; want %s", tag, f.Broken(), want)
		}
	}
	for reference, want := range map[string]string{"policies": "names no bundle", "r.example.com/policies": "has neither tag nor digest", "r.example.com/p@sha256:1": "names no bundle"} {
		if err := oci.Check(reference); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", reference, err, want)
		}
	}
}

// TestARegistryMayAskWhoPulls: with the credentials of a file, and without them it says that it may not.
func TestARegistryMayAskWhoPulls(t *testing.T) {
	s, sign := serve(t), newSigner(t)
	s.push(t, "v1", sign.bundle(t, "8", ""))
	s.user = "robot:sesame-0123"
	f := follow(t, s.reference(":v1"), sign.public, nil)
	if f.try(t); !strings.Contains(f.Broken(), "look up ") {
		t.Errorf("%q", f.Broken())
	}
	file := filepath.Join(t.TempDir(), "config.json")
	auths := `{"auths": {"` + strings.TrimPrefix(s.URL, "http://") + `": {"auth": "` + base64.StdEncoding.EncodeToString([]byte(s.user)) + `"}}}`
	if err := os.WriteFile(file, []byte(auths), 0o600); err != nil {
		t.Fatal(err)
	}
	f = follow(t, s.reference(":v1"), sign.public, func(o *oci.Options) { o.Credentials = file })
	if f.try(t); f.Broken() != "" || f.set.Revision() == "" {
		t.Errorf("%q", f.Broken())
	}
	for name, change := range map[string]func(*oci.Options){
		"credentials that are not there": func(o *oci.Options) { o.Credentials = file + "x" },
		"certificates that are none":     func(o *oci.Options) { o.CA = file },
		"a key that is not there":        func(o *oci.Options) { o.Credentials, o.Key = file, file+"x" },
	} {
		f := follow(t, s.reference(":v1"), sign.public, change)
		if f.try(t); f.Broken() == "" || strings.Contains(f.Broken(), "sesame") {
			t.Errorf("%s: %q", name, f.Broken())
		}
	}
	if len(f.errs) != 1 || errors.Join(f.errs...) != nil {
		t.Errorf("%v", f.errs)
	}
}
