package llm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

var update = flag.Bool("update", false, "record the exchanges of the page anew")

// page shows what goes over the wire, and is what the test replays.
const page = "../../docs/reference/model-protocol.md"

const head = "# What goes over the wire\n\n<!-- recorded by go test ./runtime-diagnose/llm -run TestCassettes -update -->\n\n" +
	"Recorded exchanges with servers of OpenAI's chat completions: what is sent, what comes back and what becomes of it. A test replays\n" +
	"each of them: it answers from this page, and holds what is sent and what is told against it. The servers are `test/fakellm`, or say\n" +
	"what the vendors' pages document. The question is shortened here; `signalbox prompt render` prints a whole one.\n"

// cassette is one section of the page.
type cassette struct {
	name, about string
	profile     llm.Profile
	model       string   // of fakellm; or
	answers     []string // of a server: the status, headers, an empty line, the body
	questions   int      // 0: one
	stream      bool
}

const question = "Answer as JSON with the keys healthy, error, analysis and solution.\n[pod/train-worker-3/pytorch#18231] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"

func fails(status int, headers, message, code string) string {
	return fmt.Sprintf("%d\n%s\n%s", status, headers, `{"error":{"message":"`+message+`","type":"invalid_request_error","code":"`+code+`"}}`)
}

func says(message string) string {
	return "200\nContent-Type: application/json\n\n" + `{"id":"chatcmpl-1","object":"chat.completion","model":"m","choices":[{"index":0,` + message + `}],"usage":{"prompt_tokens":61,"completion_tokens":9,"total_tokens":70}}`
}

const story = `"finish_reason":"stop","message":{"role":"assistant","content":"{\"healthy\":\"No\",\"error\":\"Rank 3 ran out of GPU memory [pod/train-worker-3/pytorch#18231].\"}"}`

var cassettes = []cassette{
	{name: "JSON of a schema", about: "What a server can do is tried from the strictest form on.", model: fakellm.Grounded},
	{name: "A server that takes no schema", about: "It is asked for JSON of any form.", answers: []string{fails(400, "", "response_format json_schema is not supported", "unsupported"), says(story)}},
	{name: "A server that takes neither", about: "It is asked for text, and the second question is asked so at once.", questions: 2, answers: []string{
		fails(400, "", "unknown field response_format", "unsupported"), fails(400, "", "unknown field response_format", "unsupported"), says(story), says(story),
	}},
	{name: "Streamed", about: "In a shell sentences appear as they come.", model: fakellm.Grounded, stream: true},
	{name: "Azure", about: "The deployment stands in the path, the key in a header of its own.", profile: llm.Profile{Provider: "azure", APIVersion: "2024-10-21"}, answers: []string{says(story)}},
	{name: "A model that thinks first", about: "`llm.reasoning`: the newer name of the bound, and no temperature.", profile: llm.Profile{Reasoning: true}, answers: []string{says(story)}},
	{name: "A wrong key", about: "Not asked again.", answers: []string{fails(401, "", "Incorrect API key provided", "invalid_api_key")}},
	{name: "A model that is not there", about: "Not asked again.", answers: []string{fails(404, "", "The model m does not exist", "model_not_found")}},
	{name: "Too many questions", about: "Asked again when the server says.", answers: []string{fails(429, "Retry-After: 9\n", "Rate limit reached", "rate_limit_exceeded")}},
	{name: "A server with an error", about: "Asked again, later each time.", model: fakellm.Broken},
	{name: "A refusal", about: "Not asked again, and told as what it is.", answers: []string{says(`"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I can't help with that."}`)}},
	{name: "A tool that was not offered", about: "No tool ever is: the answer is none.", answers: []string{says(`"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"kubectl","arguments":"{\"args\":\"delete pvc --all\"}"}}]}`)}},
}

// exchange is a request and its response, as the page has them.
type exchange struct{ request, response string }

// wire answers from the page, or from a server that is recorded, and keeps what was said.
type wire struct {
	c       cassette
	replay  []exchange // nil: record
	model   *fakellm.Server
	written []exchange
}

func (w *wire) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	n := len(w.written)
	response := ""
	switch {
	case w.replay != nil && n < len(w.replay):
		response = w.replay[n].response
	case w.replay != nil || w.model == nil && n >= len(w.c.answers):
		response = "500\n\none request too many"
	case w.model != nil:
		response = w.record(r, body)
	default:
		response = w.c.answers[n]
	}
	response = pretty(response)
	w.written = append(w.written, exchange{spoken(r, body, w.c.name == cassettes[0].name), response})
	status, headers, text := parts(response)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		out.Header().Set(name, value)
	}
	out.WriteHeader(status)
	_, _ = io.WriteString(out, text)
}

