package quota_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// TestSoManyPodsShareAClaim: 256 pods may have a claim at a time.
func TestSoManyPodsShareAClaim(t *testing.T) {
	shares := func(p *corev1.Pod) {
		name := "net"
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "net", ResourceClaimName: &name}}
	}
	for name, tc := range map[string]struct {
		pods, held int
		want       string
	}{
		"as many as may":          {256, 0, ""},
		"one more":                {257, 0, "never devices ResourceClaim ml/net: 257 pods share it, and no more than 256 may at a time\n"},
		"as many as others leave": {2, 254, ""},
		"one more than these":     {2, 255, "now devices ResourceClaim ml/net: 2 more pods are to share it beside 255 that do, and no more than 256 may at a time\n"},
	} {
		t.Run(name, func(t *testing.T) {
			held := make([]string, tc.held)
			for i := range held {
				held[i] = fmt.Sprintf("{resource: pods, name: p%d, uid: u%d}", i, i)
			}
			claim := "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: net, namespace: ml}\nspec: {devices: {requests: []}}\nstatus: {reservedFor: [" + strings.Join(held, ", ") + "]}"
			s := build.View(t, build.Namespace+claim, []string{"resourceclaims.resource.k8s.io", "namespaces"})
			if diff := cmp.Diff(tc.want, build.Violations(s, in("ml", build.Gang(build.Group("Worker", tc.pods, shares))))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func in(namespace string, g gang.Gang) gang.Gang {
	g.Namespace = namespace
	return g
}
