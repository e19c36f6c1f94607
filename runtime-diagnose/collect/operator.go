package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// readOperator looks for the operator of a job on which nothing acts: the workload that runs it, in any
// namespace, and the webhook that it registers. An account that may not list them loses the explanation, not the
// diagnosis.
func (r *reading) readOperator(ctx context.Context) {
	r.out.Objects = r.owners.objects()
	of, _, ok := control.Unanswered(&r.out)
	if !ok {
		return
	}
	if c, known := kinds.ControllerOf(of); known {
		r.readController(ctx, of, c)
	}
	if hook := kinds.Of(of).Validates.Webhook; hook != "" {
		r.readWebhook(ctx, hook)
	}
}

// mostOperators bounds the workloads of an operator's name of which is asked whether they are it.
const mostOperators = 8

// readController asks for a workload by its name: a cluster has few of one name, and thousands in all. An operator that is
// gone leaves all its jobs alone, so they ask together. Anybody may give a workload of a namespace the name of an operator:
// what may not do an operator's work is none.
func (r *reading) readController(ctx context.Context, of job.Ref, c kinds.Controller) {
	byName := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", c.Name).String()}
	var found []workload
	var err error
	switch c.Kind {
	case "StatefulSet":
		var list *appsv1.StatefulSetList
		if list, err = ask(r.Shared, sharedKey{what: "statefulsets", name: c.Name}, func() (*appsv1.StatefulSetList, error) {
			return r.Kube.AppsV1().StatefulSets(metav1.NamespaceAll).List(ctx, byName)
		}); err == nil {
			for i := range list.Items {
				found = append(found, workload{&list.Items[i], &list.Items[i].Spec.Template.Spec})
			}
		}
	default:
		var list *appsv1.DeploymentList
		if list, err = ask(r.Shared, sharedKey{what: "deployments", name: c.Name}, func() (*appsv1.DeploymentList, error) {
			return r.Kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, byName)
		}); err == nil {
			for i := range list.Items {
				found = append(found, workload{&list.Items[i], &list.Items[i].Spec.Template.Spec})
			}
		}
	}
	found = slices.DeleteFunc(found, func(w workload) bool { return w.GetName() != c.Name }) // a server that does not select
	switch {
	case apierrors.IsForbidden(err):
	case err != nil:
		r.missing(c.String(), err)
	case len(found) == 0:
		r.out.Absent = append(r.out.Absent, c.String())
	}
	for i, w := range found {
		if i == mostOperators {
			r.missing(c.String(), fmt.Errorf("%d namespaces have one; the rest was not looked at", mostOperators))
			return
		}
		if r.operates(ctx, of, w) {
			r.beside("apps/v1", c.Kind, w.Object, w.GetUID())
		}
	}
}

// workload is what runs pods of one account.
type workload struct {
	metav1.Object
	pod *corev1.PodSpec
}

// operates says whether the account of a workload may write the status of a job, whole or in part, which every operator does.
// An account that may not ask does not know.
func (r *reading) operates(ctx context.Context, of job.Ref, w workload) bool {
	gv, err := schema.ParseGroupVersion(of.APIVersion)
	if err != nil {
		return false
	}
	m, err := r.mapping(schema.GroupKind{Group: gv.Group, Kind: of.Kind}, gv.Version)
	if err != nil {
		return false
	}
	// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#service-account-tokens
	const accounts = "system:serviceaccounts"
	account, at := "system:serviceaccount:"+w.GetNamespace()+":"+cmp.Or(w.pod.ServiceAccountName, "default"), r.object.GetNamespace()
	for _, verb := range []string{"update", "patch"} {
		answer, err := ask(r.Shared, sharedKey{what: "may " + verb, namespace: at, name: account, selector: m.Resource.String()}, func() (*authorizationv1.SubjectAccessReview, error) {
			return r.Kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
				Spec: authorizationv1.SubjectAccessReviewSpec{
					User: account, Groups: []string{accounts, accounts + ":" + w.GetNamespace(), "system:authenticated"},
					ResourceAttributes: &authorizationv1.ResourceAttributes{
						Verb: verb, Group: m.Resource.Group, Version: m.Resource.Version, Resource: m.Resource.Resource, Subresource: "status", Namespace: at,
					},
				},
			}, metav1.CreateOptions{})
		})
		if err == nil && answer.Status.Allowed {
			return true
		}
	}
	return false
}

// beside keeps an object beside the job.
func (r *reading) beside(apiVersion, kind string, object any, uid types.UID) {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		r.missing(kind, err)
		return
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetManagedFields(nil)
	r.owners.between[uid] = u
}

func (r *reading) readWebhook(ctx context.Context, hook string) {
	list, err := ask(r.Shared, sharedKey{what: "webhooks"}, func() (*admissionv1.ValidatingWebhookConfigurationList, error) {
		return r.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
	})
	if apierrors.IsForbidden(err) {
		return
	}
	if err != nil {
		r.missing("webhook "+hook, err)
		return
	}
	for i := range list.Items {
		if c := &list.Items[i]; slices.ContainsFunc(c.Webhooks, func(w admissionv1.ValidatingWebhook) bool { return w.Name == hook }) {
			r.beside("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", c, c.UID)
			return
		}
	}
	r.out.Absent = append(r.out.Absent, "webhook "+hook)
}
