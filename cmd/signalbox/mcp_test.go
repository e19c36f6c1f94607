package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

const exampleGang = "../../examples/gang-does-not-fit/"

// toolsOf is a client of the protocol at the command, with these flags.
func toolsOf(t *testing.T, flags ...string) *mcp.ClientSession {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	in, asked := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(context.WithoutCancel(t.Context()), &shell.Shell{Name: "signalbox", In: in, Out: out, Err: io.Discard, Now: time.Now}, append([]string{"mcp"}, flags...))
	}()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: answers, Writer: asked}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		<-ended
	})
	return session
}

func call(t *testing.T, s *mcp.ClientSession, tool string, args any) (*mcp.CallToolResult, string) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var text []string
	for _, c := range r.Content {
		text = append(text, c.(*mcp.TextContent).Text)
	}
	return r, strings.Join(text, "\n")
}

func TestToolsReadOnlyAndAnswerBySchema(t *testing.T) {
	s := toolsOf(t, "--snapshot", exampleGang+"cluster.yaml")
	listed, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range listed.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if takes := strings.Contains(string(schema), `"set":`); takes != (tool.Name == "fit") {
			t.Errorf("%s takes set: %v", tool.Name, takes)
		}
		if takes := strings.Contains(string(schema), `"manifest":`); takes != (tool.Name == "fit" || tool.Name == "check") {
			t.Errorf("%s takes a manifest: %v", tool.Name, takes)
		}
		names = append(names, tool.Name)
		if !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s may write", tool.Name)
		}
		if (tool.OutputSchema == nil) != (tool.Name == "explain") {
			t.Errorf("%s: the schema of its answer is %v", tool.Name, tool.OutputSchema)
		}
	}
	if got := strings.Join(names, " "); got != "check diagnose explain fit list_jobs" {
		t.Errorf("tools: %s", got)
	}

	job, err := os.ReadFile(exampleGang + "job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]string{"check": `"schema":"signalbox.dev/report/v1"`, "fit": `"verdict":"`} {
		r, text := call(t, s, tool, map[string]any{"manifest": string(job)})
		if r.IsError || !strings.Contains(text, want) {
			t.Errorf("%s: error %v\n%s", tool, r.IsError, text)
		}
		b, err := json.Marshal(r.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, "report", b)
	}
	r, text := call(t, s, "diagnose", map[string]any{"log": "starting\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"})
	if r.IsError || !strings.Contains(text, `"gpu-oom"`) {
		t.Errorf("diagnose: error %v\n%s", r.IsError, text)
	}
	if r, text := call(t, s, "explain", map[string]any{"name": "gpu-oom"}); r.IsError || !strings.HasPrefix(text, "## gpu-oom") {
		t.Errorf("explain: error %v\n%s", r.IsError, text)
	}
	if r, text := call(t, s, "explain", map[string]any{"line": "Killed"}); r.IsError || text == "" {
		t.Errorf("explain a line: error %v\n%s", r.IsError, text)
	}
}

func TestJobsOfASnapshotAreListed(t *testing.T) {
	s := toolsOf(t, "--snapshot", exampleGang+"job.yaml")
	if r, text := call(t, s, "list_jobs", map[string]any{}); r.IsError || !strings.Contains(text, `"name":"llama"`) && !strings.Contains(text, `"jobs":[{`) {
		t.Errorf("list_jobs: error %v\n%s", r.IsError, text)
	}
}

func TestToolsSayWhatIsWrong(t *testing.T) {
	s := toolsOf(t)
	cases := map[string]struct {
		tool string
		args map[string]any
		want string
	}{
		"no YAML":                 {"check", map[string]any{"manifest": "a: [", "offline": true}, `"errors":[{`},
		"no manifest":             {"check", map[string]any{}, "manifest"},
		"a field that is none":    {"check", map[string]any{"manifest": "a: b", "path": "/etc/passwd"}, "path"},
		"set for check":           {"check", map[string]any{"manifest": "a: b", "set": []string{"Worker.gpus=1"}}, "set"},
		"no kind":                 {"diagnose", map[string]any{"name": "x"}, "kubeconfig"},
		"neither":                 {"diagnose", map[string]any{}, `kind is ""`},
		"a file for a name":       {"diagnose", map[string]any{"name": "mcp.go"}, `name "mcp.go"`},
		"a folder for a name":     {"diagnose", map[string]any{"name": "testdata"}, "kubeconfig"},
		"a file for a kind":       {"diagnose", map[string]any{"kind": "mcp.go", "name": "x"}, `kind is "mcp.go"`},
		"a job and a log":         {"diagnose", map[string]any{"kind": "PyTorchJob", "name": "x", "log": "y"}, "expected one of them"},
		"no cluster":              {"diagnose", map[string]any{"kind": "PyTorchJob", "name": "x"}, "kubeconfig"},
		"no cluster to list":      {"list_jobs", map[string]any{}, "kubeconfig"},
		"a flag for a name":       {"explain", map[string]any{"name": "--output=json"}, `nothing is called "--output=json"`},
		"neither name nor line":   {"explain", map[string]any{}, "expected either name or line"},
		"an owner that is none":   {"list_jobs", map[string]any{"owner": "alice"}, `no owner is called "alice"`},
		"a category that is none": {"list_jobs", map[string]any{"namespace": "--all-namespaces"}, "kubeconfig"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tc.tool, Arguments: tc.args})
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				for _, c := range r.Content {
					text += c.(*mcp.TextContent).Text
				}
			}
			if strings.Contains(text, "--owner") || strings.Contains(text, "--offline") {
				t.Errorf("a flag is named, and the tool has a parameter:\n%s", text)
			}
			if !strings.Contains(text, tc.want) || err == nil && !r.IsError && name != "no YAML" {
				t.Errorf("error %v, answer %+v\n%s", err, r, text)
			}
		})
	}
}

func TestToolsMaskSecretsAndBoundAnswers(t *testing.T) {
	s := toolsOf(t)
	_, text := call(t, s, "diagnose", map[string]any{"log": "export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345\nRuntimeError: login with --token hf_abcdefghijklmnopqrstuvwxyz012345 failed: 401\n"})
	if strings.Contains(text, "hf_abcdef") {
		t.Errorf("a token is in the answer:\n%s", text)
	}
	var many strings.Builder
	for range 4000 {
		many.WriteString("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " + strings.Repeat("a", 60) + "}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: a:1}]}}}\n")
	}
	r, text := call(t, s, "check", map[string]any{"manifest": many.String(), "offline": true})
	if !r.IsError || !strings.Contains(text, "ask for less") {
		t.Errorf("error %v, %d bytes: %.200s", r.IsError, len(text), text)
	}
}

func TestToolsOverStandardInput(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), &shell.Shell{Name: "signalbox", In: in, Out: out, Err: io.Discard, Now: time.Now}, []string{"mcp"})
	}()
	read := bufio.NewScanner(answers)
	for _, ask := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, `"name":"signalbox"`},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explain","arguments":{"name":"gpu-oom"}}}`, "## gpu-oom"},
	} {
		if _, err := io.WriteString(client, ask.line+"\n"); err != nil {
			t.Fatal(err)
		}
		if ask.want != "" && (!read.Scan() || !strings.Contains(read.Text(), ask.want)) {
			t.Fatalf("%s\nwas answered by: %s", ask.line, read.Text())
		}
	}
	_ = client.Close() // never fails
	if code := <-ended; code != shell.ExitFine {
		t.Errorf("exit code %d when the client left", code)
	}
}

// Input through a pipe ends with its last question: each is answered all the same.
func TestToolsAnswerWhatWasAskedBeforeTheInputEnded(t *testing.T) {
	var out strings.Builder
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explain","arguments":{"line":"Killed"}}}
{"jsonrpc":"2.0","id":"three","method":"tools/call","params":{"name":"explain","arguments":{"name":"gpu-oom"}}}
`
	code := run(t.Context(), &shell.Shell{Name: "signalbox", In: strings.NewReader(in), Out: &out, Err: io.Discard, Now: time.Now}, []string{"mcp"})
	if code != shell.ExitFine {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{`"id":1,`, `"id":2,`, `"id":"three",`, "## gpu-oom"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %s in:\n%s", want, out.String())
		}
	}
}
