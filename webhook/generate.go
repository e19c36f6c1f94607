//go:build ignore

// Command generate writes the manifests that follow from the kinds.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

func main() {
	files, err := webhook.Manifests(kinds.All())
	if err != nil {
		log.Fatal(err)
	}
	for path, text := range files {
		if err := os.WriteFile(filepath.Join("..", "config", filepath.FromSlash(path)), text, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
