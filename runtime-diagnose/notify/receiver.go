package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/signalbox-dev/signalbox/config/client"
)

// receiver is one with its queue.
type receiver struct {
	Receiver
	queue    *queue
	template *template.Template
	client   *http.Client
}

func newReceiver(r Receiver) (*receiver, error) {
	switch r.Form {
	case FormAlertmanager, FormSlack, FormGeneric:
	default:
		return nil, fmt.Errorf("form is %q; expected %s, %s or %s", r.Form, FormAlertmanager, FormSlack, FormGeneric)
	}
	out := &receiver{Receiver: r, queue: newQueue(mostQueued)}
	var err error
	if out.template, err = parse(r.Template); err != nil {
		return nil, err
	}
	if out.client, err = client.New(r.CAFile, callTime); err != nil {
		return nil, err
	}
	return out, nil
}

// never says that another attempt would come to the same.
const never = -1

// send makes one attempt. Where it failed, after says how long to wait at least, or never to try again. The error holds no
// address: with Slack the address is the secret.
func (r *receiver) send(ctx context.Context, f Failure) (after time.Duration, err error) {
	body, err := r.body(f)
	if err != nil {
		return never, fmt.Errorf("write the message: %w", err)
	}
	address, err := r.URL()
	if err != nil {
		return 0, fmt.Errorf("read the address: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSpace(address), bytes.NewReader(body))
	if err != nil {
		return never, errors.New("the address cannot be read")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "signalbox")
	if r.Token != nil {
		token, err := r.Token()
		if err != nil {
			return 0, fmt.Errorf("read the token: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	}
	resp, err := r.client.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, mostBody)) // so that the connection is used again
	// Whoever answers knows the address, and writes what it likes beside the number.
	answers := fmt.Errorf("the receiver answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return 0, nil
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode >= 500:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return time.Duration(min(max(seconds, 0), int(mostPause/time.Second))) * time.Second, answers
	default:
		return never, answers
	}
}