// record asks the model of the test.
func (w *wire) record(r *http.Request, body []byte) string {
	to, err := http.NewRequestWithContext(r.Context(), r.Method, strings.TrimSuffix(w.model.URL, "/v1")+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return "500\n\n" + err.Error()
	}
	got, err := http.DefaultClient.Do(to)
	if err != nil {
		return "500\n\n" + err.Error()
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return "500\n\n" + err.Error()
	}
	return fmt.Sprintf("%d\nContent-Type: %s\n\n%s", got.StatusCode, got.Header.Get("Content-Type"), text)
}

// spoken is a request as the page shows it: the first one line for line.
func spoken(r *http.Request, body []byte, whole bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL.RequestURI())
	for _, name := range []string{"Authorization", "Api-Key", "X-Team"} {
		if v := r.Header.Get(name); v != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	text := b.String() + "\n" + strings.TrimSpace(string(body))
	if whole {
		return pretty(text)
	}
	return text
}

// pretty indents the JSON behind the first empty line.
func pretty(text string) string {
	before, body, _ := strings.Cut(text, "\n\n")
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace([]byte(body)), "", "  "); err != nil {
		return text
	}
	return before + "\n\n" + out.String()
}

func parts(response string) (status int, headers []string, body string) {
	before, body, _ := strings.Cut(response, "\n\n")
	lines := strings.Split(before, "\n")
	_, _ = fmt.Sscan(lines[0], &status)
	return max(status, 100), slices.DeleteFunc(lines[1:], func(l string) bool { return l == "" }), body
}

// told is what becomes of it.
func told(r llm.Response, err error) string {
	if err == nil {
		return fmt.Sprintf("%s\n(%d tokens in, %d out, asked for %q)", r.Text, r.TokensIn, r.TokensOut, r.Format)
	}
	after, again := llm.Retry(err)
	switch {
	case !again:
		return err.Error() + "\n(not asked again)"
	case after > 0:
		return fmt.Sprintf("%s\n(asked again after %s)", err, after)
	}
	return err.Error() + "\n(asked again)"
}

func (c cassette) play(t *testing.T, replay []exchange) (written []exchange, outcome string) {
	t.Helper()
	w := &wire{c: c, replay: replay}
	if replay == nil && c.model != "" {
		model, err := fakellm.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.model = model
	}
	server := httptest.NewServer(w)
	defer server.Close()
	p := c.profile
	p.Provider, p.Model, p.APIKey, p.Timeout = orElse(p.Provider, "openai"), orElse(c.model, "m"), "(the key)", 30*time.Second
	if p.BaseURL = server.URL; p.Provider == "openai" {
		p.BaseURL += "/v1"
	}
	client, err := llm.New(p)
	if err != nil {
		t.Fatal(err)
	}
	q := llm.Request{System: "You explain failures.", User: question, MaxTokens: 600, JSONSchema: []byte(`{"type":"object","properties":{"error":{"type":"string"}}}`)}
	var outcomes []string
	for range max(1, c.questions) {
		var r llm.Response
		if stream, ok := client.(llm.Streamer); ok && c.stream {
			r, err = stream.Stream(t.Context(), q, func(string) {})
		} else {
			r, err = client.Complete(t.Context(), q)
		}
		outcomes = append(outcomes, told(r, err))
	}
	return w.written, strings.ReplaceAll(strings.Join(outcomes, "\n"), strings.TrimPrefix(server.URL, "http://"), "(the server)")
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// section is a cassette as the page has it.
func (c cassette) section(written []exchange, outcome string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", c.name, c.about)
	for _, x := range written {
		fmt.Fprintf(&b, "\n```http\n%s\n```\n\n```http\n%s\n```\n", x.request, x.response)
	}
	fmt.Fprintf(&b, "\nWhat is told:\n\n```text\n%s\n```\n", outcome)
	return b.String()
}

var block = regexp.MustCompile("(?s)```http\n(.*?)\n```\n\n```http\n(.*?)\n```\n")

// Each exchange of the page happens again: what is sent and what is told are as they stand there.
func TestCassettes(t *testing.T) {
	if *update {
		text := head
		for _, c := range cassettes {
			text += c.section(c.play(t, nil))
		}
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(text), "\n## ")
	if first+"\n" != head && first != head {
		t.Error("the page begins with other words")
	}
	sections := strings.Split(rest, "\n## ")
	if len(sections) != len(cassettes) {
		t.Fatalf("%d sections, want %d", len(sections), len(cassettes))
	}
	for i, c := range cassettes {
		t.Run(c.name, func(t *testing.T) {
			replay := []exchange{}
			for _, m := range block.FindAllStringSubmatch(sections[i]+"\n", -1) {
				replay = append(replay, exchange{m[1], m[2]})
			}
			want := "\n## " + strings.TrimRight(sections[i], "\n") + "\n"
			if diff := cmp.Diff(want, c.section(c.play(t, replay))); diff != "" {
				t.Errorf("the page (-) and what happens (+):\n%s", diff)
			}
		})
	}
}
