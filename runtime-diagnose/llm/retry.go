package llm

import (
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

// wanted is where the transport leaves how long a server asks to wait.
type wanted struct{ after atomic.Int64 }

type wantedKey struct{}

// readRetryAfter reads the header in both of its forms
// (https://www.rfc-editor.org/rfc/rfc9110#field.retry-after).
func readRetryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 24*3600)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
