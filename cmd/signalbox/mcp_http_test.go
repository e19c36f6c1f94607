package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// shownToken adds the token to what a client sends.
type shownToken struct{ token string }

func (s shownToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+s.token)
	return http.DefaultTransport.RoundTrip(r)
}

// toolsOverHTTP runs the command itself, with the token "right", and says where it listens.
func toolsOverHTTP(t *testing.T, flags ...string) string {
	t.Helper()
	t.Setenv("SIGNALBOX_MCP_TOKEN", "right")
	t.Setenv("KUBECONFIG", os.DevNull)
	ctx, stop := context.WithCancel(t.Context())
	heard, said := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: io.Discard, Err: said, Now: time.Now}, append([]string{"mcp", "--listen", "127.0.0.1:0"}, flags...))
	}()
	lines := bufio.NewScanner(heard)
	lines.Scan()
	_, address, ok := strings.Cut(lines.Text(), "listening at ")
	if !ok {
		t.Fatalf("the command said %q", lines.Text())
	}
	go func() { _, _ = io.Copy(io.Discard, heard) }() // so that nothing it says holds it up
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return address
}

func connectHTTP(t *testing.T, address, token string) (*mcp.ClientSession, error) {
	t.Helper()
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: address, HTTPClient: &http.Client{Transport: shownToken{token}}}, nil)
}

// TestToolsOverHTTP lists the tools and calls each with a client of the protocol.
func TestToolsOverHTTP(t *testing.T) {
	address := toolsOverHTTP(t, "--snapshot", exampleGang+"cluster.yaml", "--snapshot", exampleGang+"job.yaml")
	if _, err := connectHTTP(t, address, "wrong"); err == nil {
		t.Error("another token was let in")
	}
	session, err := connectHTTP(t, address, "right")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }() // the server goes next
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	job, err := os.ReadFile(exampleGang + "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]struct {
		args map[string]any
		want string
	}{
		"check":     {map[string]any{"manifest": string(job)}, `"decision":"`},
		"fit":       {map[string]any{"manifest": string(job)}, `"verdict":"`},
		"diagnose":  {map[string]any{"log": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"}, `"gpu-oom"`},
		"explain":   {map[string]any{"name": "gpu-oom"}, "## gpu-oom"},
		"list_jobs": {map[string]any{}, `"jobs":[{`},
	}
	if len(listed.Tools) != len(called) {
		t.Errorf("%d tools are listed, and %d called", len(listed.Tools), len(called))
	}
	for _, tool := range listed.Tools {
		r, text := call(t, session, tool.Name, called[tool.Name].args)
		if r.IsError || !strings.Contains(text, called[tool.Name].want) {
			t.Errorf("%s: error %v\n%s", tool.Name, r.IsError, text)
		}
	}
	for _, path := range []string{"/etc/passwd", "../../go.mod", "file:///etc/passwd"} {
		if r, text := call(t, session, "check", map[string]any{"manifest": path, "offline": true}); strings.Contains(text, "root:") || strings.Contains(text, "module github") || !strings.Contains(text, "standard input") {
			t.Errorf("the manifest %q: error %v\n%s", path, r.IsError, text)
		}
	}
}

// TestHostileRequestsOverHTTP sends what no client of the protocol does, with the right token but where it is missing.
func TestHostileRequestsOverHTTP(t *testing.T) {
	address := toolsOverHTTP(t)
	const most = mcp.DefaultMaxRequestBodyBytes
	cases := map[string]struct {
		host, token, origin, method, body string
		size                              int64 // filled up to it with blanks
		want                              int
	}{
		"a name that was bound to this machine": {host: "evil.example:8377", body: "{}", want: http.StatusForbidden},
		"a page of another origin":              {origin: "https://evil.example", body: "{}", want: http.StatusForbidden},
		"a page without a token":                {origin: "https://evil.example", token: "none", body: "{}", want: http.StatusForbidden},
		"no token":                              {token: "none", body: "{}", want: http.StatusUnauthorized},
		"the largest body":                      {body: "{", size: most, want: http.StatusBadRequest}, // read, and no JSON
		"one byte more":                         {body: "{", size: most + 1, want: http.StatusRequestEntityTooLarge},
		"no body":                               {want: http.StatusBadRequest},
		"no JSON":                               {body: "GET me", want: http.StatusBadRequest},
		"another method":                        {method: http.MethodPut, body: "{}", want: http.StatusMethodNotAllowed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			body := io.MultiReader(strings.NewReader(tc.body), io.LimitReader(blanks{}, tc.size-int64(min(len(tc.body), int(tc.size)))))
			method := tc.method
			if method == "" {
				method = http.MethodPost
			}
			r, err := http.NewRequestWithContext(t.Context(), method, address, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if tc.token == "" {
				r.Header.Set("Authorization", "Bearer right")
			}
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
			r.Host = tc.host
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			said, _ := io.ReadAll(answer.Body) // what was read is shown
			_ = answer.Body.Close()            // read
			if answer.StatusCode != tc.want || len(said) == 0 || strings.Contains(string(said), "goroutine") {
				t.Errorf("answered %s: %s; want %d and why", answer.Status, said, tc.want)
			}
		})
	}
}

// blanks never ends.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
