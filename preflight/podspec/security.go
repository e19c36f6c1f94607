package podspec

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// SecurityLevels are the levels of Pod Security that the labels of a namespace ask for; ok is false where the API server
// would have refused the labels.
func SecurityLevels(namespace map[string]string) (levels api.Policy, ok bool) {
	privileged := api.LevelVersion{Level: api.LevelPrivileged, Version: api.LatestVersion()}
	levels, errs := api.PolicyToEvaluate(namespace, api.Policy{Enforce: privileged, Warn: privileged})
	return levels, len(errs) == 0
}

// Insecure are the rules of a level that pods break, as the API server names them
// (https://kubernetes.io/docs/concepts/security/pod-security-standards/).
func Insecure(level api.LevelVersion, pod *job.Pod) ([]string, error) {
	if level.Level == api.LevelPrivileged {
		return nil, nil
	}
	judge, err := securityEvaluator()
	if err != nil {
		return nil, fmt.Errorf("prepare the levels of Pod Security: %w", err)
	}
	meta := &metav1.ObjectMeta{Labels: pod.Labels, Annotations: pod.Annotations}
	return policy.AggregateCheckResults(judge.EvaluatePod(level, meta, &pod.Spec)).ForbiddenReasons, nil
}

// securityEvaluator is the evaluator that the API server uses. It holds all levels of all
// versions, so it is made when first asked for.
var securityEvaluator = sync.OnceValues(func() (policy.Evaluator, error) { return policy.NewEvaluator(policy.DefaultChecks(), nil) })
