package prompt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Source looks up the text of a template by its key, "pytorchjob.tmpl". found is false where
// there is none; an error means that it is not known.
type Source func(ctx context.Context, key string) (text string, found bool, err error)

// Dir is the source of a folder. A folder that does not exist has no templates.
func Dir(path string) Source {
	return func(_ context.Context, key string) (string, bool, error) {
		root, err := os.OpenRoot(path)
		if errors.Is(err, fs.ErrNotExist) {
			return "", false, nil
		}
		if err != nil {
			return "", false, fmt.Errorf("read prompts: %w", err)
		}
		defer root.Close()
		text, err := root.ReadFile(key)
		if errors.Is(err, fs.ErrNotExist) {
			return "", false, nil
		}
		if err != nil {
			return "", false, fmt.Errorf("read prompt %s: %w", key, err)
		}
		return string(text), true, nil
	}
}

// Given is the source that somebody named: a folder, or the manifest of a ConfigMap as kubectl reads it. It has to be there.
func Given(path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	if info.IsDir() {
		return Dir(path), nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read prompts: %w", err)
	}
	templates := Manifest(text)
	if templates == nil {
		return nil, fmt.Errorf("read prompts %s: it is neither a folder nor the manifest of a ConfigMap", path)
	}
	return func(_ context.Context, key string) (string, bool, error) {
		text, found := templates[key]
		return text, found, nil
	}, nil
}

// Manifest are the data of the ConfigMaps in a manifest, by key; nil: it is none.
func Manifest(text []byte) map[string]string {
	var out map[string]string
	for _, document := range documentMark.Split(string(text), -1) {
		var of struct {
			Kind string            `json:"kind"`
			Data map[string]string `json:"data"`
		}
		if yaml.Unmarshal([]byte(document), &of) != nil || of.Kind != "ConfigMap" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		maps.Copy(out, of.Data)
	}
	return out
}

// documentMark stands between documents of YAML.
var documentMark = regexp.MustCompile(`(?m)^---[ \t]*$`)

// Choose finds the template for a kind of job: in each source <kind>.tmpl, then default.tmpl;
// where there is none, otherwise. The error says which template could not be read or parsed; otherwise stands in
// for it.
func Choose(ctx context.Context, kind string, otherwise *Template, sources ...Source) (*Template, error) {
	for _, source := range sources {
		for _, key := range []string{strings.ToLower(kind) + ".tmpl", "default.tmpl"} {
			text, found, err := source(ctx, key)
			if err != nil {
				return otherwise, err
			}
			if !found {
				continue
			}
			t, err := Parse(key, text)
			if err != nil {
				return otherwise, err
			}
			return t, nil
		}
	}
	return otherwise, nil
}
