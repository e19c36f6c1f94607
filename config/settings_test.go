package config

import (
	"reflect"
	"strings"
	"testing"
)

// Each setting of the types stands in the list, with what it is for.
func TestSettingsAreAll(t *testing.T) {
	all, err := Settings()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, s := range all {
		if listed[s.Name] = true; s.Meaning == "" {
			t.Errorf("nothing says what %s is for", s.Name)
		}
	}
	var walk func(above string, of reflect.Type)
	walk = func(above string, of reflect.Type) {
		for f := range of.Fields() {
			name := above + strings.Split(f.Tag.Get("yaml"), ",")[0]
			if f.Type.Kind() == reflect.Struct && !listed[name] {
				walk(name+".", f.Type)
			} else if !listed[name] {
				t.Errorf("%s is not listed", name)
			}
		}
	}
	walk("", reflect.TypeFor[Config]())
	if s := all[0]; s.Name != "namespace" || s.Default != "signalbox-system" {
		t.Errorf("the first is %+v", s)
	}
}
