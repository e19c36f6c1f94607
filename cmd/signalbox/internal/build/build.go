// Package build says what binary this is: its version, commit and platform.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version is set by the linker (Makefile); empty: it is that of the module.
var Version = ""

// Info says what binary this is.
type Info struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// String is the version in one line.
func (b Info) String() string {
	var of []string
	if b.Commit != unknownCommit {
		of = append(of, "commit "+b.Commit)
	}
	if b.Modified {
		of = append(of, "modified")
	}
	return fmt.Sprintf("signalbox %s (%s)", b.Version, strings.Join(append(of, b.Go, b.Platform), ", "))
}

const unknownCommit = "unknown" // built without version control

// Read is what the linker and the Go command wrote into this program.
func Read() Info {
	b := Info{Version: Version, Commit: unknownCommit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
