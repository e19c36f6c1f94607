package job

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Marks are what a controller adds to the labels of the pods when it makes them.
type Marks struct {
	Labels map[string]string // the same on all pods of the role; they replace those of the template
	Varies []string          // keys of labels that all pods get, each with its own value or one that is settled only then
	Some   []string          // keys of labels that some of the pods may get
	Whole  []string          // prefixes of keys of which the above are all that pods get
}

// controllerLabels begin the keys of labels that controllers write on the pods they make
// (https://kubernetes.io/docs/reference/labels-annotations-taints/, the API packages of
// Kubeflow's operators, JobSet, Volcano and Kueue).
var controllerLabels = []string{
	"batch.kubernetes.io/", "job-name", "controller-uid", "pod-template-hash", "apps.kubernetes.io/", "statefulset.kubernetes.io/",
	"training.kubeflow.org/", "trainer.kubeflow.org/", "jobset.sigs.k8s.io/", "batch.volcano.sh/", "volcano.sh/", "kueue.x-k8s.io/",
	"leaderworkerset.sigs.k8s.io/", "ray.io/",
}

// WithMarks is the pod with those marks in its labels that are the same on all pods.
func (p Pod) WithMarks() Pod {
	if len(p.Marks.Labels)+len(p.Marks.Varies) == 0 {
		return p
	}
	own := make(map[string]string, len(p.Labels)+len(p.Marks.Labels))
	maps.Copy(own, p.Labels)
	maps.Copy(own, p.Marks.Labels)
	for _, key := range p.Marks.Varies {
		delete(own, key)
	}
	p.Labels = own
	return p
}

// Label is the value of a label that all pods of the role will have; Unknown where that
// cannot be told before they are made, and doubt says why. varies: they will have it.
func (p *Pod) Label(key string) (value string, is Presence, varies bool, doubt string) {
	if slices.Contains(p.Marks.Varies, key) {
		return "", Unknown, true, "the label " + key + ", which differs from pod to pod,"
	}
	if value, ok := p.Marks.Labels[key]; ok {
		return value, Present, false, ""
	}
	if value, ok := p.Labels[key]; ok {
		return value, Present, false, ""
	}
	begins := func(prefix string) bool { return strings.HasPrefix(key, prefix) }
	some := slices.Contains(p.Marks.Some, key)
	if some || slices.ContainsFunc(controllerLabels, begins) && !slices.ContainsFunc(p.Marks.Whole, begins) {
		return "", Unknown, false, "the label " + key + ", which pods get when they are made,"
	}
	return "", Absent, false, ""
}

// single is a set of at most one label: asking about one does not take a map.
type single struct {
	key, value string
	there      bool
}

func (s single) Has(key string) bool { return s.there && s.key == key }

func (s single) Get(key string) string {
	value, _ := s.Lookup(key)
	return value
}

func (s single) Lookup(key string) (string, bool) {
	if s.Has(key) {
		return s.value, true
	}
	return "", false
}

// Meets says whether a selector will match the pods of the role. Where that is not the same
// for all of them, or not settled before they are made, doubt names the label.
func (p *Pod) Meets(selector labels.Selector) (yes bool, doubt string) {
	requirements, selectable := selector.Requirements()
	if !selectable {
		return false, ""
	}
	for i := range requirements {
		r := &requirements[i]
		value, is, varies, why := p.Label(r.Key())
		switch {
		case is != Unknown:
			if !r.Matches(single{r.Key(), value, is == Present}) {
				return false, ""
			}
		case varies && r.Operator() == selection.Exists:
		case varies && r.Operator() == selection.DoesNotExist:
			return false, ""
		case doubt == "":
			doubt = why
		}
	}
	return doubt == "", doubt
}
