package webhook

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// RBAC cannot say that an account may patch annotations of a job and nothing else, nor that it may
// write ConfigMaps of some names only, and none that it obeys. Admission policies say it. They do not name the account, which
// may be called otherwise and live elsewhere: the roles that give the right also give a verb on a
// resource that does not exist, and the policies ask for that. Who may do everything (an
// administrator) has that verb, too, and the one that lifts the bound.
const (
	boundGroup = "signalbox.dev"
	boundVerb  = "bounded" // on jobs, configmaps: the account is held to the policies
	freeVerb   = "free"    // nobody is given it by name
	ownVerb    = "own"     // on configmaps: in the namespace that has those that the account writes and those that it obeys
)

// annotations are what the controller and the sweep write on jobs; a test holds them to it.
func annotations() []string {
	return []string{"signalbox.dev/analysis", "signalbox.dev/attempts", "signalbox.dev/diagnosis", "signalbox.dev/error", "signalbox.dev/healthy", ReviewAnnotation, "signalbox.dev/solution", "signalbox.dev/waiting", "signalbox.dev/warned"}
}

// bounds are the admission policies and their bindings.
func bounds(all []*kinds.Kind) []any {
	var jobs []admissionregistrationv1.NamedRuleWithOperations
	for _, r := range Rules(all) {
		r.Resources = slices.DeleteFunc(slices.Clone(r.Resources), func(s string) bool { return strings.Contains(s, "/") })
		r.Scope = nil
		jobs = append(jobs, admissionregistrationv1.NamedRuleWithOperations{RuleWithOperations: r})
	}
	quoted := make([]string, 0, len(annotations()))
	for _, name := range annotations() {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	onJobs := bound("signalbox-jobs", "jobs", jobs, "")
	onJobs.Spec.Variables = []admissionregistrationv1.Variable{
		{Name: "now", Expression: "has(object.metadata.annotations) ? object.metadata.annotations : {}"},
		{Name: "old", Expression: "oldObject != null && has(oldObject.metadata.annotations) ? oldObject.metadata.annotations : {}"},
		{Name: "own", Expression: "[" + strings.Join(quoted, ", ") + "]"},
	}
	onJobs.Spec.Validations = []admissionregistrationv1.Validation{
		{Expression: "oldObject != null", Message: "Signalbox creates no jobs."},
		sameSpec(all), unchanged("metadata.labels"), unchanged("metadata.ownerReferences"), unchanged("metadata.finalizers"),
		{
			// A status is a part of the object where the CRD does not say that it is a subresource.
			Expression: equalBut("object", "oldObject", `k in ["metadata", "spec"]`),
			Message:    "Signalbox writes only its own annotations on jobs; it may not change status.",
		},
		{
			Expression: equalBut("variables.now", "variables.old", "k in variables.own"),
			Message:    "Signalbox writes only its own annotations on jobs.",
		},
	}
	elsewhere := bound("signalbox-evidence", "configmaps", configMaps(), ownVerb)
	elsewhere.Spec.Validations = []admissionregistrationv1.Validation{{
		Expression: evidence(), Message: "Signalbox writes only ConfigMaps signalbox-evidence-… that are labelled signalbox.dev/evidence=true.",
	}}
	own, kept := ownMaps(), keptMaps()
	return []any{onJobs, binding(onJobs.Name), elsewhere, binding(elsewhere.Name), own, binding(own.Name), kept, binding(kept.Name)}
}

func configMaps() []admissionregistrationv1.NamedRuleWithOperations {
	return []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"*"}, Resources: []string{"configmaps"}},
	}}}
}

// evidence is of a ConfigMap that holds what is kept of ended containers, and did before.
func evidence() string {
	labelled := func(o string) string {
		return fmt.Sprintf(`has(%[1]s.metadata.labels) && %[1]s.metadata.labels[?"signalbox.dev/evidence"].orValue("") == "true"`, o)
	}
	return `object.metadata.name.startsWith("signalbox-evidence-") && ` + labelled("object") + ` && (oldObject == null || (` + labelled("oldObject") + `))`
}

// ownMaps bounds what the account writes where operators write what it obeys: policies, signatures, prompts and its
// own settings. Of theirs it changes the annotations alone that say what does not load.
func ownMaps() *admissionregistrationv1.ValidatingAdmissionPolicy {
	out := bound("signalbox-own", "configmaps", configMaps(), "")
	out.Spec.MatchConditions[0] = admissionregistrationv1.MatchCondition{Name: "in-its-namespace", Expression: may("configmaps", ownVerb)}
	obeyed := func(o string) string {
		return fmt.Sprintf(`has(%[1]s.metadata.labels) && [%[2]q, "signalbox.dev/signature"].exists(l, %[1]s.metadata.labels[?l].orValue("") == "true")`, o, PolicyLabel)
	}
	annotations := func(o string) string {
		return fmt.Sprintf(`%[1]s != null && has(%[1]s.metadata.annotations) ? %[1]s.metadata.annotations : {}`, o)
	}
	out.Spec.Variables = []admissionregistrationv1.Variable{
		{Name: "now", Expression: annotations("object")},
		{Name: "old", Expression: annotations("oldObject")},
		{Name: "obeyed", Expression: obeyed("object") + " || oldObject != null && " + obeyed("oldObject")},
		{Name: "written", Expression: fmt.Sprintf(`object.metadata.name in [%q, "signalbox-model", "signalbox-policy-bundle"] || `, ReviewedName) + evidence()},
		{Name: "said", Expression: fmt.Sprintf(`[%q, "signalbox.dev/signature-error"]`, PolicyErrorAnnotation)},
	}
	same := []string{"oldObject != null", equalBut("object", "oldObject", `k == "metadata"`), equalBut("variables.now", "variables.old", "k in variables.said")}
	for _, field := range []string{"metadata.labels", "metadata.ownerReferences", "metadata.finalizers"} {
		same = append(same, unchanged(field).Expression)
	}
	out.Spec.Validations = []admissionregistrationv1.Validation{{
		Expression: "variables.written && !variables.obeyed || (" + strings.Join(same, ") && (") + ")",
		Message:    "Signalbox writes no ConfigMaps that it obeys; of those it changes only the annotations that say what does not load.",
	}}
	return out
}

