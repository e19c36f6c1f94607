// Package schema is the command schema: the JSON schemas of what commands print, of the settings and of what policies see.
package schema

import (
	"embed"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	diagnosecmd "github.com/signalbox-dev/signalbox/cmd/signalbox/diagnose"
	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight/check"
)

//go:embed schemas/*.json
var schemaFiles embed.FS

// derived are the schemas of what Go types describe whole; the others are files.
var derived = map[string]struct {
	title string
	of    reflect.Type
	tag   string
}{
	"job-groups": {"What get jobs --group-by prints", reflect.TypeFor[getcmd.JobGroups](), "json"},
	"comparison": {"What diagnose --against prints", reflect.TypeFor[diagnosecmd.Comparison](), "json"},
}

func schemaNames() []string {
	out := []string{"audit", "bundle", "config", "diagnosis", "jobs", "policy-input", "report"}
	for name := range derived {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// New is the command schema.
func New(sh *shell.Shell) *cobra.Command {
	return &cobra.Command{
		Use:       "schema " + strings.Join(schemaNames(), "|"),
		Short:     "print the JSON schema of an output, of the configuration or of the policy input",
		Example:   fmt.Sprintf("  %[1]s schema config > signalbox.schema.json\n  %[1]s schema diagnosis", sh.Name),
		ValidArgs: schemaNames(),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return shell.Usagef("%s takes one name; expected %s", c.CommandPath(), terminal.OrList(schemaNames()))
			}
			if !slices.Contains(schemaNames(), args[0]) {
				return shell.Usagef("there is no schema %q; expected %s%s", args[0], terminal.OrList(schemaNames()), check.DidYouMean(args[0], schemaNames()))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := Text(args[0])
			if err != nil {
				return shell.Own(err)
			}
			_, err = sh.Out.Write(text)
			return shell.Own(err)
		},
	}
}

// Text is a schema as JSON.
func Text(name string) ([]byte, error) {
	var schema map[string]any
	if d, ok := derived[name]; ok {
		schema = schemaOf(d.of, d.tag)
		schema["title"] = d.title
	} else if name == "config" {
		var err error
		if schema, err = configSchema(); err != nil {
			return nil, err
		}
		schema["title"] = "The settings of signalbox serve and of --config"
	} else if name == "policy-input" {
		schema = policies.InputSchema() // the one that policies are compiled against
		schema["title"] = "What a policy sees of a review (signalbox.dev/policy/v1)"
	} else {
		return schemaFiles.ReadFile("schemas/" + name + ".json")
	}
	schema["$schema"], schema["$id"] = "http://json-schema.org/draft-07/schema#", "https://signalbox.dev/schemas/"+name+".json"
	var b strings.Builder
	err := shell.WriteJSON(&b, schema)
	return []byte(b.String()), err
}

var textual = reflect.TypeFor[encoding.TextUnmarshaler]()

// schemaOf describes a type by its fields and their tags. A map's keys and an interface's values are
// free; a type that reads itself from text is a string.
func schemaOf(t reflect.Type, tag string) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case readsScalar(t): // a duration, which without a unit is none, except for 0
		return map[string]any{"type": []string{"string", "integer"}, "pattern": `^([-+]?([0-9.]+(ns|us|µs|μs|ms|s|m|h))+|0)$`, "minimum": 0, "maximum": 0}
	case t.Kind() != reflect.Pointer && (t.Implements(textual) || reflect.PointerTo(t).Implements(textual)):
		return map[string]any{"type": []string{"string", "number"}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"oneOf": []any{schemaOf(t.Elem(), tag), map[string]any{"type": "null"}}}
	case reflect.Struct:
		return structSchema(t, tag)
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem(), tag)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem(), tag)}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if t.PkgPath() != "" && reflect.PointerTo(t).NumMethod()+t.NumMethod() > 0 {
			return map[string]any{} // it has words of its own
		}
		return map[string]any{"type": "integer"}
	default:
		return map[string]any{}
	}
}

// readsScalar says whether a type reads itself from YAML, as durations do.
func readsScalar(t reflect.Type) bool {
	_, ok := reflect.PointerTo(t).MethodByName("UnmarshalYAML")
	return ok && t.Kind() != reflect.Struct && t.Kind() != reflect.Map
}

func structSchema(t reflect.Type, tag string) map[string]any {
	properties := map[string]any{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if !f.IsExported() || name == "-" || name == "" {
			continue
		}
		properties[name] = schemaOf(f.Type, tag)
	}
	out := map[string]any{"type": "object", "properties": properties}
	if len(properties) == 0 {
		return map[string]any{"description": fmt.Sprintf("a %s", t.Name())}
	}
	if tag == "yaml" {
		out["additionalProperties"] = false // a key that is written wrong is an error
	}
	return out
}
