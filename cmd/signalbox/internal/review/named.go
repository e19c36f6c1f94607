package review

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	names "k8s.io/client-go/metadata"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// mostAsked bounds how many objects are asked for by name: a folder of manifests may name
// thousands.
const mostAsked = 300

// plurals are those of the kinds that are asked for by name.
var plurals = map[string]string{
	"Secret": "secrets", "ConfigMap": "configmaps", "PodGroup": "podgroups",
	"ResourceClaim": "resourceclaims", "ResourceClaimTemplate": "resourceclaimtemplates",
}

// inquiry asks for objects by name and files what it learns.
type inquiry struct {
	cluster *apiserver.Cluster
	client  names.Interface
	view    *manifest.View
	asked   map[manifest.Named]bool
	refused map[string]bool // "secrets in ml"
	left    bool            // some were not asked for
	skipped []preflight.Skip
}

// ask asks the cluster, with the user's own rights, for the Secrets, ConfigMaps, device
// claims and pod groups that the jobs name, one by one. Nothing of them is read but that they
// are there. What may not be read stays unknown and is said.
func ask(ctx context.Context, c *apiserver.Cluster, v *manifest.View, jobs []*job.Job) ([]preflight.Skip, error) {
	client, err := names.NewForConfig(c.Config)
	if err != nil {
		return nil, err
	}
	q := &inquiry{cluster: c, client: client, view: v, asked: map[manifest.Named]bool{}, refused: map[string]bool{}}
	for _, j := range jobs {
		for _, ref := range checks.References(j) {
			if err := q.one(ctx, j.Ref.Namespace, ref); err != nil {
				return nil, err
			}
		}
	}
	if q.left {
		why := fmt.Sprintf("%d were asked for; whether the rest exists is unknown", mostAsked)
		q.skipped = append(q.skipped, preflight.Skip{Check: "objects that the jobs name", Reason: why})
	}
	return q.skipped, nil
}

// one asks for one object, unless that was done, or is of no use, or enough were asked for.
func (q *inquiry) one(ctx context.Context, namespace string, ref checks.Reference) error {
	n := manifest.Named{Kind: ref.Kind.GroupKind(), Namespace: namespace, Name: ref.Name}
	resource := schema.GroupResource{Group: ref.Kind.Group, Resource: plurals[ref.Kind.Kind]}
	in := strings.TrimSuffix(resource.String(), ".") + " in " + namespace
	versions := q.cluster.Served[ref.Kind.Group]
	if q.asked[n] || q.refused[in] || len(versions) == 0 {
		return nil
	}
	if len(q.asked) == mostAsked {
		q.left = true
		return nil
	}
	q.asked[n] = true
	_, err := q.client.Resource(resource.WithVersion(versions[0])).Namespace(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		q.view.Objects = append(q.view.Objects, stub(ref.Kind, n))
	case apierrors.IsForbidden(err):
		q.refused[in] = true
		q.skipped = append(q.skipped, preflight.Skip{Check: in, Reason: "you may not read them, so whether those that the jobs name exist is unknown; to ask for: get on them"})
	case apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err): // the resource itself is not served
	case apierrors.IsNotFound(err):
		q.view.Absent = append(q.view.Absent, n)
	default:
		return fmt.Errorf("read %s %s/%s: %w", ref.Kind.Kind, namespace, ref.Name, err)
	}
	return nil
}

// stub is an object of which only the name is known.
func stub(gvk schema.GroupVersionKind, n manifest.Named) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gvk)
	o.SetNamespace(n.Namespace)
	o.SetName(n.Name)
	return o
}

// readJobs reads the jobs of the input as far as they can be read, with the runtimes that
// the view holds.
func readJobs(in *input.Input, v manifest.View, namespace string) []*job.Job {
	runtimes := manifest.View{Complete: v.Complete}
	for _, o := range v.Objects {
		if strings.HasSuffix(o.GetKind(), "TrainingRuntime") {
			runtimes.Objects = append(runtimes.Objects, o)
		}
	}
	view, err := runtimes.Snapshot()
	if err != nil {
		return nil
	}
	var out []*job.Job
	for _, d := range in.Jobs {
		object := d.Object
		if object.GetNamespace() == "" {
			object = object.DeepCopy()
			object.SetNamespace(namespace)
		}
		if j := ReadJob(object, view); j != nil {
			out = append(out, j)
		}
	}
	return out
}

// ReadJob reads one job; nil where nothing can be read. A reader that panics reads nothing:
// the review says so.
func ReadJob(object *unstructured.Unstructured, view *cluster.Snapshot) (j *job.Job) {
	defer func() {
		if recover() != nil {
			j = nil
		}
	}()
	kind := kinds.For(object.GroupVersionKind())
	if kind == nil {
		return nil
	}
	j, _ = kind.Read(object, func(w kinds.Want) (*unstructured.Unstructured, job.Presence) {
		return view.Lookup(w.GVK, w.Namespace, w.Name)
	})
	return j
}
