package fit

import (
	"context"
	"os"
	"runtime"

	"github.com/fatih/color"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/nodemap"
)

// mapOf is the cluster as one job sees it.
func mapOf(j review.Reviewed, cluster *cluster.Snapshot, width int, paint terminal.Painter) string {
	if j.Gang == nil {
		return "no map: the job could not be read\n"
	}
	return nodemap.Draw(nodemap.Question{Cluster: cluster, Gang: *j.Gang, Fit: *j.Fit}, mapOptions(width, paint))
}

func mapOptions(width int, paint terminal.Painter) nodemap.Options {
	o := nodemap.Options{Width: width, ASCII: !terminal.SpeaksUTF8(runtime.GOOS, os.Getenv)}
	if paint.On {
		o.Ink = ink
	}
	return o
}

// drawOverview draws the cluster for a user who has no job yet.
func drawOverview(ctx context.Context, sh *shell.Shell, from *review.Flags, paint terminal.Painter) error {
	in := &input.Input{}
	w, err := openCluster(ctx, sh, in, from)
	if err != nil {
		return err
	}
	in.Say(sh)
	if err := terminal.NewPage(sh.Out).Write(nodemap.DrawOverview(w.Cluster, mapOptions(terminal.Width(sh.Out), paint))); err != nil || w.Cluster.Incomplete() == "" {
		return err
	}
	return &shell.Exit{Code: shell.ExitUnknown} // what stands there is why there is no map
}

// ink colours what is worth a look: what is used keeps the colour of the text.
func ink(m nodemap.Mark, text string) string {
	by := map[nodemap.Mark]color.Attribute{
		nodemap.Ours: color.FgCyan, nodemap.Free: color.FgGreen, nodemap.Closed: color.FgYellow, nodemap.Broken: color.FgRed, nodemap.Hidden: color.FgYellow,
	}
	attribute, ok := by[m]
	if !ok {
		return text
	}
	c := color.New(attribute)
	c.EnableColor()
	return c.Sprint(text)
}
