package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by the linker: -X main.version=v1.2.3.
var version = ""

// built says what binary this is.
type built struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// String is the version in one line.
func (b built) String() string {
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

func build() built {
	b := built{Version: version, Commit: unknownCommit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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
