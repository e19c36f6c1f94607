package labelled

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAnErrorIsWrittenOnTheConfigMapItNames(t *testing.T) {
	found := []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "limits"}}, {ObjectMeta: metav1.ObjectMeta{Name: "old-limits"}}}
	cases := map[string]struct {
		why  string
		want []string
	}{
		"nothing is wrong":               {"", nil},
		"one is named":                   {"parse old-limits/a.rego: 1 error", []string{"old-limits"}},
		"a name that ends like another":  {"compile policies: limits/a.rego:3: undefined x", []string{"limits"}},
		"both are named":                 {"limits/a.json and old-limits/b.json: both set data.x", []string{"limits", "old-limits"}},
		"none is named: all are to know": {"merge data: too large", []string{"limits", "old-limits"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			blamed := blame(tc.why, found)
			for _, m := range found {
				if blamed[m.Name] != "" {
					got = append(got, m.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("blamed (-want +got):\n%s", diff)
			}
		})
	}
}
