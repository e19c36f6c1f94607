package webhook

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fakediscovery "k8s.io/client-go/discovery/fake"

	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// away is an API server that serves groups, of which one is served by somebody who does not answer.
type away struct {
	*fakediscovery.FakeDiscovery
	group *string
}

func (a away) ServerResourcesForGroupVersionWithContext(ctx context.Context, gv string) (*metav1.APIResourceList, error) {
	if gv == *a.group {
		return nil, errors.New("the server is currently unable to handle the request")
	}
	return a.FakeDiscovery.ServerResourcesForGroupVersionWithContext(ctx, gv)
}

// An APIService that somebody left behind says that a group is served, and nobody answers for it: the kinds of other groups
// are followed all the same, and its own stay as they were.
func TestAGroupThatDoesNotAnswerHoldsUpNoOther(t *testing.T) {
	groups := []string{"batch.tensorstack.dev/v1beta1", "kubeflow.org/v1", "batch/v1"}
	for _, silent := range groups {
		s := newShared(t)
		s.api.Resources = []*metav1.APIResourceList{
			{GroupVersion: groups[0], APIResources: []metav1.APIResource{{Name: "pytorchtrainingjobs"}}},
			{GroupVersion: groups[1], APIResources: []metav1.APIResource{{Name: "pytorchjobs"}}},
			{GroupVersion: groups[2], APIResources: []metav1.APIResource{{Name: "jobs"}}},
		}
		from := silent
		jobs := NewJobs(live.Clients{Dynamic: s.client, Discovery: away{s.api, &from}}, kinds.All(), Others{Pack: live.Pack}, logr.Discard())
		followed := func() (out []string) {
			jobs.mu.Lock()
			defer jobs.mu.Unlock()
			for _, f := range jobs.followed {
				out = append(out, f.kind.GroupVersion().String())
			}
			slices.Sort(out)
			return out
		}
		jobs.discover(t.Context())
		if !jobs.asked {
			t.Errorf("where %s does not answer, the webhook waits for it", silent)
		}
		if got := followed(); len(got) != 2 || slices.Contains(got, silent) {
			t.Errorf("where %s does not answer, %q are followed; want the other two", silent, got)
		}
		from = ""
		jobs.discover(t.Context())
		if got := followed(); len(got) != 3 {
			t.Errorf("once %s answers, %q are followed; want all three", silent, got)
		}
		from = silent
		jobs.discover(t.Context())
		if got := followed(); len(got) != 3 {
			t.Errorf("when %s does not answer any more, %q are followed; want all three", silent, got)
		}
	}
}
