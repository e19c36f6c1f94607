package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// answerYes is a webhook that looks at nothing: what it costs, no webhook can save.
func answerYes(address, certs string) error {
	http.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Request struct {
				UID types.UID `json:"uid"`
			} `json:"request"`
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
			Response: &admissionv1.AdmissionResponse{UID: asked.Request.UID, Allowed: true},
		})
	})
	return http.ListenAndServeTLS(address, filepath.Join(certs, "tls.crt"), filepath.Join(certs, "tls.key"), nil)
}

// measureYes starts that webhook, measures it and takes it away again.
func measureYes(ctx context.Context, plane *cluster.Cluster, s settings, job *unstructured.Unstructured) (out figures, err error) {
	if err := clear(ctx, plane); err != nil {
		return out, err
	}
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	certs, pidFile := filepath.Join(plane.Dir(), "yes-certs"), filepath.Join(plane.Dir(), "yes.pid")
	authority, err := writeCertificate(certs)
	if err != nil {
		return out, err
	}
	at := &subject{name: "a webhook that looks at nothing", hook: "yes.signalbox.dev"}
	const name = "says-yes"
	if err := plane.Run(ctx, cluster.Program{
		Name: name, Path: "/bin/sh", Ports: 1,
		Args: func(ports []int) ([]string, error) {
			address := fmt.Sprintf("127.0.0.1:%d", ports[0])
			return underShell(pidFile, self, "-answer-yes", address+","+certs), plane.Apply(ctx, registration(name, at.hook, "https://"+address+"/validate", authority))
		},
		Ready: func(ctx context.Context, ports []int) error {
			socket, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", ports[0]))
			if err != nil {
				return err
			}
			return socket.Close()
		},
	}); err != nil {
		return out, err
	}
	if at.pid, err = pidIn(pidFile); err != nil {
		return out, err
	}
	s.pprof = "" // of Signalbox
	if out, err = measure(ctx, plane, s, job, at); err != nil {
		return out, err
	}
	if err := plane.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return out, err
	}
	return out, plane.End(name)
}
