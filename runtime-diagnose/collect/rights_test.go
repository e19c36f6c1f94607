package collect

import (
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// The account of the manifests may read what this package reads beside the pods.
func TestTheManifestsAllowWhatIsRead(t *testing.T) {
	text, err := os.ReadFile("../../config/rbac/view.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.Unmarshal([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		rules = append(rules, role.Rules...)
	}
	want := map[string]bool{
		"get resourceclaims.resource.k8s.io": true, "list resourceslices.resource.k8s.io": true, "list devicetaintrules.resource.k8s.io": true, "get workloads.scheduling.k8s.io": true,
		"list workloads.kueue.x-k8s.io": true, "get pods/log.": true, "list events.": true, "list nodes.": true, "get nodes.": true, "list pods.": true,
		"list deployments.apps": true, "list statefulsets.apps": true, "list validatingwebhookconfigurations.admissionregistration.k8s.io": true,
	}
	for _, g := range podGroups {
		for _, v := range g.apiVersions {
			group, _, _ := strings.Cut(v, "/")
			want["get podgroups."+group] = true
		}
	}
	for _, what := range sortedKeys(want) {
		verb, rest, _ := strings.Cut(what, " ")
		resource, group, _ := strings.Cut(rest, ".")
		if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.Verbs, verb) && slices.Contains(r.Resources, resource) && slices.Contains(r.APIGroups, group) && len(r.ResourceNames) == 0
		}) {
			t.Errorf("config/rbac/view.yaml does not allow to %s", what)
		}
	}
}
