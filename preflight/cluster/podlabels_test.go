package cluster

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

var _ labels.Labels = Labels{}

func TestLabelsSayWhatTheirMapSays(t *testing.T) {
	for _, m := range []map[string]string{nil, {}, {"a": ""}, {"team": "speech", "a/b": "1", "z": "z", "b": "2"}} {
		l := LabelsOf(m)
		if got := maps.Collect(l.All()); !maps.Equal(got, m) || !maps.Equal(l.Map(), m) {
			t.Errorf("%v: all are %v, the map is %v", m, got, l.Map())
		}
		for _, key := range []string{"", "a", "a/b", "team", "z", "zz"} {
			want, there := m[key]
			if value, has := l.Lookup(key); value != want || has != there || l.Get(key) != want || l.Has(key) != there {
				t.Errorf("%v: %s is %q, %t", m, key, value, has)
			}
		}
		if !l.Equal(LabelsOf(maps.Clone(m))) || l.Equal(LabelsOf(map[string]string{"team": "vision"})) {
			t.Errorf("%v: what is equal", m)
		}
	}
	used := map[string]string{"before": "1"}
	if got := LabelsOf(map[string]string{"a": "1"}).into(used); !maps.Equal(got, map[string]string{"a": "1"}) {
		t.Errorf("in a map that is used again there is %v", got)
	}
}

func TestToHandLabelsOnTakesNoMemory(t *testing.T) {
	l, s := LabelsOf(map[string]string{"team": "speech", "job": "train"}), labels.SelectorFromSet(labels.Set{"team": "speech"})
	if n := testing.AllocsPerRun(100, func() {
		if !s.Matches(l) {
			t.Fatal("no match")
		}
	}); n > 0 {
		t.Errorf("a match allocates %v times", n)
	}
}

// With yields all pods that have the labels, and no other.
func TestPodsWithLabels(t *testing.T) {
	var b Builder
	const pods = 3*blockSize + 1
	for i := range pods {
		b.Pod(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprint(i), Labels: map[string]string{"job": fmt.Sprint("train-", i%7), "index": fmt.Sprint(i)}}})
	}
	list := b.Snapshot(time.Time{}).PodLists()["ml"]
	for _, tc := range []struct {
		labels map[string]string
		want   int
	}{{nil, pods}, {map[string]string{"job": "train-3"}, pods / 7}, {map[string]string{"job": "train-3", "index": "10"}, 1}, {map[string]string{"job": "train-3", "index": "11"}, 0}, {map[string]string{"job": "other"}, 0}} {
		if got := len(slices.Collect(list.With(Needed(tc.labels)))); got != tc.want {
			t.Errorf("%v: %d pods; want %d", tc.labels, got, tc.want)
		}
	}
}
