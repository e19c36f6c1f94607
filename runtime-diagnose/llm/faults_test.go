package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fault is one way in which a server of the protocol fails, or answers with what is no answer.
type fault struct {
	status int
	header map[string]string
	body   string
	serve  http.HandlerFunc // instead of status, header and body
	want   string           // of the error
	again  bool             // asking again may help
	after  time.Duration
}

const filtered = `{"choices":[{"finish_reason":"content_filter","message":{"role":"assistant","content":"The cause is"}}]}`

// The bodies are as the servers write them: https://platform.openai.com/docs/guides/error-codes,
// https://platform.openai.com/docs/api-reference/chat/object,
// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter.
var faults = map[string]fault{
	"a wrong key":            {status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-sec***","type":"invalid_request_error","code":"invalid_api_key"}}`, want: "status code: 401"},
	"no such model":          {status: 404, body: `{"error":{"message":"The model ` + "`m`" + ` does not exist","type":"invalid_request_error","code":"model_not_found"}}`, want: "does not exist"},
	"too long":               {status: 413, body: `<html>Request Entity Too Large</html>`, want: "413"},
	"too many":               {status: 429, header: map[string]string{"Retry-After": "9"}, body: `{"error":{"message":"Rate limit reached"}}`, want: "Rate limit reached", again: true, after: 9 * time.Second},
	"too many, when?":        {status: 429, body: `{"error":{"message":"Rate limit reached"}}`, want: "Rate limit reached", again: true},
	"an error":               {status: 500, body: `{"error":{"message":"The server had an error"}}`, want: "500", again: true},
	"overloaded":             {status: 503, body: `upstream connect error`, want: "503", again: true},
	"no choices":             {body: `{"choices":[]}`, want: "the answer has no choices", again: true},
	"a 200 with an error":    {body: `{"error":{"message":"Provider returned error","code":502}}`, want: "Provider returned error", again: true},
	"a 200 with a wrong key": {body: `{"error":{"message":"No auth credentials found","code":401}}`, want: "No auth credentials found"},
	"nothing said":           {body: `{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":""}}]}`, want: `the answer is empty (it ended with "length")`, again: true},
	"a refusal":              {body: `{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I can't help\nwith that."}}]}`, want: "the model refuses: I can't help with that."},
	"a filter":               {body: filtered, want: "a filter of the server held the answer back"},
	"a tool is called": {
		body: `{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"kubectl","arguments":"delete pvc --all"}}]}}]}`,
		want: "the answer calls a tool, and none was offered",
	},
	"half of its JSON": {body: `{"choices":[{"message":{"content":"The`, want: "unexpected EOF", again: true},
	"the connection is cut": {
		serve: func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
		}, want: "EOF", again: true,
	},
	"byte after byte, without an end": {
		serve: func(w http.ResponseWriter, r *http.Request) {
			drops := time.NewTicker(time.Millisecond)
			defer drops.Stop()
			for {
				select {
				case <-r.Context().Done():
					return
				case <-drops.C:
					_, _ = w.Write([]byte(" "))
					_ = http.NewResponseController(w).Flush()
				}
			}
		}, want: "there is no whole answer after 1s", again: true,
	},
}

// Whatever a server does, asking it ends, and the error says what it did and whether asking again helps.
func TestEachFaultOfAServer(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(f)
			defer server.Close()
			_, err := ask(t, Profile{Provider: "openai", BaseURL: server.URL, Model: "m", APIKey: "sk-secret", Timeout: time.Second})
			if err == nil || !strings.Contains(err.Error(), f.want) || strings.Contains(err.Error(), "sk-secret") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error is %v, want %q, one line", err, f.want)
			}
			if after, again := Retry(err); again != f.again || after != f.after {
				t.Errorf("asked again %v after %s, want %v after %s", again, after, f.again, f.after)
			}
		})
	}
}

func (f fault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.serve != nil {
		f.serve(w, r)
		return
	}
	for name, value := range f.header {
		w.Header().Set(name, value)
	}
	if f.status != 0 {
		w.WriteHeader(f.status)
	}
	_, _ = w.Write([]byte(f.body))
}

// What a stream ends with counts as it does in a whole answer.
func TestAStreamThatIsNoAnswer(t *testing.T) {
	for name, tc := range map[string]struct{ last, want string }{
		"a refusal":        {`{"choices":[{"delta":{"refusal":"I can't."},"finish_reason":"stop"}]}`, "the model refuses: I can't."},
		"a filter":         {`{"choices":[{"delta":{"content":"The cause"},"finish_reason":"content_filter"}]}`, "a filter of the server"},
		"a tool is called": {`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"sh"}}]},"finish_reason":"tool_calls"}]}`, "calls a tool"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", tc.last)
			}))
			defer server.Close()
			c, err := New(Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.(Streamer).Stream(t.Context(), Request{User: "?"}, func(string) {})
			if !errors.Is(err, ErrDeclined) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want %q", err, tc.want)
			}
		})
	}
}

// A stream that ends before it says so is no whole answer: the whole is asked for. One whose room is used up says that it is cut.
func TestAStreamThatBreaksOff(t *testing.T) {
	for name, tc := range map[string]struct {
		stream string
		want   Response
	}{
		"broken off":      {"data: {\"choices\":[{\"delta\":{\"content\":\"It ended with exit\"}}]}\n\n", Response{Text: "It ended with exit code 7.", Model: "m"}},
		"it has ended":    {"data: {\"choices\":[{\"delta\":{\"content\":\"It ended.\"},\"finish_reason\":\"stop\"}]}\n\n", Response{Text: "It ended.", Model: "m"}},
		"no room is left": {"data: {\"choices\":[{\"delta\":{\"content\":\"It ended with exit\"},\"finish_reason\":\"length\"}]}\n\ndata: [DONE]\n\n", Response{Text: "It ended with exit", Model: "m", Cut: true}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var in struct{ Stream bool }
				if _ = json.NewDecoder(r.Body).Decode(&in); in.Stream {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, tc.stream)
					return
				}
				_, _ = io.WriteString(w, `{"choices":[{"finish_reason":"stop","message":{"content":[{"type":"text","text":"It ended with exit "},{"type":"text","text":"code 7."}]}}]}`)
			}))
			defer server.Close()
			c, err := New(Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.(Streamer).Stream(t.Context(), Request{User: "?"}, func(string) {})
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A certificate that nobody trusts is the network's error: text goes nowhere.
func TestAServerThatNobodyTrusts(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was asked") }))
	defer server.Close()
	_, err := ask(t, Profile{Provider: "openai", BaseURL: server.URL, Model: "m"})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("error is %v", err)
	}
	if _, again := Retry(err); again {
		t.Error("it is asked again; want once: nobody trusts it the next time")
	}
}

// Text goes through the proxy that somebody named, and an address that is none is an error at the start.
func TestAProxy(t *testing.T) {
	var through atomic.Value
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Store(r.URL.String())
		_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"fine"}}]}`))
	}))
	defer proxy.Close()
	if _, err := ask(t, Profile{Provider: "openai", BaseURL: "http://model.invalid/v1", Model: "m", Proxy: proxy.URL}); err != nil {
		t.Fatal(err)
	}
	if got := through.Load(); got != "http://model.invalid/v1/chat/completions" {
		t.Errorf("the proxy was asked for %v", got)
	}
	if _, err := New(Profile{Provider: "openai", BaseURL: "http://model.invalid/v1", Model: "m", Proxy: "user:pa55@host"}); err == nil || strings.Contains(err.Error(), "pa55") {
		t.Errorf("error is %v", err)
	}
}