// keptMaps keeps from whoever may write ConfigMaps what the account has kept of ended containers: what stands there is
// believed, of every job of the namespace. Who takes off an owner (the garbage collector, where a job is deleted and what it
// owns stays) changes no evidence.
func keptMaps() *admissionregistrationv1.ValidatingAdmissionPolicy {
	out := bound("signalbox-kept", "configmaps", configMaps(), "")
	out.Spec.MatchConditions = []admissionregistrationv1.MatchCondition{
		{Name: "evidence", Expression: `has(object.metadata.name) && object.metadata.name.startsWith("signalbox-evidence-")`},
		{Name: "not-the-account", Expression: "!" + may("configmaps", boundVerb)},
		{Name: "not-free", Expression: "!" + may("configmaps", freeVerb)},
	}
	same := []string{"oldObject != null"}
	for _, field := range []string{"data", "binaryData", "immutable"} {
		same = append(same, unchanged(field).Expression)
	}
	out.Spec.Validations = []admissionregistrationv1.Validation{{
		Expression: "(" + strings.Join(same, ") && (") + ")",
		Message:    "What Signalbox keeps of ended containers is written by Signalbox.",
	}}
	return out
}

func unchanged(field string) admissionregistrationv1.Validation {
	return admissionregistrationv1.Validation{
		Expression: fmt.Sprintf("has(object.%[1]s) == has(oldObject.%[1]s) && (!has(object.%[1]s) || object.%[1]s == oldObject.%[1]s)", field),
		Message:    "Signalbox writes only its own annotations on jobs; it may not change " + field + ".",
	}
}

// sameSpec is unchanged for spec, but for templates that an operator's webhook stamps anew whoever writes: those
// may differ in metadata.creationTimestamp.
func sameSpec(all []*kinds.Kind) admissionregistrationv1.Validation {
	out := unchanged("spec")
	for _, k := range all {
		for _, at := range k.Operator.Restamped {
			parent, template := string(at.Parent()), string(at.After(at.Parent()))
			field := strings.TrimPrefix(parent, "spec.")
			var others []string
			for _, o := range k.Operator.Restamped {
				if o.Parent() == at.Parent() {
					others = append(others, fmt.Sprintf("%q", string(o.After(o.Parent()))))
				}
			}
			if others[0] != fmt.Sprintf("%q", template) {
				continue // written with the first of them
			}
			now, old, templates := "object."+parent, "oldObject."+parent, "["+strings.Join(others, ", ")+"]"
			metadata := func(of string) string { return fmt.Sprintf(`("metadata" in %[1]s[t] ? %[1]s[t]["metadata"] : {})`, of) }
			out.Expression += fmt.Sprintf(" || object.kind == %q && has(object.spec) && has(oldObject.spec) && has(%s) && has(%s)", k.API(), now, old) +
				" && " + equalBut("object.spec", "oldObject.spec", fmt.Sprintf("k == %q", field)) +
				" && " + equalBut(now, old, "k in "+templates) +
				fmt.Sprintf(" && %s.all(t, (t in %s) == (t in %s) && (!(t in %s) || (", templates, now, old, now) +
				equalBut(now+"[t]", old+"[t]", `k == "metadata"`) + " && " +
				equalBut(metadata(now), metadata(old), `k == "creationTimestamp"`) + ")))"
		}
	}
	return out
}

// equalBut compares two maps, except for the keys of which the condition holds.
func equalBut(a, b, except string) string {
	return fmt.Sprintf("%[1]s.all(k, %[3]s || (k in %[2]s && %[1]s[k] == %[2]s[k])) && %[2]s.all(k, %[3]s || k in %[1]s)", a, b, except)
}

// bound is a policy about whoever is given the verb, except in namespaces where he is given another.
func bound(name, resource string, rules []admissionregistrationv1.NamedRuleWithOperations, except string) *admissionregistrationv1.ValidatingAdmissionPolicy {
	conditions := []admissionregistrationv1.MatchCondition{
		{Name: "bounded", Expression: may(resource, boundVerb)},
		{Name: "not-free", Expression: "!" + may(resource, freeVerb)},
	}
	if except != "" {
		conditions = append(conditions, admissionregistrationv1.MatchCondition{Name: "outside-its-namespace", Expression: "!" + may(resource, except)})
	}
	return &admissionregistrationv1.ValidatingAdmissionPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy:    new(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: rules},
			MatchConditions:  conditions,
		},
	}
}

// may asks whether who writes is given a verb on a resource of ours.
func may(resource, verb string) string {
	return fmt.Sprintf("authorizer.group(%q).resource(%q).namespace(request.namespace).check(%q).allowed()", boundGroup, resource, verb)
}

func binding(policy string) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
	return &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: policy},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
}
