package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
)

// Whoever sends as much as the API server lets through, of jobs that are slow to review, holds up no review of somebody else: not by
// the places for reviews, and not by the room for bodies and their values, whether by one account or by one of each of twenty namespaces.
func TestNobodyWaitsForWhoSendsMost(t *testing.T) {
	padded := func(of string, n int) string {
		return strings.Replace(train, `"image":"train:1"`, `"image":"train:1","args":[`+strings.Repeat(of+",", n)+`"x"]`, 1)
	}
	one := func(int) (string, string) { return "mallory", "lair" }
	for name, tc := range map[string]struct {
		object string
		who    func(int) (user, namespace string)
	}{
		"one account, whose jobs wait for their turn":     {padded(`"`+strings.Repeat("x", 60<<10)+`"`, 1), one},
		"one account, whose jobs are heavy":               {padded(`"`+strings.Repeat("x", 240<<10)+`"`, 1), one},
		"one account, whose jobs have many values":        {padded(`{}`, 75_000), one},
		"one account, with large jobs":                    {padded(`"`+strings.Repeat("x", 3<<20)+`"`, 1), one},
		"one account in each of two namespaces":           {padded(`"x"`, 1), func(i int) (string, string) { ns := fmt.Sprint("lair-", i%2); return serviceAccount + ns + ":a", ns }},
		"one account in each of twenty namespaces":        {padded(`"x"`, 1), func(i int) (string, string) { ns := fmt.Sprint("lair-", i%20); return serviceAccount + ns + ":a", ns }},
		"one account in each of twenty, whose jobs weigh": {padded(`"`+strings.Repeat("x", 60<<10)+`"`, 1), func(i int) (string, string) { ns := fmt.Sprint("lair-", i%20); return serviceAccount + ns + ":a", ns }},
		"a hundred accounts of one namespace, in twenty": {padded(`"x"`, 1), func(i int) (string, string) {
			return fmt.Sprint(serviceAccount, "lair:", i%100), fmt.Sprint("lair-", i%20)
		}},
		"the namespace of somebody else, by twenty accounts": {padded(`"x"`, 1), func(i int) (string, string) { return fmt.Sprint(serviceAccount, "lair-", i%20, ":a"), "ml" }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := NewHandler(HandlerOptions{View: world{}, Concurrent: 4, Reviewer: reviewFunc(func(_ context.Context, r preflight.Request) (preflight.Report, error) {
					takes := time.Millisecond
					if r.User != "ada" {
						takes = 150 * time.Millisecond
					}
					time.Sleep(takes) //nolint:forbidigo // the clock is the test's
					return preflight.Report{Decision: preflight.Allowed, Ran: 1}, nil
				})})
				server := bounded(newDecoder(&admission.Webhook{Handler: h}))
				send := func(ctx context.Context, user, namespace, object string) string {
					text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: reviewType, Request: request(func(r *admissionv1.AdmissionRequest) {
						r.UserInfo.Username, r.Namespace, r.Object.Raw = user, namespace, []byte(object)
					})})
					if err != nil {
						t.Fatal(err)
					}
					r, w := httptest.NewRequestWithContext(ctx, http.MethodPost, Path, bytes.NewReader(text)), httptest.NewRecorder()
					r.Header.Set("Content-Type", "application/json")
					server.ServeHTTP(w, r)
					return w.Body.String()
				}
				ctx, stop := context.WithCancel(t.Context())
				var all sync.WaitGroup
				for i := range 200 {
					all.Go(func() {
						user, namespace := tc.who(i)
						for ctx.Err() == nil {
							send(ctx, user, namespace, tc.object)
						}
					})
				}
				time.Sleep(time.Second) //nolint:forbidigo // the clock is the test's
				for range 10 {
					begun := time.Now()
					if said := send(t.Context(), "ada", "ml", train); !strings.Contains(said, `"decision":"allowed"`) || strings.Contains(said, "not-checked") {
						t.Errorf("after %s: %s", time.Since(begun), said)
					} else if took := time.Since(begun); took > 2*time.Second {
						t.Errorf("took %s", took)
					}
				}
				stop()
				all.Wait()
				comeToRest(time.Second)
			})
		})
	}
}

