package schema

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/check"
)

// configSchema is the schema of the settings: their types, what config.yaml says of each, the words that some take, and
// the names and parameters of checks.
func configSchema() (map[string]any, error) {
	schema := schemaOf(reflect.TypeFor[config.Config](), "yaml")
	settings, err := config.Settings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		at := settingIn(schema, s.Name)
		at["description"] = s.Meaning
		var value any = s.Default
		if at["type"] != "string" {
			if err := yaml.Unmarshal([]byte(s.Default), &value); err != nil {
				return nil, err
			}
		}
		at["default"] = value
	}
	for name, words := range config.Words() {
		settingIn(schema, name)["enum"] = words
	}
	all, err := tuning.All()
	if err != nil {
		return nil, err
	}
	for _, at := range []string{"checks", "checks.namespaces.*"} {
		namesOfChecks(settingIn(schema, at), all)
	}
	orNothing(schema)
	return schema, nil
}

// settingIn is the schema of one setting, by the name that config gives it: * is a name of the author's, [] an element.
func settingIn(schema map[string]any, name string) map[string]any {
	for part := range strings.SplitSeq(name, ".") {
		if part == "*" {
			schema = schema["additionalProperties"].(map[string]any)
			continue
		}
		name, listed := strings.CutSuffix(part, "[]")
		if schema = schema["properties"].(map[string]any)[name].(map[string]any); listed {
			schema = schema["items"].(map[string]any)
		}
	}
	return schema
}

// namesOfChecks holds what tunes checks to the names and the parameters that there are.
func namesOfChecks(tuning map[string]any, all *check.Set) {
	names := all.Names()
	settingIn(tuning, "disable")["items"] = map[string]any{"enum": names}
	settingIn(tuning, "severity")["propertyNames"] = map[string]any{"enum": names}
	byCheck := map[string]any{}
	for _, c := range all.Checks() {
		if c.Params == nil {
			continue
		}
		properties := map[string]any{}
		for _, p := range c.Parameters() {
			one := schemaOf(reflect.TypeOf(p.Default), "json")
			one["description"], one["default"] = p.Doc, p.Default
			properties[p.Name] = one
		}
		byCheck[c.Name] = map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	}
	params := settingIn(tuning, "params")
	params["properties"], params["additionalProperties"] = byCheck, false
}

// orNothing lets a key of a group or a list stand without a value, as the reader does.
func orNothing(schema map[string]any) {
	for _, below := range []string{"properties", "additionalProperties", "items"} {
		deeper, ok := schema[below].(map[string]any)
		switch {
		case !ok:
		case below == "properties":
			for _, of := range deeper {
				orNothing(of.(map[string]any))
			}
		default:
			orNothing(deeper)
		}
	}
	if kind := schema["type"]; kind == "object" || kind == "array" {
		schema["type"] = []any{kind, "null"}
	}
}
