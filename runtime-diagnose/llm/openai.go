package llm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/sashabaranov/go-openai"

	"github.com/signalbox-dev/signalbox/config/bounded"
	"github.com/signalbox-dev/signalbox/config/mounted"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// maxBody bounds what is read of one HTTP answer, whatever the server sends.
const maxBody = 1 << 20

type openAI struct {
	api     *openai.Client
	profile Profile
	formats formats
	streams atomic.Bool // it has streamed
	whole   atomic.Bool // it has refused to stream, and answered in one piece
}

func newOpenAI(p Profile) (Client, error) {
	u, err := url.Parse(p.BaseURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("set up language model: baseURL is %q; expected an address like https://host/v1", shown(p.BaseURL))
	}
	if p.Model == "" {
		return nil, errors.New("set up language model: model is empty")
	}
	transport, err := transportOf(p)
	if err != nil {
		return nil, fmt.Errorf("set up language model: %w", err)
	}
	conf := openai.DefaultConfig("") // the key goes in by the transport: a file may change
	if p.azure() {
		conf = openai.DefaultAzureConfig("", p.BaseURL)
		conf.AzureModelMapperFunc = nil // the model is the name of the deployment, as it is written
		conf.APIVersion = p.APIVersion
	}
	conf.BaseURL = strings.TrimRight(strings.TrimSuffix(strings.TrimRight(p.BaseURL, "/"), "/chat/completions"), "/") // many copy the whole address
	conf.HTTPClient = &http.Client{Transport: transport, CheckRedirect: refuseRedirect}
	return &openAI{api: openai.NewClientWithConfig(conf), profile: p}, nil
}

// shown is an address without what may be secret in it. Its path stays, unlike that of a receiver in config: it is what is wrong
// of most base addresses, and no secret.
func shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "…"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// refuseRedirect keeps the text of logs at the address that somebody configured.
func refuseRedirect(to *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the server redirects to %s; configure the address it should be; %w", shown(to.URL.String()), ErrDeclined)
}

// Complete asks once. Errors never hold the key, and at most one line of the server's answer.
func (c *openAI) Complete(ctx context.Context, r Request) (Response, error) {
	ctx, cancel := c.limited(ctx)
	defer cancel()
	return c.ask(ctx, r, c.api.CreateChatCompletion)
}

// tooSlow is what ends an answer that takes longer than it may.
type tooSlow time.Duration

func (e tooSlow) Error() string { return "there is no whole answer after " + time.Duration(e).String() }

func (e tooSlow) Is(target error) bool { return target == context.DeadlineExceeded }

func (c *openAI) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.profile.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, c.profile.Timeout, tooSlow(c.profile.Timeout))
}

// Stream asks once, and hands over the answer as it comes.
func (c *openAI) Stream(ctx context.Context, r Request, heard func(string)) (Response, error) {
	ctx, cancel := c.limited(ctx)
	defer cancel()
	whole := c.whole.Load()
	return c.ask(ctx, r, func(ctx context.Context, r openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error) {
		return c.hear(ctx, r, &whole, heard)
	})
}

// hear puts the pieces of an answer together. A server that does not stream is asked for the whole; whole is whether it
// is known to be one.
func (c *openAI) hear(ctx context.Context, r openai.ChatCompletionRequest, whole *bool, heard func(string)) (out openai.ChatCompletionResponse, err error) {
	if *whole {
		return c.api.CreateChatCompletion(ctx, r)
	}
	plain := r
	r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := c.api.CreateChatCompletionStream(ctx, r)
	if err != nil {
		why := refused(err, namesStream)
		if why == otherwise || why == unsaid && (c.streams.Load() || refused(err, namesFormat) == named) {
			return out, err
		}
		return c.inOne(ctx, plain, whole)
	}
	defer stream.Close()
	var text strings.Builder
	var message openai.ChatCompletionMessage
	var ended openai.FinishReason
	for {
		piece, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			message.Content = text.String()
			if ended == "" && text.Len() > 0 && out.Usage == (openai.Usage{}) { // it broke off, or the server never says that it has ended
				return c.api.CreateChatCompletion(ctx, plain)
			}
			if text.Len() > 0 || message.Refusal != "" || len(message.ToolCalls) > 0 || ended != "" {
				out.Choices = []openai.ChatCompletionChoice{{Message: message, FinishReason: ended}}
			}
			if len(out.Choices) == 0 && !c.streams.Load() {
				return c.inOne(ctx, plain, whole)
			}
			c.streams.Store(true)
			return out, nil
		case err != nil:
			return out, err
		}
		out.Model = cmp.Or(piece.Model, out.Model)
		if piece.Usage != nil {
			out.Usage = *piece.Usage
		}
		for _, choice := range piece.Choices[:min(len(piece.Choices), 1)] {
			ended = cmp.Or(choice.FinishReason, ended)
			if message.Refusal = cut(message.Refusal+choice.Delta.Refusal, MaxText); len(message.ToolCalls) == 0 {
				message.ToolCalls = choice.Delta.ToolCalls
			}
			if said := choice.Delta.Content; said != "" && text.Len() < MaxText {
				text.WriteString(said)
				heard(said)
			}
		}
	}
}

