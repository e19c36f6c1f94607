package llm

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What a server says of an error stands in an Event: it is no more than a sentence, and nothing that a terminal obeys.
func TestAnErrorOfAHostileServerIsShownNotObeyed(t *testing.T) {
	const obeyed = "\x1b[31mred\x1b]8;;https://a.example\x07link\x1b]8;;\x07\u202egpj\u202c\u009b31m\u2028\x7f"
	for name, answer := range map[string]http.HandlerFunc{
		"an error of its own": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"type":"x","code":"y","message":"` + strings.NewReplacer("\x1b", `\u001b`, "\x07", `\u0007`, "\x7f", `\u007f`).Replace(obeyed) + `"}}`))
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = w.Write([]byte("<html>" + obeyed + "\xff"))
		},
		"its status": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("HTTP/1.1 400 " + strings.ReplaceAll(obeyed, "\n", "") + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
			_ = conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			c, err := New(Profile{Provider: "openai", BaseURL: server.URL + "/v1", Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Complete(t.Context(), Request{User: "why?"})
			if err == nil {
				t.Fatal("it is no error")
			}
			text := err.Error()
			if len(text) > 400 || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || strings.ContainsRune("\u202e\u202c\u2028", r) }) {
				t.Errorf("the error is %q", text)
			}
		})
	}
}
