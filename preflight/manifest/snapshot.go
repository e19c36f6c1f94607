package manifest

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

const (
	// CompleteAnnotation on a List names the resources ("nodes,pods,jobsets.jobset.x-k8s.io")
	// of which the snapshot holds all objects: what is not in it is absent, not unknown.
	CompleteAnnotation = "signalbox.dev/complete"
	// UnservedAnnotation on a List names resources that the cluster's API does not have: what reads them is not installed.
	UnservedAnnotation = "signalbox.dev/not-served"
	// ObjectsAnnotation on a List is how many objects it holds: a file that was cut off
	// between two of them is found out.
	ObjectsAnnotation = "signalbox.dev/objects"
	// TakenAnnotation on a List is when the snapshot was taken, RFC 3339.
	TakenAnnotation = "signalbox.dev/taken"
)

// View is a cluster view under construction: plain objects and what is known to be whole.
type View struct {
	Objects  []*unstructured.Unstructured
	Pods     []*cluster.Pod  // besides those among Objects: what counts of them
	Held     []*cluster.Held // besides Objects: those of kinds of which there are many
	Complete []schema.GroupResource
	Unserved []schema.GroupResource // that the API does not have
	Absent   []Named                // asked for one by one, and not there
	Taken    time.Time

	cast *cast // the last one that was used while reading
}

// Named is an object by its name.
type Named struct {
	Kind            schema.GroupKind
	Namespace, Name string
}

// ReadView reads a snapshot from files and folders. The first problem ends it: half a
// cluster would give wrong answers. Every object goes through keep, which may reduce it
// to what is looked at, so that the listing of a big cluster fits into memory.
func ReadView(names []string, stdin io.Reader, keep ...func(*unstructured.Unstructured) *unstructured.Unstructured) (View, error) {
	found, err := Sources(names, stdin)
	if err != nil {
		return View{}, err
	}
	var v View
	for _, s := range found {
		items := 0 // of the list that is being read
		for d, err := range s.documents(true) {
			if err != nil {
				return View{}, err
			}
			if d.List {
				err, items = counted(d, items), 0
			} else {
				items += d.count()
			}
			if err == nil {
				err = v.add(d, keep)
			}
			if err != nil {
				return View{}, err
			}
		}
	}
	if len(v.Objects)+len(v.Pods) == 0 && len(v.Complete) == 0 {
		return View{}, &Problem{Source: strings.Join(names, ", "), Have: "holds no Kubernetes object", Want: "a snapshot (kubectl get nodes,pods -A -o yaml, or signalbox snapshot)"}
	}
	return v, nil
}

// counted compares the items of a list with what it says of their number.
func counted(list Document, items int) error {
	said := list.Object.GetAnnotations()[ObjectsAnnotation]
	if said == "" || said == strconv.Itoa(items) {
		return nil
	}
	return &Problem{
		Source: list.Source, Line: list.Line, Have: fmt.Sprintf("the list holds %d objects and says %s (%s)", items, said, ObjectsAnnotation),
		Want: "a whole snapshot (was the file cut off?)",
	}
}

// add takes over what a document says.
func (v *View) add(d Document, keep []func(*unstructured.Unstructured) *unstructured.Unstructured) error {
	if d.pod != nil {
		v.Pods = append(v.Pods, cluster.PodOf(cluster.LeanPod(d.pod)))
		return nil
	}
	pods := d.Object.GroupVersionKind() == podKind
	switch {
	case d.List:
		return v.frame(d)
	case pods && d.table != nil:
		v.cast = castFor(d.table, v.cast)
		made, err := v.cast.pods()
		if err != nil {
			return &Problem{Source: d.Source, Line: d.Line, Have: err.Error()}
		}
		v.Pods = append(v.Pods, made...)
		return nil
	case pods:
		p, err := podOf(d.Object)
		if err != nil {
			return &Problem{Source: d.Source, Line: d.Line, Have: err.Error()}
		}
		v.Pods = append(v.Pods, p)
		return nil
	}
	objects := []*unstructured.Unstructured{d.Object}
	if d.table != nil {
		objects = d.table.objects()
	}
	for _, o := range objects {
		for _, reduce := range keep {
			o = reduce(o)
		}
		v.Objects = append(v.Objects, o)
	}
	return nil
}

// frame takes over what a list says about itself.
func (v *View) frame(d Document) error {
	notes := d.Object.GetAnnotations()
	for note, to := range map[string]*[]schema.GroupResource{CompleteAnnotation: &v.Complete, UnservedAnnotation: &v.Unserved} {
		for _, word := range strings.FieldsFunc(notes[note], func(r rune) bool { return r == ',' || r == ' ' || r == '\n' }) {
			if gr := schema.ParseGroupResource(strings.ToLower(word)); !slices.Contains(*to, gr) {
				*to = append(*to, gr)
			}
		}
	}
	if at := notes[TakenAnnotation]; at != "" {
		taken, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return &Problem{Source: d.Source, Line: d.Position("metadata.annotations"), Have: fmt.Sprintf("%s is %q", TakenAnnotation, at), Want: "a time such as 2026-01-02T15:04:05Z"}
		}
		v.Taken = taken
	}
	return nil
}

// Snapshot builds what the fit and the checks look at. An object that cannot be read as
// the Kubernetes type it claims to be is an error that names it.
func (v View) Snapshot() (*cluster.Snapshot, error) {
	var b cluster.Builder
	for _, o := range v.Objects {
		if err := build(&b, o); err != nil {
			return nil, err
		}
	}
	for _, o := range v.Held {
		b.KeepObject(o)
	}
	for _, p := range v.Pods {
		b.KeepPod(p)
	}
	b.Complete(v.Complete...)
	b.Unserved(v.Unserved...)
	for _, n := range v.Absent {
		b.Absent(n.Kind, n.Namespace, n.Name)
	}
	return b.Snapshot(v.Taken), nil
}

func build(b *cluster.Builder, o *unstructured.Unstructured) error {
	switch o.GroupVersionKind() {
	case corev1.SchemeGroupVersion.WithKind("Node"):
		n := &corev1.Node{}
		if err := cluster.Decode(o, n); err != nil {
			return err
		}
		b.Node(n)
	case podKind:
		p := &corev1.Pod{}
		if err := cluster.Decode(o, p); err != nil {
			return err
		}
		b.Pod(p)
	default:
		b.Object(o)
	}
	return nil
}
