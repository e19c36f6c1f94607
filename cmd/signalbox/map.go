package main

import (
	"context"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/nodemap"
)

// mapOf is the cluster as one job sees it.
func mapOf(j reviewed, cluster *cluster.Snapshot, width int, paint painter) string {
	if j.Gang == nil {
		return "no map: the job could not be read\n"
	}
	return nodemap.Draw(nodemap.Question{Cluster: cluster, Gang: *j.Gang, Fit: *j.Fit}, mapOptions(width, paint))
}

func mapOptions(width int, paint painter) nodemap.Options {
	o := nodemap.Options{Width: width, ASCII: !speaksUTF8(runtime.GOOS, os.Getenv)}
	if paint.on {
		o.Ink = ink
	}
	return o
}

// drawOverview draws the cluster for who has no job yet.
func drawOverview(ctx context.Context, sh *shell, from *worldFlags, paint painter) error {
	in := &input{}
	w, err := openCluster(ctx, sh, in, from)
	if err != nil {
		return err
	}
	in.say(sh)
	if err := newPage(sh.out).write(nodemap.DrawOverview(w.cluster, mapOptions(screen(sh.out), paint))); err != nil || w.cluster.Incomplete() == "" {
		return err
	}
	return &exit{code: exitUnknown} // what stands there is why there is no map
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

// screen is the width of the terminal: what COLUMNS says, what the terminal says, or 80.
func screen(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
	}
	return 80
}

// locale is what a set of variables says of characters, in lower case; empty: nothing. The first of
// these that is set counts (POSIX.1-2017, 8.2).
func locale(env func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return v
		}
	}
	return ""
}

// speaksUTF8 says whether the locale can show more than ASCII.
func speaksUTF8(system string, env func(string) string) bool {
	v := locale(env)
	if v == "" {
		return system == "windows" // whose terminals know no locale
	}
	return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
}

// marks are the signs of our own texts that are not ASCII. What programs and files say stays as it is.
var marks = strings.NewReplacer(" · ", " - ", " × ", " x ", "…", "...", "→", "->", "←", "<-", "│", "|", "±", "+-", "–", "-", "≥", ">=", "≤", "<=")

// plainly is a text for a locale that names no UTF-8; where none is named, somebody else reads it.
func plainly(text string, env func(string) string) string {
	if locale(env) == "" || speaksUTF8("", env) {
		return text
	}
	return marks.Replace(text)
}
