package webhook

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// door reads what API servers send: a review of version v1, whose length is known. The library goes through the text twice
// more to find out what it is, and through rooms of growing size to read it
// (sigs.k8s.io/controller-runtime/pkg/webhook/admission/http.go, ServeHTTP); it answers whatever is sent otherwise.
type door struct{ *admission.Webhook }

// ServeHTTP implements http.Handler.
func (d door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength <= 0 || r.ContentLength > mostBody || r.Header.Get("Content-Type") != "application/json" {
		d.Webhook.ServeHTTP(w, r)
		return
	}
	body := make([]byte, r.ContentLength)
	n, err := io.ReadFull(r.Body, body)
	review := struct {
		metav1.TypeMeta `json:",inline"`
		Request         *admissionv1.AdmissionRequest `json:"request"`
	}{}
	if err != nil || utiljson.Unmarshal(body, &review) != nil || review.TypeMeta != reviewType || review.Request == nil {
		r.Body = again{io.MultiReader(bytes.NewReader(body[:n]), r.Body), r.Body}
		d.Webhook.ServeHTTP(w, r)
		return
	}
	answer := d.Handle(r.Context(), admission.Request{AdmissionRequest: *review.Request})
	_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{TypeMeta: reviewType, Response: &answer.AdmissionResponse}) // who asked may have gone
}

var reviewType = metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"}

// again is a body of which some has been read, from its beginning.
type again struct {
	io.Reader
	io.Closer
}
