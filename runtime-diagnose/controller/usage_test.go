package controller

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/config"
)

// TestAPrometheusThatSendsElsewhereGetsNoToken: whoever answers in its place, or in front of it, may name another host.
func TestAPrometheusThatSendsElsewhereGetsNoToken(t *testing.T) {
	var got []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t0ken"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ address, want string }{
		{server.URL, "bad response code 307"},
		{"http://hf_token:password@127.0.0.1:1/?key=s3cr3t", "connection refused"},
	} {
		ask, err := usage(config.Prometheus{URL: tc.address, Query: "up", TokenFile: token})
		if err != nil {
			t.Fatal(err)
		}
		_, err = ask(t.Context(), UsageOf{Namespace: "ml", Pods: []string{"a"}, Over: time.Minute})
		if len(got) > 0 {
			t.Errorf("%q is sent to another host", got)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hf_token") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("error is %v; want one with %q and without secrets", err, tc.want)
		}
	}
}
