package explain

import (
	"context"
	"strconv"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
)

// asked is a model that keeps what it is asked, and repeats what it was shown.
type asked struct {
	faithful
	user string
}

func (a *asked) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	a.user = r.User
	return a.faithful.Complete(ctx, r)
}

// Where pseudonyms are asked for, no node, host or address leaves; each is called the same wherever it stands, and the
// answer is told with the names that are.
func TestNamesAreGivenOthers(t *testing.T) {
	r := failureOf(0, 1)
	r.Evidence[0].Text = "connect to 10.9.0.6:29500 on gpu-101 (store-7.fabric.corp) of 10.9.0.6, fe80::c55:2eff:fe44:db5 at 12:30:05: nvidia.com/gpu is 8"
	r.Evidence[1].Text = "peer 10.9.0.61 of store-7.fabric.corp and store-71.fabric.corp closed 127.0.0.1, driver 550.54.15"
	for i := range r.Evidence {
		r.Evidence[i].ID = evidence.ID("log/gpu-101/agent#" + strconv.Itoa(i+1))
	}
	r.Root.Cites[0], r.Effects[0].Cites[0] = r.Evidence[0].ID, r.Evidence[1].ID
	model := &asked{}
	e := Explainer{Client: model, Pseudonyms: true}
	q := e.Ask(t.Context(), diagnose.Case{}, r)
	told, err := e.Explain(t.Context(), q, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gpu-101", "10.9.0.6", "fabric.corp", "fe80::c55"} {
		if strings.Contains(model.user, name) {
			t.Errorf("%s was sent:\n%s", name, model.user)
		}
		if !strings.Contains(told.Story.Text, name) {
			t.Errorf("%s is not told of: %s (%s)", name, told.Story.Text, told.Story.LeftOut)
		}
	}
	for _, stays := range []string{"12:30:05", "nvidia.com/gpu", "127.0.0.1", "550.54.15", "[log/node-1/agent#"} {
		if !strings.Contains(model.user, stays) {
			t.Errorf("%s is not in\n%s", stays, model.user)
		}
	}
	if n := strings.Count(model.user, "connect to 192.0.2.1:29500 on node-1 (host-1.invalid) of 192.0.2.1, 2001:db8::1"); n == 0 {
		t.Errorf("one name has two others:\n%s", model.user)
	}
	if q.Request.User != e.Ask(t.Context(), diagnose.Case{}, r).Request.User {
		t.Error("the same question has other names")
	}
	if other := (Explainer{}).Ask(t.Context(), diagnose.Case{}, r).Request.User; !strings.Contains(other, "10.9.0.61") {
		t.Error("names are others where nobody asked for it")
	}
}
