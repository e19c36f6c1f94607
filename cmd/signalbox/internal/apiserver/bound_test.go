package apiserver

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

type answering string

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// A server that sends without end is one clear error.
func TestAnswersAndListsAreBounded(t *testing.T) {
	for path, tc := range map[string]struct {
		answer string
		held   uint64
		want   string // of the error; empty: it is read to its end
	}{
		"/api/v1/pods":                             {"12345678", 0, ""},
		"/api/v1/nodes":                            {"123456789", 0, "the answer to /api/v1/nodes has more than 0 MiB"},
		"/api/v1/pods?watch=true":                  {"123456789", 0, ""},
		"/api/v1/namespaces/ml/pods/a/log":         {"123456789", 0, ""},
		"/api/v1/pods?limit=500&continue=more":     {"1", 0, "says that there are more: ask for one namespace"},
		"/api/v1/pods?limit=500&continue=and-more": {"1", 1 << 40, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://cluster"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := boundedTransport{answering(tc.answer), 8, tc.held, heldNow}.RoundTrip(r)
		var text []byte
		if err == nil {
			text, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		switch {
		case tc.want == "" && (err != nil || string(text) != tc.answer):
			t.Errorf("%s: %q, %v; want all of it", path, text, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v; want %q", path, err, tc.want)
		}
	}
}
