package llm

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sashabaranov/go-openai"
)

// Retry says whether a call that failed may succeed when it is made again, and not before how long: too
// many requests, an error of the server, or of the network. What the server has refused (a key, a model,
// a request that is too long) it will refuse again.
func Retry(err error) (after time.Duration, ok bool) {
	if short, ok := errors.AsType[*shortError](err); ok {
		after = short.after
	}
	status := 0
	var refused *openai.APIError
	var failed *openai.RequestError
	var untrusted *tls.CertificateVerificationError
	switch {
	case errors.Is(err, ErrOff) || errors.Is(err, context.Canceled) || errors.Is(err, ErrDeclined):
		return 0, false
	case errors.As(err, &untrusted): // what somebody has to set right first
		return 0, false
	case errors.As(err, &refused):
		status = refused.HTTPStatusCode
	case errors.As(err, &failed):
		status = failed.HTTPStatusCode
	}
	return after, status < 400 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500
}

// wanted is where the transport leaves how long a server asks to wait, and the error that it answers where its status says
// that there is none.
type wanted struct {
	after   atomic.Int64
	refusal atomic.Pointer[openai.APIError]
}

type wantedKey struct{}

// mostAfter is how long a server may ask to be left alone: what is counted by the day begins anew by then.
const mostAfter = 24 * time.Hour

// readRetryAfter reads the header in both of its forms
// (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after).
func readRetryAfter(text string, now time.Time) time.Duration {
	seconds, err := strconv.Atoi(text)
	if err == nil || errors.Is(err, strconv.ErrRange) { // a number without an end is the largest that there is
		return time.Duration(min(max(seconds, 0), int(mostAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), mostAfter)
	}
	return 0
}

// Patience is how often a question is asked that may succeed when it is asked again. The zero value asks once.
type Patience struct {
	Attempts int
	Wait     time.Duration // after the first failure; doubled after each
	Longest  time.Duration // that a server may ask to wait; 0: a minute
	Within   time.Duration // all attempts; 0: the caller's context decides
}

type retrying struct {
	next     Client
	patience Patience
}

// Retrying asks again where Retry says that it may help.
func Retrying(c Client, p Patience) Client {
	if p.Attempts < 2 {
		return c
	}
	return &retrying{next: c, patience: p}
}

func (r *retrying) Complete(ctx context.Context, q Request) (Response, error) {
	return r.ask(ctx, func(ctx context.Context) (Response, bool, error) {
		answer, err := r.next.Complete(ctx, q)
		return answer, true, err
	})
}

// Stream asks again only where nothing was heard yet: what was heard is not said twice.
func (r *retrying) Stream(ctx context.Context, q Request, heard func(string)) (Response, error) {
	s, ok := r.next.(Streamer)
	if !ok {
		answer, err := r.Complete(ctx, q)
		if err == nil {
			heard(answer.Text)
		}
		return answer, err
	}
	return r.ask(ctx, func(ctx context.Context) (Response, bool, error) {
		silent := true
		answer, err := s.Stream(ctx, q, func(piece string) {
			silent = false
			heard(piece)
		})
		return answer, silent, err
	})
}

func (r *retrying) ask(ctx context.Context, once func(context.Context) (answer Response, again bool, err error)) (answer Response, err error) {
	err = r.patience.Try(ctx, func(ctx context.Context) (again bool, err error) {
		answer, again, err = once(ctx)
		return again, err
	})
	return answer, err
}

// Try calls once until it succeeds, says that it is not to be called again, or fails in a way of which Retry says that it will fail again. The error
// is the last one: what a server said tells more than that there was no time.
func (p Patience) Try(ctx context.Context, once func(context.Context) (again bool, err error)) error {
	if p.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Within)
		defer cancel()
	}
	longest := cmp.Or(max(0, p.Longest), time.Minute)
	wait := p.Wait
	for left := p.Attempts - 1; ; left-- {
		again, err := once(ctx)
		if err == nil || !again || left < 1 {
			return err
		}
		after, may := Retry(err)
		if !may || after > longest {
			return err
		}
		timer := time.NewTimer(max(after, wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
		wait *= 2
	}
}
