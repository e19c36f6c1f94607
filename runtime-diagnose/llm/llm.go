// Package llm asks a language model for one answer: a client of one method, what limits it
// and what replays it. It knows nothing of jobs, keeps no conversation and gives the model
// no tools. Only openai.go speaks a real protocol. Start reading at Client and New.
package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Client answers one request. Implementations are safe for concurrent use.
type Client interface {
	Complete(context.Context, Request) (Response, error)
}

// Streamer is a client that hands over an answer as it comes, piece by piece. What it returns is the whole.
type Streamer interface {
	Client
	Stream(ctx context.Context, r Request, heard func(piece string)) (Response, error)
}

// Request is one question. Nothing in it is secret: it was masked before.
type Request struct {
	System, User string
	MaxTokens    int    // of the answer; 0: the server's own limit
	JSONSchema   []byte // the answer has to be JSON of this schema; nil: free text
}

// Response is the answer as it came, cut at MaxText.
type Response struct {
	Text, Model         string
	TokensIn, TokensOut int // as the server counts them; 0: it does not say
	// Format is how it was asked: json_schema, json_object, or empty for text.
	Format string `json:",omitempty"`
	// Cut says that there was no room for the whole answer: its end is missing.
	Cut bool `json:",omitempty"`
}

// MaxText is how many bytes of an answer are kept. An explanation has a few hundred.
const MaxText = 32 << 10

// ErrOff says that there is no model: none is configured.
var ErrOff = errors.New("no language model is configured")

// Off is the client of the zero configuration: every call is ErrOff.
var Off Client = off{}

type off struct{}

func (off) Complete(context.Context, Request) (Response, error) { return Response{}, ErrOff }

// Profile says how to reach a model. The zero value is no model.
type Profile struct {
	Provider   string            // "openai" or "azure"; empty only where the rest is empty too
	BaseURL    string            // up to and including /v1; of Azure: https://name.openai.azure.com
	APIVersion string            // of Azure
	Model      string            // as the server knows it; of Azure: the name of the deployment
	Reasoning  bool              // a model that thinks first: max_completion_tokens, no temperature
	APIKeyFile string            // read for each call, so that it may be replaced while running
	APIKey     string            // where there is no file
	CAFile     string            // PEM; empty: the system's certificates
	Proxy      string            // its address; empty: HTTPS_PROXY, HTTP_PROXY and NO_PROXY of the environment decide
	Headers    map[string]string // sent with each call
	Timeout    time.Duration     // of one call; 0: the caller's context decides
}

func (p Profile) azure() bool { return p.Provider == "azure" }

// New is the client of a profile: Off for the zero profile. There is no default provider,
// because text would go to an address that nobody wrote down.
func New(p Profile) (Client, error) {
	switch {
	case p.Provider == "openai", p.azure() && p.APIVersion != "":
		return newOpenAI(p)
	case p.azure():
		return nil, errors.New("set up language model: apiVersion is empty; expected that of the Azure resource, like 2024-10-21")
	case p.Provider == "" && p.BaseURL == "" && p.Model == "":
		return Off, nil
	default:
		return nil, fmt.Errorf("set up language model: provider is %q; known are openai and azure", p.Provider)
	}
}
