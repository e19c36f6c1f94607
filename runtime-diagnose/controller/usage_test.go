package controller

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// Whoever answers in the place of a Prometheus may send what it likes: it takes no room, and nothing of it is believed
// that is no number.
func TestAHostilePrometheusIsBounded(t *testing.T) {
	value := func(name, number string) string {
		return fmt.Sprintf(`{"metric":{"pod":%q},"value":[1,%q]}`, name, number)
	}
	answer := func(series ...string) string {
		return `{"status":"success","data":{"resultType":"vector","result":[` + strings.Join(series, ",") + `]}}`
	}
	var sent atomic.Int64
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   Usage
		err    string
	}{
		"no numbers": {sends(answer(value("a", "NaN"), value("b", "+Inf"), value("c", "-Inf"), value("d", "7"))), Usage{GPU: map[string]float64{"d": 7}}, ""},
		"an answer without an end": {func(w http.ResponseWriter, r *http.Request) {
			sent.Store(0)
			for part := []byte(strings.Repeat(" ", 1<<16)); r.Context().Err() == nil; {
				n, err := w.Write(part)
				if sent.Add(int64(n)); err != nil || sent.Load() > 256<<20 {
					return
				}
			}
		}, Usage{}, "the answer has more than 8 MiB"},
		"as much as may be":              {sends(answer(value("d", "7")) + strings.Repeat(" ", 8<<20-len(answer(value("d", "7"))))), Usage{GPU: map[string]float64{"d": 7}}, ""},
		"a byte more":                    {sends(answer(value("d", "7")) + strings.Repeat(" ", 8<<20-len(answer(value("d", "7")))+1)), Usage{}, "the answer has more than 8 MiB"},
		"an error that a terminal obeys": {sends(`{"status":"error","errorType":"bad_data","error":"\u001b[31mred\u202e\n` + strings.Repeat("x", 1<<20) + `"}`), Usage{}, "red xxx"},
		"a label that a terminal obeys":  {sends(answer(`{"metric":{"job":"\u001b]8;;https://a.example\u0007` + strings.Repeat("y", 1<<20) + `"},"value":[1,"7"]}`)), Usage{}, "a value without pod or nodename"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tc.answer)
			defer server.Close()
			ask, err := usage(config.Prometheus{URL: server.URL, Query: "up"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ask(t.Context(), UsageOf{Namespace: "ml", Pods: []string{"a", "b", "c", "d"}, Over: time.Minute})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("use (-want +got):\n%s", diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error is %.300v; want %q", err, tc.err)
			}
			if err != nil && (len(err.Error()) > 1024 || strings.ContainsAny(err.Error(), "\x1b\u202e\n\a")) {
				t.Errorf("the error has %d bytes: %.300q; want one short line", len(err.Error()), err)
			}
			if sent.Load() > 128<<20 {
				t.Errorf("%d MiB are taken", sent.Swap(0)>>20)
			}
		})
	}
}

// sends answers a text, whatever is asked.
func sends(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}
