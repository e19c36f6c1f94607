package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// memberOf is a pod of a job.
func memberOf(job, name string, labels map[string]string) *corev1.Pod {
	yes := true
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ml", Name: name, Labels: labels, OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: job, Controller: &yes}},
	}}
}

// Whatever pods of a job have in common, each says of itself what was written.
func TestAPodOfATemplateSaysWhatItSaid(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		job, labels := fmt.Sprint("train-", random.IntN(4)), map[string]string{}
		for n := range random.IntN(12) {
			if random.IntN(8) > 0 {
				labels[fmt.Sprint("key-", n)] = fmt.Sprint(random.IntN(2))
			}
		}
		written := memberOf(job, fmt.Sprint(random.IntN(9)), labels)
		p, alone := PodOf(written), LabelsOf(labels)
		if got := p.Labels().Map(); !maps.Equal(got, labels) || (got == nil) != (len(labels) == 0) {
			t.Fatalf("the labels %v are %v", labels, got)
		}
		last := ""
		for key := range p.Labels().All() {
			if key <= last {
				t.Fatalf("of the labels %v, %s stands behind %s", labels, key, last)
			}
			last = key
		}
		if !p.Labels().Equal(alone) || !alone.Equal(p.Labels()) {
			t.Fatalf("the labels %v differ from themselves", labels)
		}
		for n := range 12 {
			key := fmt.Sprint("key-", n)
			want, there := labels[key]
			if value, has := p.Labels().Lookup(key); value != want || has != there {
				t.Fatalf("of the labels %v, %s is %q, %t", labels, key, value, has)
			}
			for value := range 2 {
				if got := p.hasAll(Needed(map[string]string{key: fmt.Sprint(value)})); got != (there && want == fmt.Sprint(value)) {
					t.Fatalf("that the labels %v hold %s=%d is %t", labels, key, value, got)
				}
			}
		}
		if p.Namespace() != "ml" || p.Name() != written.Name || p.Owner() != (Owner{Kind: "Job", Name: job}) {
			t.Fatalf("%s/%s of %v is %s/%s of %v", "ml", written.Name, job, p.Namespace(), p.Name(), p.Owner())
		}
		if !p.Equal(PodOf(written)) {
			t.Fatalf("the pod with the labels %v differs from itself", labels)
		}
		if len(labels) > 0 {
			changed := maps.Clone(labels)
			changed[last] += "0"
			if p.Equal(PodOf(memberOf(job, written.Name, changed))) {
				t.Fatalf("with another %s the labels %v are the same", last, labels)
			}
		}
	}
}

// Which pods are held with others and which are not.
func TestPodsOfATemplate(t *testing.T) {
	in := func(job string, labels ...string) *podTemplate {
		m := map[string]string{}
		for _, label := range labels {
			key, value, _ := strings.Cut(label, "=")
			m[key] = value
		}
		return PodOf(memberOf(job, "p", m)).template
	}
	first := in("train", "a=1", "b=1", "c=1", "d=1", "e=1", "f=1")
	for name, tc := range map[string]struct {
		with *podTemplate
		same bool
	}{
		"the same":              {in("train", "a=1", "b=1", "c=1", "d=1", "e=1", "f=1"), true},
		"other in half of them": {in("train", "a=1", "b=1", "c=1", "d=2", "e=2", "f=2"), true},
		"another key":           {in("train", "a=1", "b=1", "c=1", "d=1", "e=1", "g=1"), false},
		"one key more":          {in("train", "a=1", "b=1", "c=1", "d=1", "e=1", "f=1", "g=1"), false},
		"another job":           {in("other", "a=1", "b=1", "c=1", "d=1", "e=1", "f=1"), false},
	} {
		if got := tc.with == first; got != tc.same {
			t.Errorf("%s: with the first: %t", name, got)
		}
	}
	if in("train", "a=1", "b=1", "c=2", "d=2", "e=2", "f=2") == first {
		t.Error("who differs in more than half of its labels is held with the first")
	}
	many := make([]string, mostEntries+1)
	for i := range many {
		many[i] = fmt.Sprintf("key-%02d=1", i)
	}
	together := func(job string, labels ...string) bool {
		one, other := in(job, labels...), in(job, labels...)
		return one == other
	}
	if !together("many", many[1:]...) {
		t.Errorf("pods with %d labels are not held together", mostEntries)
	}
	if together("many", many...) {
		t.Errorf("pods with %d labels are held together", mostEntries+1)
	}
	room := mostWritten - len(templateKey(nil, "ml", Owner{Kind: "Job"}, nil)) - 1 // the length of so long a name takes one byte more
	if !together(strings.Repeat("n", room)) {
		t.Errorf("what is said in %d bytes is not held once", mostWritten)
	}
	if together(strings.Repeat("n", room+1)) {
		t.Errorf("what is said in %d bytes is held once", mostWritten+1)
	}
}
