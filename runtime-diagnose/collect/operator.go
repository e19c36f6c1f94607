package collect

import (
	"context"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
)

// readOperator looks for the operator of a job on which nothing acts: the workload that runs it, in any
// namespace, and the webhook that it registers. Whoever may not list them loses the explanation, not the
// diagnosis.
func (r *reading) readOperator(ctx context.Context) {
	r.out.Objects = r.owners.objects()
	of, _, ok := control.Unanswered(&r.out)
	if !ok {
		return
	}
	if c, known := kinds.ControllerOf(of); known {
		r.readController(ctx, c)
	}
	if hook := kinds.Of(of).Validates.Webhook; hook != "" {
		r.readWebhook(ctx, hook)
	}
}

// readController asks for a workload by its name: a cluster has few of one name, and thousands in all. An operator that is
// gone leaves all its jobs alone, so they ask together.
func (r *reading) readController(ctx context.Context, c kinds.Controller) {
	byName := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", c.Name).String()}
	found, err := 0, error(nil)
	switch c.Kind {
	case "StatefulSet":
		var list *appsv1.StatefulSetList
		if list, err = ask(r.Shared, sharedKey{what: "statefulsets", name: c.Name}, func() (*appsv1.StatefulSetList, error) {
			return r.Kube.AppsV1().StatefulSets(metav1.NamespaceAll).List(ctx, byName)
		}); err == nil {
			for i := range list.Items {
				found += r.beside("apps/v1", c, &list.Items[i], list.Items[i].Name, list.Items[i].UID)
			}
		}
	default:
		var list *appsv1.DeploymentList
		if list, err = ask(r.Shared, sharedKey{what: "deployments", name: c.Name}, func() (*appsv1.DeploymentList, error) {
			return r.Kube.AppsV1().Deployments(metav1.NamespaceAll).List(ctx, byName)
		}); err == nil {
			for i := range list.Items {
				found += r.beside("apps/v1", c, &list.Items[i], list.Items[i].Name, list.Items[i].UID)
			}
		}
	}
	switch {
	case apierrors.IsForbidden(err):
	case err != nil:
		r.missing(c.String(), err)
	case found == 0:
		r.out.Absent = append(r.out.Absent, c.String())
	}
}

// beside keeps a workload beside the job; it counts those that have the name.
func (r *reading) beside(apiVersion string, c kinds.Controller, object any, name string, uid types.UID) int {
	if name != c.Name {
		return 0
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		r.missing(c.String(), err)
		return 0
	}
	u := &unstructured.Unstructured{Object: m}
	u.SetAPIVersion(apiVersion)
	u.SetKind(c.Kind)
	u.SetManagedFields(nil)
	r.owners.between[uid] = u
	return 1
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
			r.beside("admissionregistration.k8s.io/v1", kinds.Controller{Kind: "ValidatingWebhookConfiguration", Name: c.Name}, c, c.Name, c.UID)
			return
		}
	}
	r.out.Absent = append(r.out.Absent, "webhook "+hook)
}
