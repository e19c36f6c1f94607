package client

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestClients(t *testing.T) {
	server := httptest.NewTLSServer(http.RedirectHandler("/elsewhere", http.StatusFound))
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		caFile string
		want   int // zero: it is not called
	}{
		"a redirect is not followed":             {ca, http.StatusFound},
		"the system does not know a server's CA": {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(tc.caFile, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			if resp, err := c.Get(server.URL); err == nil {
				got = resp.StatusCode
				resp.Body.Close()
			}
			if got != tc.want {
				t.Errorf("it answers %d, want %d", got, tc.want)
			}
		})
	}
}
