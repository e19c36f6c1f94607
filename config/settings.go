package config

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Setting is one setting as config.yaml documents it.
type Setting struct {
	Name    string `json:"name"` // as it is nested: webhook.deadline
	Default string `json:"default"`
	Meaning string `json:"meaning"`
}

// File is every setting with its default and what it is for, as a file to begin with.
func File() []byte { return bytes.Clone(defaults) }

// Settings are all, in the order of the file.
func Settings() ([]Setting, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(defaults, &root); err != nil {
		return nil, fmt.Errorf("read the defaults: %w", err)
	}
	return settingsOf("", root.Content[0])
}

func settingsOf(above string, m *yaml.Node) (out []Setting, err error) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		name := above + key.Value
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 {
			below, err := settingsOf(name+".", value)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
			continue
		}
		text := value.Value
		if value.Kind != yaml.ScalarNode {
			value.Style |= yaml.FlowStyle
			one := *value
			for _, c := range one.Content {
				c.HeadComment = ""
			}
			written, err := yaml.Marshal(&one)
			if err != nil {
				return nil, fmt.Errorf("read the default of %s: %w", name, err)
			}
			text = strings.TrimSpace(string(written))
		}
		out = append(out, Setting{Name: name, Default: text, Meaning: comment(key.HeadComment)})
	}
	return out, nil
}

// comment is the text of a comment in one line.
func comment(text string) string {
	if at := strings.LastIndex(text, "\n\n"); at >= 0 { // what stands further above is about more
		text = text[at:]
	}
	var words []string
	for line := range strings.Lines(text) {
		words = append(words, strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "#"))...)
	}
	return strings.Join(words, " ")
}
