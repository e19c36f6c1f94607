package webhook

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// MayListNodes asks the API server whether a user may list nodes.
func MayListNodes(kube kubernetes.Interface) func(context.Context, authenticationv1.UserInfo) bool {
	return func(ctx context.Context, who authenticationv1.UserInfo) bool {
		return allowed(ctx, kube, who, authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes", Version: "v1"})
	}
}

const (
	// rightsFor is how long it is remembered what the API server has answered of an operator: it makes many parts.
	rightsFor = time.Minute
	// mostRights is of how many questions; there are few operators, and each asks in the namespaces of its jobs.
	mostRights = 1024
)

// MayWriteStatus asks the API server whether a user may write the status of jobs of a resource in a namespace, as their
// operator does. A name does not tell: where an operator is not installed, who may make namespaces may call one, and an
// account in it, like the operator's.
func MayWriteStatus(kube kubernetes.Interface) func(context.Context, authenticationv1.UserInfo, schema.GroupVersionResource, string) bool {
	type question struct {
		who, groups, namespace string
		of                     schema.GroupVersionResource
	}
	type known struct {
		may   bool
		until time.Time
	}
	var mu sync.Mutex
	answers := map[question]known{}
	return func(ctx context.Context, who authenticationv1.UserInfo, of schema.GroupVersionResource, namespace string) bool {
		q, now := question{who.Username, strings.Join(who.Groups, " "), namespace, of}, time.Now()
		mu.Lock()
		a, ok := answers[q]
		mu.Unlock()
		if ok && now.Before(a.until) {
			return a.may
		}
		may := slices.ContainsFunc([]string{"update", "patch"}, func(verb string) bool {
			return allowed(ctx, kube, who, authorizationv1.ResourceAttributes{
				Verb: verb, Group: of.Group, Version: of.Version, Resource: of.Resource, Subresource: "status", Namespace: namespace,
			})
		})
		if ctx.Err() != nil { // there was no answer
			return may
		}
		mu.Lock()
		defer mu.Unlock()
		if len(answers) >= mostRights {
			clear(answers)
		}
		answers[q] = known{may, now.Add(rightsFor)}
		return may
	}
}

// allowed asks the API server whether a user may do something. Silence is no leave.
func allowed(ctx context.Context, kube kubernetes.Interface, who authenticationv1.UserInfo, what authorizationv1.ResourceAttributes) bool {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range who.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	answer, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: who.Username, Groups: who.Groups, UID: who.UID, Extra: extra, ResourceAttributes: &what},
	}, metav1.CreateOptions{})
	return err == nil && answer.Status.Allowed
}
