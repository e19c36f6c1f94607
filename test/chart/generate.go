//go:build ignore

// Command generate writes the templates of config/chart that follow from the manifests.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/signalbox-dev/signalbox/test/chart"
)

func main() {
	root := filepath.Join("..", "..")
	files, err := chart.Templates(root)
	if err != nil {
		log.Fatal(err)
	}
	copies, err := chart.Copies(root)
	if err != nil {
		log.Fatal(err)
	}
	for folder, files := range map[string]map[string]string{"templates": files, "files": copies} {
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(root, "config", "chart", folder, name), []byte(text), 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
}
