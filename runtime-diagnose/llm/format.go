package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/sashabaranov/go-openai"
)

// format is how a server is asked for JSON. Servers differ: some take a schema, some only promise JSON, and
// some refuse the field (https://platform.openai.com/docs/guides/structured-outputs; vLLM, Ollama and
// llama.cpp have their own limits). What was refused once is not tried again.
type format int32

const (
	withSchema format = iota
	withJSON
	withText
)

// formats remembers how far a server goes.
type formats struct{ best atomic.Int32 }

// complete asks with the strictest format that the server takes. A refusal that no laxer format mends has
// another reason, and is what it was.
func (f *formats) complete(ctx context.Context, r Request, ask func(context.Context, Request, format) (openai.ChatCompletionResponse, error)) (openai.ChatCompletionResponse, error) {
	if r.JSONSchema == nil {
		return ask(ctx, r, withText)
	}
	best := format(f.best.Load())
	answer, first := ask(ctx, r, best)
	if first == nil || !refusedFormat(first) {
		return answer, first
	}
	for next := best + 1; next <= withText; next++ {
		answer, err := ask(ctx, r, next)
		if err == nil {
			f.best.Store(int32(next))
			return answer, nil
		}
		if !refusedFormat(err) {
			return answer, err
		}
	}
	return answer, first
}

// refusedFormat says whether an error may be about the field: a request that the server does not take.
func refusedFormat(err error) bool {
	status := 0
	var refused *openai.APIError
	var failed *openai.RequestError
	switch {
	case errors.As(err, &refused):
		status = refused.HTTPStatusCode
	case errors.As(err, &failed):
		status = failed.HTTPStatusCode
	}
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity || status == http.StatusNotImplemented
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
