package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func isAddress(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// namesFile says whether a word ends as names of files do: whoever writes it means one, whether it is there or not.
func namesFile(word string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json", ".log", ".txt", ".out", ".err", ".gz", ".tgz", ".zip", ".tar"}, strings.ToLower(filepath.Ext(word)))
}

func fileThere(name string) bool {
	at, err := os.Stat(name)
	return err == nil && at.Mode().IsRegular()
}
