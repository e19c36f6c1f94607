package oci

import (
	"net/http"
	"strings"
	"testing"
)

// A registry keeps its layers elsewhere, and may not send us anywhere.
func TestARegistryDoesNotSendUsAnywhere(t *testing.T) {
	for name, tc := range map[string]struct {
		method, from, to string
		before           int
		want             string // of the error; empty: it is followed
	}{
		"a layer in a bucket":               {"GET", "https://registry.example/v2/p/blobs/x", "https://bucket.example/x?signed", 1, ""},
		"nine times":                        {"GET", "https://registry.example/v2/", "https://bucket.example/", 9, ""},
		"ten times":                         {"GET", "https://registry.example/v2/", "https://bucket.example/", 10, "sent on 10 times"},
		"in the clear":                      {"GET", "https://registry.example/v2/", "http://bucket.example/", 1, "from https to http"},
		"a registry in the clear":           {"GET", "http://localhost:5000/v2/", "http://localhost:5000/v3/", 1, ""},
		"a password":                        {"POST", "https://registry.example/token", "https://other.example/token", 1, "what holds credentials"},
		"the cloud's metadata":              {"GET", "https://registry.example/v2/", "https://169.254.169.254/latest", 1, "sends to 169.254.169.254"},
		"the pod itself":                    {"GET", "https://registry.example/v2/", "https://127.0.0.1:8082/", 1, "sends to 127.0.0.1"},
		"the pod itself, in IPv6":           {"GET", "https://registry.example/v2/", "https://[::1]:8082/", 1, "sends to ::1"},
		"the metadata, in IPv6":             {"GET", "https://registry.example/v2/", "https://[::ffff:169.254.169.254]/", 1, "sends to 169.254.169.254"},
		"a Service":                         {"GET", "https://registry.example/v2/", "https://10.96.0.1/", 1, "sends to 10.96.0.1"},
		"a local address of IPv6":           {"GET", "https://registry.example/v2/", "https://[fd00::1]/", 1, "sends to fd00::1"},
		"no address":                        {"GET", "https://registry.example/v2/", "https://0.0.0.0/", 1, "sends to 0.0.0.0"},
		"a registry of the cluster, itself": {"GET", "https://10.0.0.9:5000/v2/", "https://10.0.0.9:5000/v3/", 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			first, err := http.NewRequestWithContext(t.Context(), tc.method, tc.from, nil)
			if err != nil {
				t.Fatal(err)
			}
			to, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tc.to, nil)
			if err != nil {
				t.Fatal(err)
			}
			via := make([]*http.Request, tc.before)
			for i := range via {
				via[i] = first
			}
			switch err := redirected(to, via); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("%v; want %q", err, tc.want)
			}
		})
	}
}
