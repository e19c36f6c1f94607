package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/sashabaranov/go-openai"
)

// format is how a server is asked for JSON. Servers differ: some take a schema, some only promise JSON, and
// some refuse the field (https://platform.openai.com/docs/guides/structured-outputs; vLLM, Ollama and
// llama.cpp have their own limits). What was refused once is not tried again,
// and what was taken once is not doubted.
type format int32

const (
	withSchema format = iota
	withJSON
	withText
)

// formats remembers how far a server goes.
type formats struct {
	best  atomic.Int32 // the strictest that it did not refuse
	taken sync.Map     // what it took once: a refusal that does not name it has another reason
}

// took is a format of a schema, or a way of answering.
type took struct {
	format format
	schema string
}

// complete asks with the strictest format that the server takes. Where a refusal does not say whether it is about the
// format, text tells: what is refused as text as well is refused for another reason, and the next question, one step
// laxer, tells whether JSON without a schema is taken.
func (f *formats) complete(ctx context.Context, r Request, ask func(context.Context, Request, format) (openai.ChatCompletionResponse, error)) (openai.ChatCompletionResponse, error) {
	if r.JSONSchema == nil {
		return ask(ctx, r, withText)
	}
	schema := string(r.JSONSchema)
	best := format(f.best.Load())
	answer, first := ask(ctx, r, best)
	why := refused(first, namesFormat)
	if _, before := f.taken.Load(took{best, schema}); why == unsaid && before {
		return answer, first
	}
	next := best
	for err := first; ; {
		switch {
		case err == nil:
			f.taken.Store(took{next, schema}, true)
			if f.best.Store(int32(next)); why == unsaid {
				f.best.Store(int32(best + 1))
			}
			return answer, nil
		case why == otherwise:
			return answer, err
		case next == withText:
			return answer, first
		case why == unsaid:
			next = withText
		default:
			next++
		}
		if answer, err = ask(ctx, r, next); err != nil {
			why = refused(err, namesFormat)
		}
	}
}

// reason is what a refusal is about.
type reason int

const (
	otherwise reason = iota // something else, or it is none
	named                   // what was asked about
	unsaid                  // it may be that, or something else
)

var (
	namesFormat = regexp.MustCompile(`(?i)response_?format|json_?(?:schema|object)|json mode|structured output|schema|grammar`)
	namesStream = regexp.MustCompile(`(?i)\bstream`)
)

// ofTheText are codes of requests whose text is refused, however it is asked
// (https://platform.openai.com/docs/guides/error-codes, https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter).
var ofTheText = map[string]bool{"context_length_exceeded": true, "string_above_max_length": true, "content_filter": true, "invalid_prompt": true, "model_not_found": true}

// refused says whether an error is a request that the server does not take because of what the names match.
func refused(err error, names *regexp.Regexp) reason {
	status, text, param, code := 0, "", "", ""
	var api *openai.APIError
	var failed *openai.RequestError
	switch {
	case errors.As(err, &api):
		status, text, code = api.HTTPStatusCode, api.Message, fmt.Sprint(api.Code)
		if api.Param != nil {
			param = *api.Param
		}
	case errors.As(err, &failed):
		status, text = failed.HTTPStatusCode, string(failed.Body)
	}
	switch {
	case status != http.StatusBadRequest && status != http.StatusUnprocessableEntity && status != http.StatusNotImplemented:
		return otherwise
	case names.MatchString(param), names.MatchString(text):
		return named
	case param != "" || ofTheText[code]:
		return otherwise
	}
	return unsaid
}

func (f format) of(r Request) *openai.ChatCompletionResponseFormat {
	switch {
	case r.JSONSchema == nil || f == withText:
		return nil
	case f == withJSON:
		return &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return &openai.ChatCompletionResponseFormat{
		Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
		JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: json.RawMessage(r.JSONSchema), Strict: true},
	}
}
