package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/preflight/check"
)

// unknownName is how the YAML decoder says that a struct has no field of a name.
var unknownName = regexp.MustCompile(`^line (\d+): field (.*) not found in type config\.(\w+)$`)

// nearest says of names that do not exist which one is meant.
func nearest(err error) error {
	var many *yaml.TypeError
	if !errors.As(err, &many) {
		return err
	}
	names := map[string][]string{}
	namesOf(reflect.TypeFor[Config](), names)
	var lines []string
	for _, line := range many.Errors {
		if m := unknownName.FindStringSubmatch(line); m != nil {
			meant := check.DidYouMean(m[2], names[m[3]]).String()
			if meant == "" {
				meant = "; here are " + strings.Join(names[m[3]], ", ")
			}
			line = fmt.Sprintf("line %s: no setting is called %q here%s", m[1], m[2], meant)
		}
		lines = append(lines, line)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// namesOf collects the settings by the name of their type.
func namesOf(t reflect.Type, into map[string][]string) {
	switch {
	case t.Kind() == reflect.Map:
		namesOf(t.Elem(), into)
		return
	case t.Kind() != reflect.Struct || t == reflect.TypeFor[yaml.Node]() || into[t.Name()] != nil:
		return
	}
	for f := range t.Fields() {
		into[t.Name()] = append(into[t.Name()], f.Tag.Get("yaml"))
	}
	for f := range t.Fields() {
		namesOf(f.Type, into)
	}
}
