package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IsAddress says whether an argument is an address and no file.
func IsAddress(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// NamesFile says whether a word ends as names of files do: it means a file, whether that is there or not.
func NamesFile(word string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json", ".log", ".txt", ".out", ".err", ".gz", ".tgz", ".zip", ".tar"}, strings.ToLower(filepath.Ext(word)))
}

// FileThere says whether a file is there; a folder is none.
func FileThere(name string) bool {
	at, err := os.Stat(name)
	return err == nil && at.Mode().IsRegular()
}
