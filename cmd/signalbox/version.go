package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// built says what binary this is.
type built struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion(sh *shell) *cobra.Command {
	output := oneOf("text", "json")
	c := &cobra.Command{
		Use:   "version",
		Short: "print version, commit and Go version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b := build()
			if output.value == "json" {
				return own(writeJSON(sh.out, b))
			}
			_, err := fmt.Fprintln(sh.out, b)
			return own(err)
		},
	}
	addChoice(c, output, "output", "o", "output format")
	return c
}

// String is the version in one line.
func (b built) String() string {
	dirty := ""
	if b.Modified {
		dirty = ", modified"
	}
	return fmt.Sprintf("signalbox %s (commit %s%s, %s, %s)", b.Version, b.Commit, dirty, b.Go, b.Platform)
}

func build() built {
	b := built{Version: version, Commit: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	from, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range from.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Version == "" {
		b.Version = from.Main.Version
	}
	return b
}

func writeJSON(to interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