// inOne asks for the whole answer, and remembers where the server gives that and no stream.
func (c *openAI) inOne(ctx context.Context, r openai.ChatCompletionRequest, whole *bool) (openai.ChatCompletionResponse, error) {
	*whole = true // for this question: what is refused as a whole is not refused for the stream
	out, err := c.api.CreateChatCompletion(ctx, r)
	if err == nil && len(out.Choices) > 0 {
		c.whole.Store(true)
	}
	return out, err
}

func (c *openAI) ask(ctx context.Context, r Request, how func(context.Context, openai.ChatCompletionRequest) (openai.ChatCompletionResponse, error)) (Response, error) {
	var asks wanted
	asked := ""
	answer, err := c.formats.complete(context.WithValue(ctx, wantedKey{}, &asks), r, func(ctx context.Context, r Request, f format) (openai.ChatCompletionResponse, error) {
		q := c.request(r, f)
		if asked = ""; q.ResponseFormat != nil {
			asked = string(q.ResponseFormat.Type)
		}
		asks.refusal.Store(nil)
		out, err := how(ctx, q)
		if refusal := asks.refusal.Load(); err == nil && len(out.Choices) == 0 && refusal != nil {
			return out, refusal
		}
		return out, err
	})
	if err != nil {
		return Response{}, fmt.Errorf("ask model %s: %w", c.profile.Model, brief(c.plainly(ctx, err), c.profile, time.Duration(asks.after.Load())))
	}
	if len(answer.Choices) == 0 {
		return Response{}, fmt.Errorf("ask model %s: the answer has no choices", c.profile.Model)
	}
	text, err := said(answer.Choices[0])
	if err != nil {
		return Response{}, fmt.Errorf("ask model %s: %w", c.profile.Model, err)
	}
	model := answer.Model
	if model == "" {
		model = c.profile.Model
	}
	return Response{
		Text: cut(text, MaxText), Model: cut(model, 256),
		TokensIn: answer.Usage.PromptTokens, TokensOut: answer.Usage.CompletionTokens, Format: asked,
		Cut: answer.Choices[0].FinishReason == openai.FinishReasonLength || len(text) > MaxText,
	}, nil
}

// plainly says in words of ours what a library says in its own.
func (c *openAI) plainly(ctx context.Context, err error) error {
	var syntax *json.SyntaxError
	var refused *openai.APIError
	var failed *openai.RequestError
	status, code := 0, ""
	switch {
	case errors.As(err, &refused):
		status, code = refused.HTTPStatusCode, fmt.Sprint(refused.Code)
	case errors.As(err, &failed):
		status = failed.HTTPStatusCode
	}
	slow, late := errors.AsType[tooSlow](context.Cause(ctx))
	switch {
	case late && errors.Is(err, context.DeadlineExceeded):
		return slow
	case status == 0 && errors.As(err, &syntax):
		return fmt.Errorf("the answer is no JSON: %w", err)
	case status == http.StatusNotFound && code != "model_not_found" && !c.profile.azure() && !strings.Contains(c.profile.BaseURL, "/v"):
		return fmt.Errorf("%w; llm.baseURL is %s, and ends in /v1 for most servers", err, shown(c.profile.BaseURL))
	}
	return err
}

// ErrDeclined is that of an answer which the same question would get again.
var ErrDeclined = errors.New("asking again would not help")

// said is the text of an answer. What is none says why
// (https://platform.openai.com/docs/api-reference/chat/object).
func said(c openai.ChatCompletionChoice) (string, error) {
	text := c.Message.Content
	for _, part := range c.Message.MultiContent {
		text += part.Text
	}
	text = strings.TrimSpace(text)
	switch {
	case c.Message.Refusal != "":
		return "", fmt.Errorf("the model refuses: %s; %w", cut(strings.Join(strings.Fields(c.Message.Refusal), " "), 200), ErrDeclined)
	case c.FinishReason == openai.FinishReasonContentFilter: // what came before is a torso
		return "", fmt.Errorf("a filter of the server held the answer back; %w", ErrDeclined)
	case text != "":
		return text, nil
	case len(c.Message.ToolCalls) > 0 || c.Message.FunctionCall != nil:
		return "", fmt.Errorf("the answer calls a tool, and none was offered; %w", ErrDeclined)
	}
	return "", fmt.Errorf("the answer is empty (it ended with %q)", c.FinishReason)
}

