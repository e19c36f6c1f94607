package shell

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// WriteJSON writes a value as indented JSON, with <, > and & as they are.
func WriteJSON(to interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(to)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// RenderDocument writes a value as JSON, or the same as YAML.
func RenderDocument(to io.Writer, format string, v any) error {
	if format == "json" {
		return WriteJSON(to, v)
	}
	js, err := json.Marshal(v)
	if err != nil {
		return err
	}
	y, err := yaml.JSONToYAML(js)
	if err != nil {
		return err
	}
	_, err = to.Write(y)
	return err
}
