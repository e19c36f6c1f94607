package diagnose

import (
	"context"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// annotate writes a diagnosis on its job, with the controller's own hand.
func annotate(ctx context.Context, c *apiserver.Cluster, sh *shell.Shell, from diagnose.Case, r diagnose.Result) error {
	w := controller.Writer{
		Kube: c.Clients, Dynamic: c.Objects, Now: sh.Now,
		Mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Clients.Discovery())),
	}
	wrote, err := w.Write(ctx, from.Job.Source, r, from.State)
	if err == nil {
		sh.Tell("%s: %s", from.Job.Ref, map[bool]string{true: "the diagnosis is written on it", false: "the diagnosis on it is the same already"}[wrote])
	}
	return err
}
