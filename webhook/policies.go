package webhook

import (
	"io/fs"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/config/labelled"
)

const (
	// PolicyLabel marks the ConfigMaps that hold policies; its value is "true".
	PolicyLabel = "signalbox.dev/policy"
	// PolicyErrorAnnotation says on such a ConfigMap why the set does not load.
	PolicyErrorAnnotation = "signalbox.dev/policy-error"
)

// PolicySet is a set of policies that can be replaced while it decides. *policies.OPA is
// the one that runs.
type PolicySet interface {
	Swap(...fs.FS) error
	Revision() string
}

// PolicyMaps keeps a policy set equal to the labelled ConfigMaps of one namespace: all or
// nothing. A set that does not load leaves the last good one in place, and says so on the
// ConfigMap, in an Event and in a metric; users are not told. Make it with NewPolicyMaps.
type PolicyMaps = labelled.ConfigMaps

// NewPolicyMaps makes a watcher; builtin are policies that are always part of the set.
func NewPolicyMaps(c kubernetes.Interface, namespace string, set PolicySet, m *Metrics, log logr.Logger, builtin ...fs.FS) *PolicyMaps {
	return labelled.New(labelled.Options{
		Client: c, Namespace: namespace, Label: PolicyLabel, Annotation: PolicyErrorAnnotation,
		What: "policies", Reason: "Policy", Loaded: m.policies, Log: log,
		Load: func(fsys fs.FS) (string, error) {
			err := set.Swap(append(slices.Clone(builtin), fsys)...)
			m.Revision(set.Revision())
			return set.Revision(), err
		},
	})
}
