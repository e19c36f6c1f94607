package apiserver

import (
	"errors"
	"testing"
)

// The first is of an update of a Job by Kubernetes 1.29, cut.
func TestTheServersWordsHaveNoGoInThem(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"a template that may not change": {
			`Job.batch "train" is invalid: spec.template: Invalid value: core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:"", Labels:map[string]string{"a":"}"}}, Spec:core.PodSpec{Volumes:[]core.Volume(nil)}}: field is immutable`,
			`Job.batch "train" is invalid: spec.template: Invalid value: …: field is immutable`,
		},
		"a value of a custom resource": {
			`PyTorchJob.kubeflow.org "a" is invalid: spec: Invalid value: map[string]interface {}{"replicas":-1, "x":map[string]interface {}{}}: replicas must be positive`,
			`PyTorchJob.kubeflow.org "a" is invalid: spec: Invalid value: …: replicas must be positive`,
		},
		"an error that a webhook prints": {
			`admission webhook "v.example.com" denied the request: &errors.StatusError{ErrStatus:v1.Status{TypeMeta:v1.TypeMeta{Kind:"", APIVersion:""}, Status:"Failure", Message:"quota \"gpu\" is used up", Code:403}}`,
			`admission webhook "v.example.com" denied the request: quota "gpu" is used up`,
		},
		"one that is cut":        {`Invalid value: core.PodSpec{Volumes:[]core.Volume{core.Volume{Name:"data"`, `Invalid value: …`},
		"what is no value stays": {`spec.x: Invalid value: "{a}": must match ${A} in kubeflow.org/v1 {x}`, `spec.x: Invalid value: "{a}": must match ${A} in kubeflow.org/v1 {x}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ServerSays(errors.New(tc.text)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