func (c *openAI) request(r Request, f format) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{
		Model: c.profile.Model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: r.System},
			{Role: openai.ChatMessageRoleUser, Content: r.User},
		},
	}
	if c.profile.Reasoning {
		out.MaxCompletionTokens = r.MaxTokens
	} else {
		// The older name is the one that every compatible server knows.
		out.MaxTokens = r.MaxTokens //nolint:staticcheck // deprecated for reasoning models only; see above
		// A plain 0 would be left out of the JSON and mean the server's default:
		// https://github.com/sashabaranov/go-openai#frequently-asked-questions (read 2026-11).
		out.Temperature = math.SmallestNonzeroFloat32
	}
	out.ResponseFormat = f.of(r)
	return out
}

// transport adds the key and the headers, and ends an answer that has no end.
type transport struct {
	next    http.RoundTripper
	profile Profile
}

func transportOf(p Profile) (http.RoundTripper, error) {
	next := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // the standard library's own value
	if p.Proxy != "" {
		proxy, err := url.Parse(p.Proxy)
		if err != nil || proxy.Host == "" {
			return nil, errors.New("proxy is no address; expected one like http://host:3128") // it may hold a password
		}
		next.Proxy = http.ProxyURL(proxy)
	}
	if p.CAFile != "" {
		pool, err := mounted.Certificates(p.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read certificates: %w", err)
		}
		next.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &transport{next: next, profile: p}, nil
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	key, err := t.profile.key()
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	r.Header.Del(openai.AzureAPIKeyHeader)
	switch {
	case key != "" && t.profile.azure():
		r.Header.Set(openai.AzureAPIKeyHeader, key)
	case key != "":
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for name, value := range t.profile.Headers {
		r.Header.Set(name, value)
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if asks, ok := r.Context().Value(wantedKey{}).(*wanted); ok && resp.StatusCode >= 400 {
		asks.after.Store(int64(readRetryAfter(resp.Header.Get("Retry-After"), time.Now())))
	}
	resp.Body = bounded.Body(resp.Body, maxBody, "the answer")
	if asks, ok := r.Context().Value(wantedKey{}).(*wanted); ok && resp.StatusCode == http.StatusOK && r.Header.Get("Accept") != "text/event-stream" {
		asks.refusal.Store(refusalIn(resp))
	}
	return resp, nil
}

// refusalIn is the error in the body of an answer whose status is 200: gateways and servers answer so
// (https://openrouter.ai/docs/api/reference/errors-and-debugging). The body can be read again.
func refusalIn(resp *http.Response) *openai.APIError {
	text, cut := io.ReadAll(resp.Body)
	resp.Body = &reread{Reader: io.MultiReader(bytes.NewReader(text), failing{cut}), Closer: resp.Body}
	var answer openai.ErrorResponse
	_ = json.Unmarshal(text, &answer) // what cannot be read, or was cut, holds no error
	if answer.Error == nil || answer.Error.Message == "" {
		return nil
	}
	if status, err := strconv.Atoi(fmt.Sprint(answer.Error.Code)); err == nil && status >= 400 && status < 600 {
		answer.Error.HTTPStatusCode = status // it says what may be asked again
	}
	return answer.Error
}

// reread is a body that was read.
type reread struct {
	io.Reader
	io.Closer
}

// failing ends a body with the error with which it ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

func (p Profile) key() (string, error) {
	if p.APIKeyFile == "" {
		return p.APIKey, nil
	}
	b, err := mounted.Read(p.APIKeyFile)
	if err != nil {
		return "", fmt.Errorf("read API key: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// secretHeader is the name of a header that says who asks.
var secretHeader = regexp.MustCompile(`(?i)auth|key|token|secret|cookie|password`)

// secrets are what no error may hold: a server may repeat what it was sent.
func (p Profile) secrets() (out []string) {
	if key, err := p.key(); err == nil && key != "" {
		out = append(out, key)
	}
	for name, value := range p.Headers {
		if fields := strings.Fields(value); secretHeader.MatchString(name) && len(fields) > 0 {
			out = append(out, fields[len(fields)-1]) // Bearer, Basic and the like may stand before it
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// brief is the error on one line without the key and without what a terminal obeys; the cause stays reachable for errors.Is.
func brief(err error, p Profile, after time.Duration) error {
	text := err.Error()
	if call, ok := errors.AsType[*url.Error](err); ok { // the address may hold a user, a password or a key
		text = strings.ReplaceAll(text, fmt.Sprintf("%s %q: ", call.Op, call.URL), "")
	}
	text = redact.Clean(text) // before the key is looked for: what nobody sees may stand in it
	for _, secret := range p.secrets() {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = strings.Join(strings.Fields(text), " ")
	return &shortError{text: cut(text, 300), cause: err, after: after}
}

type shortError struct {
	text  string
	cause error
	after time.Duration // the server asks not to come back before
}

func (e *shortError) Error() string { return e.text }
func (e *shortError) Unwrap() error { return e.cause }

// cut keeps at most n bytes and never half a rune.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
