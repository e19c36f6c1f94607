package manifest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// podOf keeps what counts of a pod: a tree of a hundred thousand of them would fill the
// memory of a laptop.
func podOf(o *unstructured.Unstructured) (*cluster.Pod, error) {
	p := &corev1.Pod{}
	if err := cluster.Decode(o, p); err != nil {
		return nil, err
	}
	return cluster.PodOf(cluster.LeanPod(p)), nil
}

// mostShapes bounds what is remembered of pods that take different things.
const mostShapes = 1 << 14

// cast reads tables of pods. Those that differ in nothing but their names, their labels
// and their nodes take the same: one of them is read as a pod, and the others are made
// after it.
type cast struct {
	table  *Table // one of them; they share like and columns
	head   string // like and columns as text
	spec   []int  // columns that say what a pod takes
	names  map[int]*string
	labels map[int]string // columns of labels, and their keys

	who    cluster.PodName
	said   map[string]string       // labels of the row above
	shapes map[string]*cluster.Pod // by the values of spec
}

// castFor is a cast for a table: the last one, where the tables share everything.
func castFor(t *Table, last *cast) *cast {
	head, err := t.head()
	if err == nil && last != nil && last.head == head {
		last.table = t
		return last
	}
	c := &cast{table: t, head: head, names: map[int]*string{}, labels: map[int]string{}, shapes: map[string]*cluster.Pod{}, said: map[string]string{}}
	at := func(path job.Path, to *string) {
		if v, err := path.Resolve(t.Like); err == nil && v != nil {
			*to, _ = v.(string)
		}
	}
	fields := map[job.Path]*string{"metadata.name": &c.who.Name, "metadata.namespace": &c.who.Namespace, "spec.nodeName": &c.who.Node}
	if controls, _ := job.Path("metadata.ownerReferences[0].controller").Resolve(t.Like); controls == true {
		fields["metadata.ownerReferences[0].name"] = &c.who.Owner
	}
	for path, to := range fields {
		at(path, to)
	}
	labels, _ := job.Path("metadata.labels").Resolve(t.Like)
	shared, _ := labels.(map[string]any)
	for key, v := range shared {
		c.said[key], _ = v.(string)
	}
	for i, column := range t.Columns {
		to, name := fields[column]
		key, label := labelOf(column, shared)
		switch {
		case name:
			c.names[i] = to
		case label:
			c.labels[i] = key
		default:
			c.spec = append(c.spec, i)
		}
	}
	return c
}

// labelOf is the key of the label that a path leads to.
func labelOf(path job.Path, labels map[string]any) (string, bool) {
	for key := range labels {
		if job.Path("metadata.labels").Key(key) == path {
			return key, true
		}
	}
	return "", false
}

// pods are those of the table, in its order.
func (c *cast) pods() ([]*cluster.Pod, error) {
	out := make([]*cluster.Pod, 0, len(c.table.Rows))
	err := c.table.read(func(values []any, changed []int) error {
		words := c.note(values, changed)
		shape := c.shape(values)
		model := c.shapes[shape]
		if model == nil || !words {
			p, err := podOf(c.table.object(values))
			if err != nil {
				return err
			}
			if words && p.Plain() && len(c.shapes) < mostShapes {
				c.shapes[shape] = p
			}
			out = append(out, p)
			return nil
		}
		who := c.who
		if who.Labels = c.said; len(c.said) == 0 {
			who.Labels = nil
		}
		out = append(out, model.As(who))
		return nil
	})
	return out, err
}

// note remembers which pod a row is of; false where a name or a label is no text.
func (c *cast) note(values []any, changed []int) bool {
	ok := true
	for _, i := range changed {
		if to := c.names[i]; to != nil {
			*to, _ = values[i].(string)
		}
		if key, label := c.labels[i]; label {
			c.said[key], _ = values[i].(string)
		}
	}
	for i, v := range values {
		text, is := v.(string)
		_, label := c.labels[i]
		to := c.names[i]
		ok = ok && (is || !label && to == nil) && (text != "" || to != &c.who.Owner)
	}
	return ok
}

// shape is the values of the columns that say what a pod takes, as a key.
func (c *cast) shape(values []any) string {
	var b strings.Builder
	for _, i := range c.spec {
		fmt.Fprintf(&b, "%T %q,", values[i], fmt.Sprint(values[i]))
	}
	return b.String()
}
