package llm

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
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

// A server may ask to be left alone for a day; what asks for longer, or for ever, is asked again after a day.
func TestAServerMayAskForADay(t *testing.T) {
	header := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", header)
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	for text, want := range map[string]time.Duration{
		"-1": 0, "soon": 0, "86399": 24*time.Hour - time.Second, "86400": 24 * time.Hour, "86401": 24 * time.Hour, "99999999999999999999": 24 * time.Hour,
		"Fri, 20 Nov 2099 08:01:00 GMT": 24 * time.Hour, "Fri, 20 Nov 2020 08:01:00 GMT": 0,
	} {
		header = text
		_, err := ask(t, Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
		if after, again := Retry(err); after != want || !again {
			t.Errorf("Retry-After %q: asked again %v after %s, want after %s", text, again, after, want)
		}
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
		"a proxy answers with HTML":  {model: fakellm.Garbled, want: "ask model garbled: the answer is no JSON"},
		"an answer without an end":   {model: fakellm.Endless, want: "the answer has more than 1 MiB"},
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
	if _, again := Retry(err); again {
		t.Error("a redirect is asked for again; want once: it is refused again")
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
		`provider is ""; known are openai and azure`:       {BaseURL: "http://x/v1", Model: "m"},
		`provider is "oracle"; known are openai and azure`: {Provider: "oracle"},
		`apiVersion is empty`:                              {Provider: "azure", Model: "m", BaseURL: "https://x.openai.azure.com"},
		`baseURL is ""`:                                    {Provider: "openai", Model: "m"},
		`baseURL is "file:///etc"`:                         {Provider: "openai", Model: "m", BaseURL: "file:///etc"},
		`model is empty`:                                   {Provider: "openai", BaseURL: "http://x/v1"},
		`no such file`:                                     {Provider: "openai", BaseURL: "http://x/v1", Model: "m", CAFile: "/no/such/ca"},
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

// A server that takes no schema is asked for plain JSON, one that takes neither for text; what it refused
// once is not tried again. What it refuses for another reason is told as it was, and not asked in every form: the
// refusal names something else, the form was taken before, or text is refused as well.
func TestTheFormatThatAServerTakes(t *testing.T) {
	named := func(f string) string { return `"message": "response_format ` + f + ` is not supported"` }
	long := func(string) string { return `"message": "the request is too long", "code": "context_length_exceeded"` }
	filtered := func(string) string {
		return `"message": "the prompt is filtered", "param": "prompt", "code": "content_filter"`
	}
	vague := func(string) string { return `"message": "Bad Request"` }
	all := []string{"json_schema", "json_object", ""}
	for name, tc := range map[string]struct {
		takes   []string // the types it does not refuse; "" is none
		refuses func(format string) string
		after   int      // how many questions it takes before it refuses whatever it is asked; 0: none
		want    []string // what is tried, by two questions
		err     string
	}{
		"schemas":                           {takes: all, refuses: named, want: []string{"json_schema", "json_schema"}},
		"JSON":                              {takes: all[1:], refuses: named, want: []string{"json_schema", "json_object", "json_object"}},
		"text":                              {takes: all[2:], refuses: named, want: []string{"json_schema", "json_object", "", ""}},
		"text and schemas":                  {takes: []string{"", "json_schema"}, refuses: named, want: []string{"json_schema", "json_schema"}},
		"JSON, and does not say why":        {takes: all[1:], refuses: vague, want: []string{"json_schema", "", "json_object"}},
		"text, and does not say why":        {takes: all[2:], refuses: vague, want: []string{"json_schema", "", "json_object", ""}},
		"nothing":                           {refuses: vague, want: []string{"json_schema", "", "json_schema", ""}, err: "Bad Request"},
		"nothing so long":                   {refuses: long, want: []string{"json_schema", "json_schema"}, err: "too long"},
		"nothing of that":                   {refuses: filtered, want: []string{"json_schema", "json_schema"}, err: "filtered"},
		"nothing after a question":          {takes: all, refuses: vague, after: 1, want: []string{"json_schema", "json_schema"}, err: "Bad Request"},
		"nothing after a question in JSON":  {takes: all[1:], refuses: named, after: 1, want: []string{"json_schema", "json_object", "json_object", ""}, err: "json_object"},
		"no schemas any more, and names it": {takes: all, refuses: named, after: 1, want: []string{"json_schema", "json_schema", "json_object", ""}, err: "json_schema"},
	} {
		t.Run(name, func(t *testing.T) {
			var tried []string
			answered := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var in struct {
					ResponseFormat struct{ Type string } `json:"response_format"`
				}
				_ = json.NewDecoder(r.Body).Decode(&in)
				f := in.ResponseFormat.Type
				tried = append(tried, f)
				if !slices.Contains(tc.takes, f) || tc.after > 0 && answered == tc.after {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write([]byte(`{"error": {` + tc.refuses(f) + `}}`))
					return
				}
				answered++
				_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"{}"}}]}`))
			}))
			defer server.Close()
			c, err := New(Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			for n := range 2 {
				_, err := c.Complete(t.Context(), Request{User: "?", JSONSchema: []byte(`{"type":"object"}`)})
				failed := tc.err != "" && n >= tc.after
				if failed != (err != nil) || err != nil && !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error is %v, want %q", err, tc.err)
				}
			}
			if diff := cmp.Diff(tc.want, tried); diff != "" {
				t.Errorf("tried (-want +got):\n%s", diff)
			}
		})
	}
}

// A server that does not stream is asked for the whole, and not in every form twice: what it refuses for another reason
// is not the stream's.
func TestAStreamIsRefusedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		refuse func(stream bool, format string) string
		want   []string // by two questions; ~ before what is streamed
	}{
		"too long": {func(bool, string) string { return `"message": "too long", "code": "context_length_exceeded"` }, []string{"~json_schema", "~json_schema"}},
		"no reason": {
			func(bool, string) string { return `"message": "Bad Request"` },
			[]string{"~json_schema", "json_schema", "", "~json_schema", "json_schema", ""},
		},
		"no stream": {func(stream bool, _ string) string {
			if stream {
				return `"message": "stream is not supported", "param": "stream"`
			}
			return ""
		}, []string{"~json_schema", "json_schema", "json_schema"}},
	} {
		t.Run(name, func(t *testing.T) {
			var tried []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var in struct {
					Stream         bool
					ResponseFormat struct{ Type string } `json:"response_format"`
				}
				_ = json.NewDecoder(r.Body).Decode(&in)
				tried = append(tried, map[bool]string{true: "~"}[in.Stream]+in.ResponseFormat.Type)
				if why := tc.refuse(in.Stream, in.ResponseFormat.Type); why != "" {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = w.Write([]byte(`{"error": {` + why + `}}`))
					return
				}
				_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"{}"}}]}`))
			}))
			defer server.Close()
			c, err := New(Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, _ = c.(Streamer).Stream(t.Context(), Request{User: "?", JSONSchema: []byte(`{"type":"object"}`)}, func(string) {})
			}
			if diff := cmp.Diff(tc.want, tried); diff != "" {
				t.Errorf("tried (-want +got):\n%s", diff)
			}
		})
	}
}

