package llm

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Of an answer the beginning is kept, and it is said that it was cut; of a body nothing above the bound is read.
func TestAnswersAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		said, more int // bytes of the answer, and of the body beside it
		want       string
	}{
		"as much as is kept":      {MaxText, 0, "32768 bytes, cut: false"},
		"a byte more":             {MaxText + 1, 0, "32768 bytes, cut: true"},
		"more than a body may be": {9, maxBody, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"x":"%s","model":"m","choices":[{"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}]}`, strings.Repeat("y", tc.more), strings.Repeat("a", tc.said))
			}))
			defer server.Close()
			got := "error"
			if r, err := ask(t, Profile{Provider: "openai", BaseURL: server.URL, Model: "m", APIKey: "k"}); err == nil {
				got = fmt.Sprintf("%d bytes, cut: %t", len(r.Text), r.Cut)
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
