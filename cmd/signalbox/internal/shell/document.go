package shell

import (
	"bytes"
	"encoding/json"
	"io"
)

// WriteJSON writes a value as indented JSON, with <, > and & as they are.
func WriteJSON(to io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := to.Write(EscapeJSON(b.Bytes()))
	return err
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
	return RenderJSON(to, format, js)
}

// RenderJSON writes a JSON document as it is, or the same as YAML.
func RenderJSON(to io.Writer, format string, js []byte) error {
	text := EscapeJSON(js)
	if format == "yaml" {
		var err error
		if text, err = asYAML(js); err != nil {
			return err
		}
	}
	_, err := to.Write(text)
	return err
}
