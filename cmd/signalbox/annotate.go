package main

import (
	"context"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// annotate writes a diagnosis on its job as the controller would.
func (c *cluster) annotate(context.Context, diagnose.Case, diagnose.Result) error {
	return usagef("--annotate needs the controller")
}