// A server that answers in one piece though it was asked to stream is asked for that, and from then on at once.
func TestAServerThatDoesNotHearOfStreams(t *testing.T) {
	var tried []bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Stream bool }
		_ = json.NewDecoder(r.Body).Decode(&in)
		tried = append(tried, in.Stream)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"fine"}}]}`))
	}))
	defer server.Close()
	c, err := New(Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := c.(Streamer).Stream(t.Context(), Request{User: "?"}, func(string) {}); err != nil || got.Text != "fine" {
			t.Errorf("answer is %q, error %v", got.Text, err)
		}
	}
	if diff := cmp.Diff([]bool{true, false, false}, tried); diff != "" {
		t.Errorf("streamed (-want +got):\n%s", diff)
	}
}

// Azure has the deployment and the version in the address, and the key in a header of its own.
// https://learn.microsoft.com/azure/ai-services/openai/reference#chat-completions
func TestAzure(t *testing.T) {
	var path, version, key, bearer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, version, key, bearer = r.URL.Path, r.URL.Query().Get("api-version"), r.Header.Get("api-key"), r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"fine"}}]}`))
	}))
	defer server.Close()
	if _, err := ask(t, Profile{Provider: "azure", BaseURL: server.URL, APIVersion: "2024-10-21", Model: "my-gpt", APIKey: "k"}); err != nil {
		t.Fatal(err)
	}
	if path != "/openai/deployments/my-gpt/chat/completions" || version != "2024-10-21" || key != "k" || bearer != "" {
		t.Errorf("asked %s, version %s, api-key %q, Authorization %q", path, version, key, bearer)
	}
}

// The address is taken as people copy it, and where there is nothing at it, what is missing in it is said.
func TestBaseURLs(t *testing.T) {
	s := start(t)
	root := strings.TrimSuffix(s.URL, "/v1")
	for base, want := range map[string]string{
		root + "/v1":                   "",
		root + "/v1/":                  "",
		root + "/v1/chat/completions":  "",
		root + "/v1/chat/completions/": "",
		root:                           "; llm.baseURL is " + root + ", and ends in /v1 for most servers",
		root + "/openai/v1":            "404",
	} {
		answer, err := ask(t, Profile{Provider: "openai", BaseURL: base, Model: fakellm.Grounded})
		switch {
		case want == "" && (err != nil || answer.Text == ""):
			t.Errorf("%s: %v", base, err)
		case want != "" && (err == nil || !strings.HasSuffix(err.Error(), want) && !strings.Contains(err.Error(), want+",")):
			t.Errorf("%s: error is %v, want %q", base, err, want)
		}
	}
}

// An address may say who asks, too.
func TestErrorsHoldNoSecretOfTheAddress(t *testing.T) {
	_, err := ask(t, Profile{Provider: "openai", BaseURL: "http://hf_token:password@127.0.0.1:1/v1?key=s3cr3t", Model: "m"})
	if err == nil || strings.Contains(err.Error(), "hf_token") || strings.Contains(err.Error(), "password") || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("error is %v; want one without the secrets of the address", err)
	}
}

// What says who asks is in no error, though a server repeats it.
func TestErrorsHoldNoSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"not known: %s, %s, team %s"}}`, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("X-Team"))
	}))
	defer server.Close()
	_, err := ask(t, Profile{
		Provider: "openai", BaseURL: server.URL, Model: "m", APIKey: "sk-first",
		Headers: map[string]string{"Authorization": "Basic c2VjcmV0", "X-Api-Key": "key-second", "X-Team": "ml"},
	})
	if want := "not known: Basic ***, ***, team ml"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error is %v, want one with %q", err, want)
	}
}
