package webhook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Whatever is sent, the answer is that of the library, and so is what the handler is asked.
func TestTheDoorAnswersAsTheLibraryDoes(t *testing.T) {
	review := admissionv1.AdmissionReview{Request: request()}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	text, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(text)
	const plain = "application/json"
	for name, tc := range map[string]struct {
		body, kind string
		chunked    bool
	}{
		"a review":                {body: whole, kind: plain},
		"of the version before":   {body: strings.Replace(whole, "admission.k8s.io/v1", "admission.k8s.io/v1beta1", 1), kind: plain},
		"of no version":           {body: strings.Replace(whole, "admission.k8s.io/v1", "", 1), kind: plain},
		"of another kind":         {body: strings.Replace(whole, "AdmissionReview", "TokenReview", 1), kind: plain},
		"without a request":       {body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, kind: plain},
		"with fields of tomorrow": {body: strings.Replace(whole, `"request":{`, `"next":1,"request":{"later":{"a":[1]},`, 1), kind: plain},
		"names in another case":   {body: strings.Replace(whole, `"request":`, `"Request":`, 1), kind: plain},
		"no JSON":                 {body: "<html>", kind: plain},
		"nothing":                 {body: "", kind: plain},
		"cut off":                 {body: whole[:len(whole)/2], kind: plain},
		"more behind it":          {body: whole + "{}", kind: plain},
		"of another type":         {body: whole, kind: "text/plain"},
		"of a length not said":    {body: whole, kind: plain, chunked: true},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]string{}
			asked := map[string][]admission.Request{}
			for _, who := range []string{"library", "door"} {
				hook := &admission.Webhook{Handler: admission.HandlerFunc(func(_ context.Context, req admission.Request) admission.Response {
					asked[who] = append(asked[who], req)
					resp := admission.Denied("no & <never>")
					resp.Warnings = []string{"a warning"}
					return resp
				})}
				var handler http.Handler = hook
				if who == "door" {
					handler = newDecoder(hook)
				}
				server := httptest.NewServer(handler)
				defer server.Close()
				var body io.Reader = bytes.NewReader([]byte(tc.body))
				if tc.chunked {
					body = io.MultiReader(body)
				}
				resp, err := http.Post(server.URL, tc.kind, body)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				said, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				answers[who] = resp.Status + " " + string(said)
			}
			if diff := cmp.Diff(answers["library"], answers["door"]); diff != "" {
				t.Errorf("answer (-library +door):\n%s", diff)
			}
			if diff := cmp.Diff(asked["library"], asked["door"]); diff != "" {
				t.Errorf("asked (-library +door):\n%s", diff)
			}
		})
	}
}

// What one address may hold with bodies that have not come is free again as soon as a body has come, not when it is answered.
func TestABodyThatHasComeHoldsNoRoomForOthers(t *testing.T) {
	came := make(chan struct{}, 1)
	hook := &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		select {
		case <-came:
		default:
			t.Error("the body has not come yet for whoever counts")
		}
		return admission.Allowed("")
	})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &body{http.MaxBytesReader(w, again{bufio.NewReader(r.Body), r.Body}, mostBody), r.ContentLength, func() {
			select {
			case came <- struct{}{}:
			default:
			}
		}}
		newDecoder(hook).ServeHTTP(w, r)
	}))
	defer server.Close()
	review := admissionv1.AdmissionReview{Request: request()}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	text, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(server.URL, "application/json", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
}

// Where as many are decoded as may be, the next waits until its caller is gone; large ones hold up no small one.
func TestFewAreDecodedAtTheSameTime(t *testing.T) {
	asked := 0
	d := newDecoder(&admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		asked++
		return admission.Allowed("")
	})})
	gone, stop := context.WithCancel(t.Context())
	stop()
	send := func(ctx context.Context) string {
		t.Helper()
		text, err := json.Marshal(admissionv1.AdmissionReview{TypeMeta: reviewType, Request: &admissionv1.AdmissionRequest{UID: "7f1c"}})
		if err != nil {
			t.Fatal(err)
		}
		r, w := httptest.NewRequestWithContext(ctx, http.MethodPost, Path, bytes.NewReader(text)), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/json")
		d.ServeHTTP(w, r)
		return w.Body.String()
	}
	if send(t.Context()) == "" || asked != 1 || len(d.small) != 0 {
		t.Errorf("asked %d times, %d are decoded", asked, len(d.small))
	}
	for range cap(d.small) {
		d.small <- struct{}{}
	}
	if answer := send(gone); answer != "" || asked != 1 {
		t.Errorf("one more was decoded: %s", answer)
	}
	for range cap(d.large) {
		<-d.small
		d.large <- struct{}{}
	}
	if send(t.Context()) == "" || asked != 2 {
		t.Error("large ones hold up a small one")
	}
}

// Texts of one length are worlds apart once they are decoded: while one is looked at, others have room for as many values as
// it leaves; all of it is given back.
func TestValuesInFlightAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		objects, letters int // of a body
		left             int64
		unsaid           bool // how long it is
	}{
		"a text of letters":                     {letters: 3 << 20, left: mostValues - 10},
		"as long, of objects that hold nothing": {objects: 1 << 20, left: 0},
		"half as many":                          {objects: mostValues / 4, letters: 1 << 20, left: mostValues/2 - 10},
		"more than there may be at all":         {objects: 2 << 20, left: 0},
		"a small one":                           {objects: 100, left: smallValues - 210},
		"a small one of nothing else":           {objects: 80_000, left: smallValues - 160_010},
		"of a length not said":                  {objects: 1 << 20, left: 0, unsaid: true},
	} {
		t.Run(name, func(t *testing.T) {
			var seen *flight
			h := bounded(newDecoder(&admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, _ admission.Request) admission.Response {
				seen = ctx.Value(flightKey{}).(*flight)
				if !hasRoom(seen.values, tc.left) {
					t.Errorf("there is no room for %d values more", tc.left)
				}
				if more := tc.left + 20; hasRoom(seen.values, more) {
					t.Errorf("there is room for %d values more", more)
				}
				return admission.Allowed("")
			})}))
			text := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"7f1c","object":[` + strings.Repeat("{},", tc.objects) + `"` + strings.Repeat("x", tc.letters) + `"]}}`
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, strings.NewReader(text))
			r.Header.Set("Content-Type", "application/json")
			if tc.unsaid {
				r.ContentLength = -1
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if seen == nil || !hasRoom(seen.values, seen.values.most) {
				t.Error("not all of it was given back")
			}
		})
	}
}

func hasRoom(r *budget, weight int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken+weight <= r.most
}
