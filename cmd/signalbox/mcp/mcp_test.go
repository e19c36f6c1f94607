package mcp

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/loopback"
)

func TestOnlyWhoKnowsTheTokenIsServed(t *testing.T) {
	served := tokened("right", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for name, tc := range map[string]struct {
		header http.Header
		want   int
	}{
		"no token":          {http.Header{}, http.StatusUnauthorized},
		"another token":     {http.Header{"Authorization": {"Bearer wrong"}}, http.StatusUnauthorized},
		"the token":         {http.Header{"Authorization": {"Bearer right"}}, http.StatusOK},
		"a page of another": {http.Header{"Authorization": {"Bearer right"}, "Origin": {"https://example.org"}}, http.StatusForbidden},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8377/", nil)
		maps.Copy(r.Header, tc.header)
		w := httptest.NewRecorder()
		served.ServeHTTP(w, r)
		if w.Code != tc.want {
			t.Errorf("%s: %d, want %d", name, w.Code, tc.want)
		}
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.org:80", "127.0.0.1"} {
		if at, err := loopback.Listen(t.Context(), address); err == nil {
			_ = at.Close()
			t.Errorf("%s may be listened at", address)
		}
	}
}

// TestIdleSessionsEnd lets a client go without a word: the server keeps nothing of it.
func TestIdleSessionsEnd(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	web := httptest.NewServer(overHTTP(server, "right", 20*time.Millisecond))
	defer web.Close()
	// By hand: a client would ask again, perhaps too late.
	const hello = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(hello))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer right")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(answer.Body) // what was read is shown
	_ = answer.Body.Close()            // read
	if answer.Header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("no session was begun: %s %s", answer.Status, said)
	}
	late := time.After(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		left := 0
		for range server.Sessions() {
			left++
		}
		if left == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%d sessions are kept", left)
		}
	}
}
