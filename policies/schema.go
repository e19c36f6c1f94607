package policies

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight"
)

// InputSchema is the JSON schema of what policies see, made from the Go types. Policies
// are compiled against it, so that a misspelt field does not read as an absent one.
func InputSchema() map[string]any { return schemaOf(reflect.TypeFor[preflight.Input]()) }

func schemaOf(t reflect.Type) map[string]any {
	if t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) {
		return map[string]any{"type": "string"}
	}
	if t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return map[string]any{} // any value: the fields of every kind
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		properties := map[string]any{}
		for f := range t.Fields() {
			if f.Tag.Get("policy") == "-" { // of other documents only
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue // JSON has it not
			}
			properties[name] = schemaOf(f.Type)
		}
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	default:
		return map[string]any{} // any value
	}
}
