package manifest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Source is one file, or standard input.
type Source struct {
	Name    string // as the user gave it; a file of a folder has the folder's name before its own
	Recurse bool   // found in a folder: this very file was not named
	in      io.Reader
}

// Stream is a source that is read from in, once. Its name stands in messages and in
// Document.Source.
func Stream(name string, in io.Reader) Source { return Source{Name: name, in: in} }

// Sources are the files behind the values of -f: files, folders (all .yaml, .yml and
// .json files in them, also compressed, in the order of their names) and "-".
func Sources(names []string, stdin io.Reader) ([]Source, error) {
	var out []Source
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		found, err := sources(name, stdin)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// NoSuchFile is what a Problem says of a name that leads to no file and no folder.
const NoSuchFile = "no such file or folder"

func sources(name string, stdin io.Reader) ([]Source, error) {
	if name == "-" {
		return []Source{{Name: "-", in: stdin}}, nil
	}
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return nil, &Problem{Source: name, Have: "is an address", Want: "a file, a folder or - (try: curl -s " + name + " | signalbox check -f -)"}
	}
	at, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Problem{Source: name, Have: NoSuchFile, Want: "a file, a folder or - for standard input"}
	}
	if err != nil {
		return nil, &Problem{Source: name, Have: cause(err), Want: "a readable file or folder"}
	}
	if !at.IsDir() {
		return []Source{{Name: name}}, nil
	}
	return folder(name)
}

func folder(name string) ([]Source, error) {
	root, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, &Problem{Source: name, Have: cause(err), Want: "a readable folder"}
	}
	var out []Source
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return &Problem{Source: path, Have: cause(err), Want: "a readable folder"}
		}
		if e.IsDir() {
			// .git, and the ..data of a mounted ConfigMap, whose files are linked beside it
			if path != root && strings.HasPrefix(e.Name(), ".") {
				return fs.SkipDir
			}
			return nil
		}
		if manifestName(e.Name()) && !strings.HasPrefix(e.Name(), ".") && regular(path, e) {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			out = append(out, Source{Name: filepath.Join(name, rel), Recurse: true})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, &Problem{Source: name, Have: "the folder holds no manifest", Want: "files that end in .yaml, .yml or .json"}
	}
	slices.SortFunc(out, func(a, b Source) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func manifestName(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(strings.TrimSuffix(name, ".gz")))
}

// regular leaves out pipes and devices, which a folder may hold and which may never end.
func regular(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	to, err := os.Stat(path)
	return err == nil && to.Mode().IsRegular()
}

func (s Source) open() (io.ReadCloser, error) {
	switch {
	case s.in != nil:
		return io.NopCloser(s.in), nil
	case s.Name == "-":
		return nil, fmt.Errorf("standard input is closed")
	}
	return os.Open(s.Name)
}
