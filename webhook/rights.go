package webhook

import (
	"context"
	"strings"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
)

// MayListNodes asks the API server whether a user may list nodes. Silence is no leave.
func MayListNodes(kube kubernetes.Interface) func(context.Context, authenticationv1.UserInfo) bool {
	return func(ctx context.Context, who authenticationv1.UserInfo) bool {
		may, err := allowed(ctx, kube, who, authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes", Version: "v1"})
		return err == nil && may
	}
}

const (
	// rightsFresh is how long it is believed what the API server has answered of an operator. Then it is asked again, behind
	// a review that goes on with what was known.
	rightsFresh = time.Minute
	// rightsKept is how long an answer is used while the API server gives no other.
	rightsKept = 10 * time.Minute
	// rightsWithin bounds a question behind a review.
	rightsWithin = 10 * time.Second
	// mostRights is of how many questions; there are few operators, and most may write the status of jobs in all namespaces.
	mostRights = 1024
)

// MayWriteStatus asks the API server whether a user may write the status of jobs of a resource in a namespace, as their
// operator does. A name does not tell: where an operator is not installed, who may make namespaces may call one, and an
// account in it, like the operator's. A review waits for an answer only where there is none yet; silence is no leave.
func MayWriteStatus(kube kubernetes.Interface) func(context.Context, authenticationv1.UserInfo, schema.GroupVersionResource, string) bool {
	r := &rights{kube: kube, answers: map[right]rightKnown{}}
	return func(ctx context.Context, who authenticationv1.UserInfo, of schema.GroupVersionResource, namespace string) bool {
		q := right{who: who.Username, groups: strings.Join(who.Groups, " "), of: of}
		if r.has(ctx, who, q) { // in all namespaces, as most operators
			return true
		}
		q.namespace = namespace
		return r.has(ctx, who, q)
	}
}

// rights are what the API server has answered of operators.
type rights struct {
	kube    kubernetes.Interface
	mu      sync.Mutex
	answers map[right]rightKnown
}

// right is a question: namespace "" is all of them.
type right struct {
	who, groups, namespace string
	of                     schema.GroupVersionResource
}

type rightKnown struct {
	may   bool
	at    time.Time
	asked time.Time // again, behind a review
}

func (r *rights) has(ctx context.Context, who authenticationv1.UserInfo, q right) bool {
	now := time.Now()
	r.mu.Lock()
	known, ok := r.answers[q]
	if ok && now.Sub(known.at) >= rightsKept {
		ok = false
	}
	behind := ok && now.Sub(known.at) >= rightsFresh && now.Sub(known.asked) >= rightsWithin
	if behind {
		known.asked = now
		r.answers[q] = known
	}
	r.mu.Unlock()
	if behind {
		go func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rightsWithin)
			defer cancel()
			r.ask(ctx, who, q)
		}()
	}
	return ok && known.may || !ok && r.ask(ctx, who, q)
}

// ask remembers what the API server answers.
func (r *rights) ask(ctx context.Context, who authenticationv1.UserInfo, q right) (may bool) {
	for _, verb := range []string{"update", "patch"} {
		yes, err := allowed(ctx, r.kube, who, authorizationv1.ResourceAttributes{
			Verb: verb, Group: q.of.Group, Version: q.of.Version, Resource: q.of.Resource, Subresource: "status", Namespace: q.namespace,
		})
		if err != nil {
			return false
		}
		if may = yes; may {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.answers[q]; !known && len(r.answers) >= mostRights {
		clear(r.answers)
	}
	r.answers[q] = rightKnown{may: may, at: time.Now()}
	return may
}

func allowed(ctx context.Context, kube kubernetes.Interface, who authenticationv1.UserInfo, what authorizationv1.ResourceAttributes) (bool, error) {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range who.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	answer, err := kube.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: who.Username, Groups: who.Groups, UID: who.UID, Extra: extra, ResourceAttributes: &what},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}
