package policies

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signalbox-dev/signalbox/preflight"
)

//go:generate go run generate.go

// InputSchema is the JSON schema of what policies see, made from the Go types. Policies
// are compiled against it, so that a misspelt field does not read as an absent one.
func InputSchema() map[string]any { return schemaOf(reflect.TypeFor[preflight.Input]()) }

func schemaOf(t reflect.Type) map[string]any {
	if t.Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) {
		return map[string]any{"type": "string"}
	}
	if written, ok := reflect.TypeAssert[interface{ As() reflect.Type }](reflect.Zero(t)); ok {
		return schemaOf(written.As())
	}
	if t == reflect.TypeFor[resource.Quantity]() || t == reflect.TypeFor[intstr.IntOrString]() || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return map[string]any{} // any value: the fields of every kind
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		properties := map[string]any{}
		propertiesOf(t, properties)
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	default:
		return map[string]any{} // any value
	}
}

// unshown are fields of the API that no policy is told.
var unshown = map[reflect.Type][]string{
	reflect.TypeFor[corev1.EnvVar]():  {"value"},
	reflect.TypeFor[corev1.PodSpec](): {"containers", "initContainers", "ephemeralContainers"},
}

func propertiesOf(t reflect.Type, into map[string]any) {
	for f := range t.Fields() {
		if f.Tag.Get("policy") == "-" { // of other documents only
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-": // JSON has it not
		case name == "" && f.Anonymous: // its fields are those of t
			propertiesOf(f.Type, into)
		case !slices.Contains(unshown[t], name):
			of := schemaOf(f.Type)
			if said := described[t.Name()+"."+f.Name]; said != "" && !strings.HasPrefix(t.PkgPath(), "k8s.io/") {
				of["description"] = said
			}
			into[name] = of
		}
	}
}
