package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

type answering string

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

// A server that sends without end is one clear error.
func TestAnswersAndListsAreBounded(t *testing.T) {
	for path, tc := range map[string]struct {
		answer string
		held   uint64
		want   string // of the error; empty: it is read to its end
	}{
		"/api/v1/pods":                             {"12345678", 0, ""},
		"/api/v1/nodes":                            {"123456789", 0, "the answer to /api/v1/nodes has more than 0 MiB"},
		"/api/v1/pods?watch=true":                  {"123456789", 0, ""},
		"/api/v1/namespaces/ml/pods/a/log":         {"123456789", 0, ""},
		"/api/v1/pods?limit=500&continue=more":     {"1", 0, "says that there are more: ask for one namespace"},
		"/api/v1/pods?limit=500&continue=and-more": {"1", 1 << 40, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://cluster"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := boundedTransport{answering(tc.answer), 8, tc.held, heldNow, time.Minute, &pages{most: 9}, &atomic.Bool{}}.RoundTrip(r)
		var text []byte
		if err == nil {
			text, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		switch {
		case tc.want == "" && (err != nil || string(text) != tc.answer):
			t.Errorf("%s: %q, %v; want all of it", path, text, err)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v; want %q", path, err, tc.want)
		}
	}
}

// Pages without an object, and a list that begins anew for ever, come to an end; lists that are read one after another have
// nothing to do with each other.
func TestPagesWithoutEndAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		expires, ends int // a page that is gone, and the last; 0: none
		lists         int
		want          int // pages that are read
		fails         bool
	}{
		"empty pages":                   {lists: 1, want: 10, fails: true},
		"a list that begins anew":       {expires: 3, lists: 1, want: 14, fails: true},
		"as many as there may be":       {ends: 10, lists: 1, want: 10},
		"one list after another":        {ends: 9, lists: 3, want: 27},
		"a page more than there may be": {ends: 11, lists: 1, want: 10, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			asked, read := 0, 0
			of := newBoundedTransport(roundTrip(func(*http.Request) int {
				if asked++; asked == tc.expires {
					asked = 0
					return http.StatusGone
				}
				return http.StatusOK
			})).(boundedTransport)
			of.pages.most = 9
			var failed error
			for range tc.lists {
				asked = 0
				for next := ""; failed == nil; {
					r := httptest.NewRequest(http.MethodGet, "http://cluster/api/v1/pods?limit=500"+next, nil)
					resp, err := of.RoundTrip(r)
					if failed = err; err != nil {
						break
					}
					_ = resp.Body.Close()
					if read++; read > 100 {
						t.Fatal("it does not end")
					}
					if next = fmt.Sprint("&continue=", asked); resp.StatusCode == http.StatusGone {
						next = ""
					}
					if asked == tc.ends && tc.ends > 0 {
						break
					}
				}
			}
			if read != tc.want || (failed != nil) != tc.fails || failed != nil && !strings.Contains(failed.Error(), "more than 9 pages of /api/v1/pods") {
				t.Errorf("%d pages are read, want %d: %v", read, tc.want, failed)
			}
		})
	}
}

type roundTrip func(*http.Request) int

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: f(r), Body: io.NopCloser(strings.NewReader("{}"))}, r.Context().Err()
}

// A server that takes a request and says nothing is one clear error; a watch may be silent.
func TestAServerThatSaysNothingIsGivenUp(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			w.WriteHeader(http.StatusOK)
			return
		}
		<-r.Context().Done()
	}))
	defer silent.Close()
	of := boundedTransport{http.DefaultTransport, 8, 1 << 40, heldNow, time.Nanosecond, &pages{most: 9}, &atomic.Bool{}}
	for path, gives := range map[string]bool{"/api/v1/nodes": true, "/api/v1/nodes?watch=true": false} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, silent.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := of.RoundTrip(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		if gives != errors.Is(err, context.DeadlineExceeded) || gives && !strings.Contains(err.Error(), "no answer to /api/v1/nodes in 1ns") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Of a refusal of a megabyte it is said that it is one, and of others all.
func TestARefusalIsBounded(t *testing.T) {
	for size, want := range map[int]string{
		mostRefusal:     strings.Repeat("x", mostRefusal),
		mostRefusal + 1: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"status 503 of /api/v1/nodes, in more than 64 KiB","code":503}`,
	} {
		of := newBoundedTransport(refusing(strings.Repeat("x", size)))
		resp, err := of.RoundTrip(httptest.NewRequest(http.MethodGet, "http://cluster/api/v1/nodes", nil))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		if _ = resp.Body.Close(); err != nil || string(text) != want {
			t.Errorf("of %d bytes %d are read, %v: %.200s", size, len(text), err, text)
		}
	}
}

type refusing string

func (r refusing) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(r)))}, nil
}

// Where a server says nothing, the first question waits long, and each that follows is not worth as much; one that is answered is
// waited for anew.
func TestAServerThatWasSilentIsNotWaitedForEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := false
		of := newBoundedTransport(waiting(func(ctx context.Context) error {
			if answers {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}))
		ask := func() time.Duration {
			began := time.Now()
			resp, err := of.RoundTrip(httptest.NewRequest(http.MethodGet, "http://cluster/api/v1/nodes", nil))
			if err == nil {
				_ = resp.Body.Close()
			}
			return time.Since(began)
		}
		got := []time.Duration{ask(), ask(), ask()}
		answers = true
		got = append(got, ask())
		answers = false
		got = append(got, ask())
		if diff := cmp.Diff([]time.Duration{answersWithin, AnswersWithin, AnswersWithin, 0, answersWithin}, got); diff != "" {
			t.Errorf("each is waited for (-want +got):\n%s", diff)
		}
	})
}

type waiting func(context.Context) error

func (f waiting) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := f(r.Context()); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}
