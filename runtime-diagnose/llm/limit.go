package llm

import (
	"context"
	"fmt"

	"golang.org/x/time/rate"
)

type limited struct {
	next Client
	gate *rate.Limiter
	rate int
}

// Limited asks at most perMinute times a minute, the first few at once. A call waits for
// its turn as long as its context allows; if its turn comes later than that, it fails at once.
func Limited(c Client, perMinute int) Client {
	if perMinute < 1 {
		return c
	}
	burst := max(1, perMinute/10)
	return &limited{next: c, gate: rate.NewLimiter(rate.Limit(float64(perMinute)/60), burst), rate: perMinute}
}

func (l *limited) Complete(ctx context.Context, r Request) (Response, error) {
	if err := l.gate.Wait(ctx); err != nil {
		return Response{}, fmt.Errorf("wait for a turn at the model (%d calls a minute): %w", l.rate, err)
	}
	return l.next.Complete(ctx, r)
}

// Stream waits as well; an answer of a client that does not stream is one piece.
func (l *limited) Stream(ctx context.Context, r Request, heard func(string)) (Response, error) {
	s, ok := l.next.(Streamer)
	if !ok {
		answer, err := l.Complete(ctx, r)
		heard(answer.Text)
		return answer, err
	}
	if err := l.gate.Wait(ctx); err != nil {
		return Response{}, fmt.Errorf("wait for a turn at the model (%d calls a minute): %w", l.rate, err)
	}
	return s.Stream(ctx, r, heard)
}
