package schema

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/test/golden"
)

// helm refuses a setting that serve would refuse: the schema of the chart's values holds that of the settings.
func TestTheChartKnowsTheSettings(t *testing.T) {
	const path = "../../../config/chart/values.schema.json"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	values, ok := schema["properties"].(map[string]any)
	if !ok {
		t.Fatalf("%s has no properties", path)
	}
	values["config"] = schemaOf(reflect.TypeFor[config.Config](), "yaml")
	var b strings.Builder
	if err := shell.WriteJSON(&b, schema); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, path, []byte(b.String()))
}
