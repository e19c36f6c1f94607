package kinds

import (
	"strings"
	"testing"
)

// TestAWordForANumber: the API server takes no word where its schema has a number, wherever that stands.
func TestAWordForANumber(t *testing.T) {
	const pods = "template: {spec: {containers: [{name: a, image: 'a:1'}]}}"
	for at, text := range map[string]string{
		"spec.failurePolicy.maxRestarts":                            "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec: {failurePolicy: {maxRestarts: three}, replicatedJobs: [{name: a, template: {spec: {" + pods + "}}}]}",
		"spec.network.enableDNSHostnames":                           "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec: {network: {enableDNSHostnames: 'on'}, replicatedJobs: [{name: a, template: {spec: {" + pods + "}}}]}",
		"spec.coordinator.podIndex":                                 "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nspec: {coordinator: {replicatedJob: a, podIndex: first}, replicatedJobs: [{name: a, template: {spec: {" + pods + "}}}]}",
		"spec.rolloutStrategy.rollingUpdateConfiguration.partition": "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {partition: all}}, leaderWorkerTemplate: {size: 1, workerTemplate: {spec: {containers: [{name: a, image: 'a:1'}]}}}}",
		"spec.policies[0].exitCode":                                 "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nspec: {policies: [{exitCode: three, action: RestartJob}], tasks: [{name: a, replicas: 1, " + pods + "}]}",
		"spec.submitterConfig.backoffLimit":                         "apiVersion: ray.io/v1\nkind: RayJob\nspec: {entrypoint: a, submitterConfig: {backoffLimit: two}, rayClusterSpec: {headGroupSpec: {rayStartParams: {}, " + pods + "}}}",
	} {
		u := objectOf(t, text)
		if _, err := For(u.GroupVersionKind()).Read(u, nil); err == nil || !strings.Contains(err.Error(), at+" is the text") {
			t.Errorf("%s: %v; want that it is a text", at, err)
		}
	}
}
