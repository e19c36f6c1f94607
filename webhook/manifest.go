package webhook

import (
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

//go:generate go run generate.go

// Manifests are the files below config/ that follow from the kinds, by path. generate.go
// writes them and a test holds them to it.
func Manifests(all []*kinds.Kind) (map[string][]byte, error) {
	out := map[string][]byte{}
	for path, objects := range map[string][]any{
		"webhook/webhook.yaml":           {Configuration(all)},
		"components/closed/webhook.yaml": {ClosedConfiguration(all)},
		"rbac/jobs.yaml":                 {JobRole(all)},
		"rbac/user.yaml":                 {UserRole(all)},
		"rbac/bounds.yaml":               bounds(all),
	} {
		text, err := manifest(objects...)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
		out[path] = text
	}
	return out, nil
}

// JobRole lets Signalbox read the jobs it covers and write its annotations on them
// (server-side apply is a patch), and no more: no creating, no deleting.
func JobRole(all []*kinds.Kind) *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "signalbox-jobs"},
	}
	role.Rules = jobRules(all, "get", "list", "watch", "patch")
	// An account that may patch jobs by this role may change their annotations only: see accountpolicy.go.
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{boundGroup}, Resources: []string{"jobs"}, Verbs: []string{boundVerb}})
	return role
}

// UserRole lets people read what Signalbox writes: annotations and status on jobs, and Events about them. It is
// part of the roles view, edit and admin that a cluster has (they are made of those that carry the label; view is
// part of edit, and edit of admin: k8s.io/kubernetes, plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go).
// ConfigMaps with evidence those roles may read already.
func UserRole(all []*kinds.Kind) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "signalbox-user", Labels: map[string]string{"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
		Rules: append(jobRules(all, "get", "list", "watch"),
			rbacv1.PolicyRule{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"get", "list", "watch"}}),
	}
}

// jobRules are verbs on the jobs of kinds, by API group.
func jobRules(all []*kinds.Kind, verbs ...string) (rules []rbacv1.PolicyRule) {
	resources := map[string][]string{}
	var groups []string
	for _, k := range all {
		for _, gvk := range k.GVKs {
			if !slices.Contains(groups, gvk.Group) {
				groups = append(groups, gvk.Group)
			}
			resources[gvk.Group] = append(resources[gvk.Group], k.Resource)
		}
	}
	slices.Sort(groups)
	for _, g := range groups {
		slices.Sort(resources[g])
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{g}, Resources: slices.Compact(resources[g]), Verbs: verbs})
	}
	return rules
}

func manifest(objects ...any) ([]byte, error) {
	out := []byte("# Code generated from preflight/kinds by webhook/generate.go. DO NOT EDIT.\n")
	for i, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, "---\n"...)
		}
		out = append(out, text...)
	}
	return out, nil
}
