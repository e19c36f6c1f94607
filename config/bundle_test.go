package config_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/config"
)

func TestABundleHasToBeNamedAndTrusted(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	cases := map[string]struct{ bundle, want string }{
		"none":                      {"{}", ""},
		"a digest":                  {"{reference: 'r.example.com/p@" + digest + "'}", ""},
		"a tag with a key":          {"{reference: 'r.example.com/p:v1', key: /k.pem}", ""},
		"a tag without a key":       {"{reference: 'r.example.com/p:v1'}", "policies.bundle.key is empty"},
		"neither tag nor digest":    {"{reference: r.example.com/p, key: /k.pem}", "policies.bundle.reference is"},
		"no registry":               {"{reference: 'p:v1', key: /k.pem}", "policies.bundle.reference is"},
		"a digest of another kind":  {"{reference: 'r.example.com/p@md5:a'}", "policies.bundle.reference is"},
		"a short interval":          {"{reference: 'r.example.com/p:v1', key: /k.pem, interval: 9s}", "policies.bundle.interval is 9s; expected 10s or more"},
		"without TLS, far away":     {"{reference: 'r.example.com/p:v1', key: /k.pem, plainHTTP: true}", "is no loopback address"},
		"without TLS, on loopback":  {"{reference: '127.0.0.1:5000/p:v1', key: /k.pem, plainHTTP: true}", ""},
		"without TLS, on localhost": {"{reference: 'localhost:5000/p:v1', key: /k.pem, plainHTTP: true}", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := config.Read(strings.NewReader("policies: {bundle: " + tc.bundle + "}"))
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v; want %q", err, tc.want)
			}
		})
	}
}
