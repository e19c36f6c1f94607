package llm

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sashabaranov/go-openai"
)

// scripted fails as it is told to, and then answers.
type scripted struct {
	fails  []error
	pieces int // that are heard before it fails
	asked  int
}

func (s *scripted) Complete(context.Context, Request) (Response, error) {
	if s.asked++; s.asked <= len(s.fails) {
		return Response{}, s.fails[s.asked-1]
	}
	return Response{Text: "said"}, nil
}

func (s *scripted) Stream(ctx context.Context, r Request, heard func(string)) (Response, error) {
	for range s.pieces {
		heard("sa")
	}
	answer, err := s.Complete(ctx, r)
	if err == nil {
		heard("said")
	}
	return answer, err
}

func status(code int, after time.Duration) error {
	return &shortError{text: "refused", cause: &openai.APIError{HTTPStatusCode: code}, after: after}
}

// What may succeed is asked again, after as long as the server asks for, and what it has refused is not.
func TestRetrying(t *testing.T) {
	for name, tc := range map[string]struct {
		fails  []error
		asked  int
		took   time.Duration
		broken bool
	}{
		"at once":                        {asked: 1},
		"too many, then an answer":       {fails: []error{status(429, 0)}, asked: 2, took: 2 * time.Second},
		"the server says when":           {fails: []error{status(429, 7*time.Second)}, asked: 2, took: 7 * time.Second},
		"longer than anybody waits":      {fails: []error{status(429, time.Hour)}, asked: 1, broken: true},
		"an error twice":                 {fails: []error{status(500, 0), status(503, 0)}, asked: 3, took: 6 * time.Second},
		"an error three times":           {fails: []error{status(500, 0), status(500, 0), status(500, 0)}, asked: 3, took: 6 * time.Second, broken: true},
		"a wrong key":                    {fails: []error{status(401, 0)}, asked: 1, broken: true},
		"too long":                       {fails: []error{status(413, 0)}, asked: 1, broken: true},
		"the network":                    {fails: []error{errors.New("connection reset by peer")}, asked: 2, took: 2 * time.Second},
		"no time is left to wait for it": {fails: []error{status(429, 50*time.Second)}, asked: 1, took: 30 * time.Second, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				from := time.Now()
				model := &scripted{fails: tc.fails}
				answer, err := Retrying(model, Patience{Attempts: 3, Wait: 2 * time.Second, Within: 30 * time.Second}).Complete(t.Context(), Request{})
				if model.asked != tc.asked || time.Since(from) != tc.took || (err != nil) != tc.broken || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("asked %d times in %s: %q, %v; want %d times in %s", model.asked, time.Since(from), answer.Text, err, tc.asked, tc.took)
				}
			})
		})
	}
}

// Of an answer that broke off after somebody heard of it nothing is said twice.
func TestRetryingAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for pieces, want := range [][]string{{"said"}, {"sa"}} {
			model := &scripted{fails: []error{errors.New("unexpected EOF")}, pieces: pieces}
			var heard []string
			client, ok := Retrying(model, Patience{Attempts: 3, Wait: time.Second}).(Streamer)
			if !ok {
				t.Fatal("it does not stream")
			}
			_, err := client.Stream(t.Context(), Request{}, func(piece string) { heard = append(heard, piece) })
			if diff := cmp.Diff(want, heard); diff != "" || (err != nil) != (pieces > 0) {
				t.Errorf("%d pieces: %v (-want +got):\n%s", pieces, err, diff)
			}
		}
	})
}
