package input

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A server may write anything beside the number of its status, and a terminal would obey it.
func TestTheStatusOfAnAddressIsSaidInOurWords(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = conn.Write([]byte("HTTP/1.1 404 \x1b[2J\u202efine\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
		_ = conn.Close()
	}))
	defer server.Close()
	if _, err := fetch(t.Context(), server.URL); err == nil || !strings.Contains(err.Error(), "answers 404 Not Found") || strings.ContainsAny(err.Error(), "\x1b\u202e") {
		t.Errorf("%q; want the number in our words", err)
	}
}
