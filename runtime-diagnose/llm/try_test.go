package llm

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sashabaranov/go-openai"
)

// A caller without a client has the same patience as one: as often, as long, and not where it does not help.
func TestTryIsAsPatientAsAClient(t *testing.T) {
	busy := &openai.APIError{HTTPStatusCode: http.StatusServiceUnavailable}
	refused := &openai.APIError{HTTPStatusCode: http.StatusUnauthorized}
	for name, tc := range map[string]struct {
		fails error
		again bool
		of    Patience
		calls int
		took  time.Duration
	}{
		"a busy server is asked as often as that": {busy, true, Patience{Attempts: 3, Wait: time.Second}, 3, 3 * time.Second},
		"what is refused will be refused":         {refused, true, Patience{Attempts: 3, Wait: time.Second}, 1, 0},
		"who says no is believed":                 {busy, false, Patience{Attempts: 3, Wait: time.Second}, 1, 0},
		"all calls have a limit":                  {busy, true, Patience{Attempts: 9, Wait: time.Second, Within: 2 * time.Second}, 2, 2 * time.Second},
		"the zero value calls once":               {busy, true, Patience{}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, began := 0, time.Now()
				err := tc.of.Try(t.Context(), func(context.Context) (bool, error) {
					calls++
					return tc.again, tc.fails
				})
				if !errors.Is(err, tc.fails) || calls != tc.calls || time.Since(began) != tc.took {
					t.Errorf("%d calls in %s: %v; want %d in %s", calls, time.Since(began), err, tc.calls, tc.took)
				}
			})
		})
	}
}
