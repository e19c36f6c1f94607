package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// tape is one recorded call, readable in a review.
type tape struct {
	System   string          `json:"system"`
	User     string          `json:"user"`
	Schema   json.RawMessage `json:"schema,omitempty"`
	Response Response        `json:"response"`
}

type recorded struct{ dir string }

// Recorded answers from a folder that Recording filled. A request it does not know is an
// error: a test never calls a model by accident.
func Recorded(dir string) Client { return recorded{dir} }

func (c recorded) Complete(_ context.Context, r Request) (Response, error) {
	path := cassette(c.dir, r)
	text, err := os.ReadFile(path)
	if err != nil {
		return Response{}, fmt.Errorf("replay answer: this request was never recorded: %w", err)
	}
	var t tape
	if err := json.Unmarshal(text, &t); err != nil {
		return Response{}, fmt.Errorf("replay answer %s: %w", path, err)
	}
	return t.Response, nil
}

type recording struct {
	next Client
	dir  string
}

// Recording asks next and keeps each answer in the folder, one file for each request.
func Recording(next Client, dir string) Client { return recording{next, dir} }

func (c recording) Complete(ctx context.Context, r Request) (Response, error) {
	answer, err := c.next.Complete(ctx, r)
	if err != nil {
		return Response{}, err
	}
	text, err := json.MarshalIndent(tape{r.System, r.User, r.JSONSchema, answer}, "", "  ")
	if err != nil {
		return Response{}, fmt.Errorf("record answer: %w", err)
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return Response{}, fmt.Errorf("record answer: %w", err)
	}
	if err := os.WriteFile(cassette(c.dir, r), append(text, '\n'), 0o600); err != nil {
		return Response{}, fmt.Errorf("record answer: %w", err)
	}
	return answer, nil
}

// cassette is the file of a request: named after all that the model would see.
func cassette(dir string, r Request) string {
	var all []byte
	for _, part := range []string{r.System, r.User, string(r.JSONSchema)} {
		all = fmt.Appendf(all, "%d:%s", len(part), part)
	}
	h := sha256.Sum256(all)
	return filepath.Join(dir, hex.EncodeToString(h[:])[:16]+".json")
}
