package job_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestWhatIsKnownOfLabelsBeforePodsAreMade(t *testing.T) {
	const (
		index = "the label training.kubeflow.org/replica-index, which differs from pod to pod,"
		later = ", which pods get when they are made,"
	)
	p := job.Pod{
		Labels: map[string]string{"app": "train", "training.kubeflow.org/replica-index": "7", "training.kubeflow.org/job-name": "mine"},
		Marks: job.Marks{
			Labels: map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/replica-type": "worker"},
			Varies: []string{"training.kubeflow.org/replica-index"},
			Some:   []string{"training.kubeflow.org/job-role"},
			Whole:  []string{"training.kubeflow.org/"},
		},
	}
	cases := map[string]struct {
		selector, doubt string
		yes             bool
	}{
		"a label of the template":                     {selector: "app=train", yes: true},
		"a label that the operator adds":              {selector: "training.kubeflow.org/replica-type=worker", yes: true},
		"the operator's value replaces the written":   {selector: "training.kubeflow.org/job-name=mine"},
		"a label that the operator does not add":      {selector: "training.kubeflow.org/operator-name=x"},
		"one that it does not add, asked to be away":  {selector: "!training.kubeflow.org/operator-name", yes: true},
		"every pod has an index":                      {selector: "training.kubeflow.org/replica-index", yes: true},
		"no pod is without an index":                  {selector: "!training.kubeflow.org/replica-index"},
		"which index is each pod's own":               {selector: "training.kubeflow.org/replica-index=7", doubt: index},
		"another label settles it whatever the index": {selector: "training.kubeflow.org/replica-index=7,app=serve"},
		"some of the pods have the role":              {selector: "training.kubeflow.org/job-role=master", doubt: "the label training.kubeflow.org/job-role" + later},
		"what other controllers write is not known":   {selector: "kueue.x-k8s.io/podset=main", doubt: "the label kueue.x-k8s.io/podset" + later},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			selector, err := labels.Parse(tc.selector)
			if err != nil {
				t.Fatal(err)
			}
			if yes, doubt := p.Meets(selector); yes != tc.yes || doubt != tc.doubt {
				t.Errorf("%s: %v, doubt %q; want %v, %q", tc.selector, yes, doubt, tc.yes, tc.doubt)
			}
		})
	}
}