// One API server calls for everybody: as many as there is room for are reviewed at the same time, however long their bodies are.
func TestManyOfOneAddressAreReviewedAtTheSameTime(t *testing.T) {
	const requests = 250
	for _, padding := range []int{0, headBytes - 1000, headBytes, 2 * headBytes} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			var now atomic.Int32
			server := bounded(newDecoder(&admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
				now.Add(1)
				<-release
				return admission.Allowed("")
			})}))
			text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: reviewType, Request: request(func(r *admissionv1.AdmissionRequest) {
				r.Object.Raw = []byte(`{"of":"` + strings.Repeat("x", padding) + `"}`)
			})})
			if err != nil {
				t.Fatal(err)
			}
			for range requests {
				go func() {
					r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, bytes.NewReader(text))
					r.Header.Set("Content-Type", "application/json")
					server.ServeHTTP(httptest.NewRecorder(), r)
				}()
			}
			synctest.Wait()
			if n := now.Load(); n != requests {
				t.Errorf("of %d bytes each, %d are reviewed at the same time; want %d", len(text), n, requests)
			}
			close(release)
		})
	}
}

// Room is for many: one author has half of it, and where it is full, the next is the one that holds least.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBudget(10)
		got := make(chan string, 100)
		ask := func(ctx context.Context, author string, weight int64) {
			go func() {
				if r.acquire(ctx, author, weight) == nil {
					got <- author
				} else {
					got <- author + " left"
				}
			}()
			synctest.Wait()
		}
		want := func(who ...string) {
			t.Helper()
			synctest.Wait()
			for _, w := range who {
				select {
				case is := <-got:
					if is != w {
						t.Errorf("%s is next; want %s", is, w)
					}
				default:
					t.Errorf("nobody is next; want %s", w)
				}
			}
			if len(got) > 0 {
				t.Errorf("%s is next; want nobody", <-got)
			}
		}
		gone, leave := context.WithCancel(t.Context())
		ask(t.Context(), "ada", 3)
		ask(t.Context(), "ada", 2)
		want("ada", "ada")
		ask(t.Context(), "ada", 1) // the half is hers
		want()
		ask(t.Context(), "bob", 4)
		want("bob")
		ask(gone, "eve", 2) // one is left
		want()
		ask(t.Context(), "carl", 1) // she came before
		want()
		leave()
		want("eve left", "carl")
		r.release("ada", 2)
		want("ada")
		ask(t.Context(), "ada", 1)
		ask(t.Context(), "bob", 1)
		want("ada") // the last that there is
		r.release("bob", 4)
		want("bob")
		r.release("ada", 3)
		r.release("ada", 1)
		r.release("ada", 1)
		r.release("bob", 1)
		r.release("carl", 1)
		ask(t.Context(), "ada", 10) // one request, however large
		want("ada")
		r.release("ada", 10)
		if r.taken != 0 || len(r.by) != 0 || len(r.waiting) != 0 {
			t.Errorf("%d taken, %v, %d waiting; want none", r.taken, r.by, len(r.waiting))
		}
	})
}

// Who asks stands in the first bytes of what an API server sends.
func TestWhoAsksIsKnownBeforeTheObject(t *testing.T) {
	of := func(changes ...change) string {
		text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: reviewType, Request: request(changes...)})
		if err != nil {
			t.Fatal(err)
		}
		return string(text[:min(len(text), headBytes)])
	}
	named := func(user string) change {
		return func(r *admissionv1.AdmissionRequest) { r.UserInfo.Username = user }
	}
	long := strings.Repeat("n", 253)
	for name, tc := range map[string]struct{ head, want string }{
		"a user":                        {of(), "ada"},
		"a name that has to be escaped": {of(named(`a"b\c` + "\u202e")), `a"b\c` + "\u202e"},
		"a service account":             {of(named("system:serviceaccount:ci:bot")), "system:serviceaccounts:ci"},
		"names as long as they are": {of(named(long), func(r *admissionv1.AdmissionRequest) {
			r.Name, r.Namespace, r.Kind.Group, r.Resource.Group = long, long[:63], long, long
			r.RequestKind, r.RequestResource = &r.Kind, &r.Resource
		}), long},
		"a long list of groups": {of(func(r *admissionv1.AdmissionRequest) {
			r.UserInfo.Groups = strings.Split(strings.Repeat(long+" ", 100), " ")
		}), "ada"},
		"nobody":              {of(named("")), ""},
		"a name that goes on": {of(named(strings.Repeat("n", headBytes))), ""},
		"another field first": {`{"userInfo":{"uid":"ada"}}`, ""},
		"no name":             {`{"userInfo":{"username":7}}`, ""},
		"no JSON":             {`"userInfo":`, ""},
		"nothing":             {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := authorIn([]byte(tc.head)); got != tc.want {
				t.Errorf("%q; want %q", got, tc.want)
			}
		})
	}
}
