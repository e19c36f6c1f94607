package policies_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/signalbox-dev/signalbox/policies"
)

// bundled is an archive as opa build and opa sign write it.
func bundled(t *testing.T, key crypto.Signer, algorithm string, b bundle.Bundle) []byte {
	t.Helper()
	b.Manifest.Init()
	if b.Data == nil {
		b.Data = map[string]any{}
	}
	for i := range b.Modules {
		b.Modules[i].URL = b.Modules[i].Path
	}
	if key != nil {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		if err := b.GenerateSignature(bundle.NewSigningConfig(string(private), algorithm, ""), "key", true); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).UseModulePath(true).DisableFormat(true).Write(b); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func public(t *testing.T, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

func fine() bundle.Bundle {
	return bundle.Bundle{
		Modules: []bundle.ModuleFile{{Path: "/team/a.rego", Raw: []byte(policy("a", `deny contains "no" if input.job.gpus > data.config.most`))}},
		Data:    map[string]any{"config": map[string]any{"most": 8}, "testdata": map[string]any{"a": 1}},
	}
}

// TestABundleIsReadAsOPAWritesIt: with a signature of every kind of key, and without one where none is asked for.
func TestABundleIsReadAsOPAWritesIt(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for algorithm, key := range map[string]crypto.Signer{"RS256": rsaKey, "ES256": ecKey, "EdDSA": edKey, "": nil} {
		var with []byte
		if key != nil {
			with = public(t, key)
		}
		fsys, err := policies.ReadBundle(bundled(t, key, algorithm, fine()), with)
		if err != nil {
			t.Errorf("%s: %v", algorithm, err)
			continue
		}
		var names []string
		_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, _ error) error {
			if !d.IsDir() {
				names = append(names, name)
			}
			return nil
		})
		if diff := cmp.Diff([]string{"@bundle/data.json", "@bundle/team/a.rego"}, slices.Sorted(slices.Values(names))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", algorithm, diff)
		}
		if o, err := policies.Load(fsys); err != nil || len(decide(t, o, input("enforce")).Rulings) != 1 {
			t.Errorf("%s: %v; want one ruling", algorithm, err)
		}
	}
}

func TestABundleIsRefused(t *testing.T) {
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	_, other, _ := ed25519.GenerateKey(rand.Reader)
	large := fine()
	large.Modules = append(large.Modules, bundle.ModuleFile{Path: "/b.rego", Raw: []byte("package signalbox.lib.b\n#" + strings.Repeat("x", 32<<20))})
	wasm := fine()
	wasm.WasmModules = []bundle.WasmModuleFile{{Path: "/policy.wasm", Raw: []byte("\x00asm")}}
	wasm.Manifest.WasmResolvers = []bundle.WasmResolver{{Module: "/policy.wasm", Entrypoint: "a/deny"}}
	cases := map[string]struct {
		archive, key []byte
		want         string
	}{
		"nobody has signed it":              {bundled(t, nil, "", fine()), public(t, key), "bundle missing .signatures.json file"},
		"somebody else has signed it":       {bundled(t, other, "EdDSA", fine()), public(t, key), "read bundle: "},
		"the key is none":                   {bundled(t, key, "EdDSA", fine()), []byte("key"), "read the key of bundles: it is no PEM"},
		"it is no archive":                  {[]byte("hello"), nil, "read bundle: "},
		"it unpacks to more than the bound": {bundled(t, nil, "", large), nil, "it unpacks to more than 32 MiB"},
		"it is compiled":                    {bundled(t, nil, "", wasm), nil, "it holds compiled policies"},
		"it is empty":                       {bundled(t, nil, "", bundle.Bundle{}), nil, "it holds neither policies nor data"},
		"it is no Rego":                     {bundled(t, nil, "", bundle.Bundle{Modules: []bundle.ModuleFile{{Path: "/a.rego", Raw: []byte("deny contains")}}}), nil, "read bundle: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := policies.ReadBundle(tc.archive, tc.key)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v; want %s", err, tc.want)
			}
		})
	}
}

// TestSourcesAreOneSet: what one source brings is taken with what the others have brought, and only if its tests hold.
func TestSourcesAreOneSet(t *testing.T) {
	o := load(t)
	all := policies.NewSources(o, policies.Library())
	maps, registry := all.Source("ConfigMaps"), all.Source("bundle")
	good := files("a.rego", policy("a", `deny contains "no" if input.job.gpus > 64`))
	if err := maps.Swap(good); err != nil {
		t.Fatal(err)
	}
	before := o.Revision()
	rule := policy("b", `deny contains "never" if input.job.gpus > 65`)
	for name, tc := range map[string]struct{ test, want string }{
		"a test fails":        {"package signalbox.b_test\n\nimport data.signalbox.b\n\ntest_it if count(b.deny) == 1 with input as {\"job\": {\"gpus\": 65}}", "tests of policies fail: b_test.rego:5 test_it: it is not true"},
		"a test is no Rego":   {"package x\n\ntest_it if {", "load policy b_test.rego:"},
		"a test is undefined": {"package signalbox.b_test\n\ntest_it if data.signalbox.b.whatever(1)", "compile tests of policies: b_test.rego:3: "},
	} {
		if err := registry.Swap(files("b.rego", rule, "b_test.rego", tc.test)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v; want %s", name, err, tc.want)
		}
		if o.Revision() != before || registry.Revision() != before || len(decide(t, o, input("enforce")).Rulings) != 1 {
			t.Errorf("%s: the last good set did not stay", name)
		}
	}
	if err := registry.Swap(files("b.rego", rule, "b_test.rego", "package signalbox.b_test\n\nimport data.signalbox.b\n\ntest_it if count(b.deny) == 1 with input as {\"job\": {\"gpus\": 66}}")); err != nil {
		t.Fatal(err)
	}
	if n := len(decide(t, o, input("enforce")).Rulings); n != 2 || o.Revision() == before {
		t.Errorf("%d rulings; want those of both sources", n)
	}
	if err := maps.Swap(files("other.rego", policy("b", `deny contains "no"`))); err == nil || !strings.Contains(err.Error(), "package signalbox.b is in") {
		t.Errorf("%v; want that the bundle has the package", err)
	}
	if n := len(decide(t, o, input("enforce")).Rulings); n != 2 {
		t.Errorf("%d rulings after a set that does not load; want 2", n)
	}
	if err := maps.Swap(); err != nil || len(decide(t, o, input("enforce")).Rulings) != 1 {
		t.Errorf("%v; want the rulings of the bundle alone", err)
	}
}

// TestNoModuleOfABundleIsPassedOver: folders whose names begin with two dots are those of a mounted ConfigMap, which are not read.
func TestNoModuleOfABundleIsPassedOver(t *testing.T) {
	for place, want := range map[string]string{"/../a.rego": "", "/team/../../a.rego": "", "/..team/a.rego": "is not read", "/team/..x/b/a.rego": "is not read"} {
		b := fine()
		b.Modules[0].Path = place
		files, err := policies.ReadBundle(bundled(t, nil, "", b), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", place, err, want)
		}
		if err != nil {
			continue
		}
		if o, err := policies.Load(files); err != nil || len(o.Docs()) != 1 {
			t.Errorf("%s: %v, and no policy", place, err)
		}
	}
}
