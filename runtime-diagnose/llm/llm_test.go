package llm

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/test/fakellm"
)

const prompt = "[pod/worker-3/trainer#7] torch.OutOfMemoryError: CUDA out of memory"

func ask(t *testing.T, p Profile) (Response, error) {
	t.Helper()
	c, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c.Complete(t.Context(), Request{System: "cite", User: prompt, MaxTokens: 99})
}

// What a server has refused it refuses again; what was too much for it may go well later.
func TestWhatMaySucceedLater(t *testing.T) {
	for status, want := range map[int]bool{400: false, 401: false, 403: false, 404: false, 413: false, 408: true, 429: true, 500: true, 502: true, 503: true, 200: true} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(`{"error": {"message": "no"}}`))
		}))
		_, err := ask(t, Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
		after, got := Retry(err)
		if err == nil || got != want || status >= 400 && after != 7*time.Second {
			t.Errorf("%d: asked again %v after %s, want %v after 7s (%v)", status, got, after, want, err)
		}
		server.Close()
	}
	_, err := ask(t, Profile{Provider: "openai", BaseURL: "http://127.0.0.1:1", Model: "m"})
	if _, got := Retry(err); !got {
		t.Errorf("nobody listens: not asked again (%v)", err)
	}
	if _, got := Retry(ErrOff); got {
		t.Error("without a model: asked again")
	}
	if got := readRetryAfter("Fri, 20 Nov 2026 08:01:00 GMT", time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)); got != time.Minute {
		t.Errorf("a date a minute from now is %s", got)
	}
}

func start(t *testing.T) *fakellm.Server {
	t.Helper()
	s, err := fakellm.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpenAIAsksWithKeyAndTemperatureZero(t *testing.T) {
	s := start(t)
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte("sk-one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := Profile{Provider: "openai", BaseURL: s.URL + "/", Model: fakellm.Grounded, APIKeyFile: keyFile}
	got, err := ask(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Text, "[pod/worker-3/trainer#7]") || got.Model != fakellm.Grounded || got.TokensIn == 0 || got.TokensOut == 0 {
		t.Errorf("answer is %+v", got)
	}
	if err := os.WriteFile(keyFile, []byte("sk-two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, p); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range s.Requests() {
		keys = append(keys, r.Authorization)
		if r.Temperature == 0 || r.Temperature > 1e-30 {
			t.Errorf("temperature is %g; want the smallest number that is not left out", r.Temperature)
		}
		if r.System != "cite" || r.User != prompt || r.MaxTokens != 99 {
			t.Errorf("request is %+v", r)
		}
	}
	if diff := cmp.Diff([]string{"Bearer sk-one", "Bearer sk-two"}, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestOpenAIFailsClearly(t *testing.T) {
	s := start(t)
	cases := map[string]struct {
		model, want string
		wantIs      error
	}{
		"the server has an error":    {model: fakellm.Broken, want: "ask model broken: error, status code: 500"},
		"a proxy answers with HTML":  {model: fakellm.Garbled, want: "ask model garbled: invalid character"},
		"an answer without an end":   {model: fakellm.Endless, want: "the answer has more than 1048576 bytes"},
		"no answer before the limit": {model: fakellm.Silent, want: "ask model silent: ", wantIs: context.DeadlineExceeded},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := ask(t, Profile{Provider: "openai", BaseURL: s.URL, Model: tc.model, APIKey: "sk-secret", Timeout: time.Second})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error is %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("error %v holds the key", err)
			}
			if tc.wantIs != nil && !errors.Is(err, tc.wantIs) {
				t.Errorf("error %v is not %v", err, tc.wantIs)
			}
		})
	}
}

func TestOpenAIDoesNotFollowRedirects(t *testing.T) {
	s := start(t)
	other := httptest.NewServer(http.RedirectHandler(s.URL+"/chat/completions", http.StatusTemporaryRedirect))
	t.Cleanup(other.Close)
	_, err := ask(t, Profile{Provider: "openai", BaseURL: other.URL, Model: fakellm.Grounded})
	if err == nil || !strings.Contains(err.Error(), "the server redirects to") {
		t.Errorf("error is %v, want a refused redirect", err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests went to an address that nobody configured", n)
	}
}

func TestOpenAITrustsTheGivenAuthorityAndSendsHeaders(t *testing.T) {
	var header, format string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Get("X-Tenant")
		var in struct {
			ResponseFormat struct{ Type string } `json:"response_format"`
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		format = in.ResponseFormat.Type
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"{}"}}]}`))
	}))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	p := Profile{Provider: "openai", BaseURL: server.URL, Model: "m", CAFile: ca, Headers: map[string]string{"X-Tenant": "ml"}}
	c, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Complete(t.Context(), Request{User: "?", JSONSchema: []byte(`{"type":"object"}`)})
	if err != nil || got.Text != "{}" || got.Model != "m" {
		t.Fatalf("answer %+v, error %v", got, err)
	}
	if header != "ml" || format != "json_schema" {
		t.Errorf("header %q, format %q; want ml, json_schema", header, format)
	}
	p.CAFile = ""
	if _, err := ask(t, p); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the authority the error is %v, want one about the certificate", err)
	}
}

func TestNew(t *testing.T) {
	if c, err := New(Profile{}); err != nil || c != Off {
		t.Errorf("New of nothing is %v, %v; want Off", c, err)
	}
	if _, err := Off.Complete(t.Context(), Request{}); !errors.Is(err, ErrOff) {
		t.Errorf("Off answers %v, want ErrOff", err)
	}
	for want, p := range map[string]Profile{
		`provider is ""; known is openai`:       {BaseURL: "http://x/v1", Model: "m"},
		`provider is "oracle"; known is openai`: {Provider: "oracle"},
		`baseURL is ""`:                         {Provider: "openai", Model: "m"},
		`baseURL is "file:///etc"`:              {Provider: "openai", Model: "m", BaseURL: "file:///etc"},
		`model is empty`:                        {Provider: "openai", BaseURL: "http://x/v1"},
		`no such file`:                          {Provider: "openai", BaseURL: "http://x/v1", Model: "m", CAFile: "/no/such/ca"},
	} {
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v): error %v, want one with %q", p, err, want)
		}
	}
}

type counting struct{ calls int }

func (c *counting) Complete(context.Context, Request) (Response, error) {
	c.calls++
	return Response{Text: "yes"}, nil
}

func TestLimitedWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &counting{}
		c := Limited(next, 6)
		began := time.Now()
		for range 3 {
			if _, err := c.Complete(t.Context(), Request{}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 20*time.Second {
			t.Errorf("three calls at 6 a minute took %s, want 20s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Complete(ctx, Request{})
		if err == nil || !strings.Contains(err.Error(), "wait for a turn at the model (6 calls a minute)") {
			t.Errorf("a call that comes too soon: error %v", err)
		}
		if next.calls != 3 {
			t.Errorf("the model was called %d times, want 3", next.calls)
		}
	})
}

func TestRecordedReplaysAndRefusesTheUnknown(t *testing.T) {
	dir := t.TempDir()
	r := Request{System: "s", User: "u"}
	if _, err := Recording(&counting{}, dir).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got, err := Recorded(dir).Complete(t.Context(), r)
	if err != nil || got.Text != "yes" {
		t.Errorf("replay is %+v, %v; want yes", got, err)
	}
	if _, err := Recorded(dir).Complete(t.Context(), Request{System: "su", User: ""}); err == nil || !strings.Contains(err.Error(), "never recorded") {
		t.Errorf("an unknown request: error %v", err)
	}
}
