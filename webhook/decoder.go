package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// decoder reads what API servers send: a review of version v1, whose length is known. The library goes through the text twice
// more to find out what it is, and through buffers of growing size to read it
// (sigs.k8s.io/controller-runtime/pkg/webhook/admission/http.go, ServeHTTP); it answers whatever is sent otherwise.
//
// Few are decoded at the same time: of a burst, hundreds would else share the processors with the reviews that have begun, whose
// time passes meanwhile. Large ones have slots of their own. A text of nothing but empty objects takes a hundred times its
// length, so that texts are bounded by their values, too.
type decoder struct {
	*admission.Webhook
	small, large chan struct{} // holds one for each that is decoded
}

func newDecoder(to *admission.Webhook) decoder {
	most := 2 * runtime.GOMAXPROCS(0)
	return decoder{to, make(chan struct{}, most), make(chan struct{}, most)}
}

// valuesIn is about how many JSON values a text holds: one stands behind each comma and each bracket that opens.
func valuesIn(text []byte) int64 {
	return int64(1 + bytes.Count(text, []byte(",")) + bytes.Count(text, []byte("{")) + bytes.Count(text, []byte("[")))
}

// enter waits until something of a size may be decoded. false: its caller waits no more.
func (d decoder) enter(ctx context.Context, size int64) (leave func(), ok bool) {
	slots := d.small
	if size > smallBody {
		slots = d.large
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, true
	case <-ctx.Done():
		return nil, false
	}
}

// textOf reads the body of a request, as far as it can be read.
func textOf(r *http.Request) ([]byte, error) {
	if r.ContentLength <= 0 { // how long it is, is not said; it is bounded where it comes from
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	n, err := io.ReadFull(r.Body, body)
	return body[:n], err
}

// ServeHTTP implements http.Handler.
func (d decoder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength == 0 || r.ContentLength > mostBody {
		d.Webhook.ServeHTTP(w, r)
		return
	}
	body, err := textOf(r)
	if f, ok := r.Context().Value(flightKey{}).(*flight); ok && !f.weigh(r.Context(), valuesIn(body)) {
		http.Error(w, full, http.StatusServiceUnavailable)
		return
	}
	if r.ContentLength <= 0 || r.Header.Get("Content-Type") != "application/json" {
		r.Body = again{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		d.Webhook.ServeHTTP(w, r)
		return
	}
	review := struct {
		metav1.TypeMeta `json:",inline"`
		Request         *admissionv1.AdmissionRequest `json:"request"`
	}{}
	leave, ok := d.enter(r.Context(), r.ContentLength)
	if !ok {
		return // so has the answer
	}
	wrong := utiljson.Unmarshal(body, &review)
	leave()
	if err != nil || wrong != nil || review.TypeMeta != reviewType || review.Request == nil {
		r.Body = again{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		d.Webhook.ServeHTTP(w, r)
		return
	}
	answer := d.Handle(r.Context(), admission.Request{AdmissionRequest: *review.Request})
	_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: reviewType, Response: &answer.AdmissionResponse}) // the caller may have gone
}

var reviewType = metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}

// again is a body of which some has been read, from its beginning.
type again struct {
	io.Reader
	io.Closer
}
