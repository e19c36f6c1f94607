package config

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/preflight/check"
)

// unknownName is how the YAML decoder says that a struct has no field of a name.
var unknownName = regexp.MustCompile(`^line (\d+): field (.*) not found in type config\.(\w+)$`)

// onLine is how the YAML decoder begins what it says of a value.
var onLine = regexp.MustCompile(`^line (\d+): (.*)$`)

// notAMap is how it says that a struct is written as something else.
var notAMap = regexp.MustCompile(`^cannot unmarshal !!(seq|str|int|bool|float)(?: ` + "`[^`]*`" + `)? into config\.(\w+)$`)

// forms are what people call the YAML that it names by tags.
var forms = map[string]string{"seq": "a list", "str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}

// nearest are what the decoder says of a text, with the paths; of names that do not exist it says which one is meant.
func nearest(text []byte, many *yaml.TypeError) (out Mistakes) {
	var root yaml.Node
	_ = yaml.Unmarshal(text, &root) // it was decoded: without it there are no paths
	names := map[string][]string{}
	namesOf(reflect.TypeFor[Config](), names)
	for _, line := range many.Errors {
		if m := unknownName.FindStringSubmatch(line); m != nil {
			meant := check.DidYouMean(m[2], names[m[3]]).String()
			if meant == "" {
				meant = "; here are " + strings.Join(names[m[3]], ", ")
			}
			path := m[2]
			if at := pathsOn(&root, "", func(key, _ *yaml.Node) bool { return strconv.Itoa(key.Line) == m[1] && key.Value == m[2] }); len(at) > 0 {
				path = at[0]
			}
			line = fmt.Sprintf("line %s: no setting is called %s%s", m[1], path, meant)
		} else if m := onLine.FindStringSubmatch(line); m != nil {
			at := pathsOn(&root, "", func(_, value *yaml.Node) bool {
				return strconv.Itoa(value.Line) == m[1] && (value.Kind == yaml.SequenceNode && strings.Contains(m[2], "!!seq ") || value.Kind == yaml.ScalarNode && (strings.Contains(m[2], "`"+value.Value+"`") || strings.Contains(m[2], strconv.Quote(value.Value))))
			})
			if of := notAMap.FindStringSubmatch(m[2]); of != nil && names[of[2]] != nil {
				m[2] = fmt.Sprintf("this is %s; expected its settings by name: %s", forms[of[1]], strings.Join(names[of[2]], ", "))
			}
			if len(at) == 1 { // of several it is not known which one is meant
				line = fmt.Sprintf("line %s: %s: %s", m[1], at[0], m[2])
			}
		}
		out = append(out, line)
	}
	return out
}

// pathsOn are the paths of settings that a function holds for.
func pathsOn(n *yaml.Node, path string, is func(key, value *yaml.Node) bool) (out []string) {
	switch n.Kind {
	case yaml.DocumentNode:
		for _, c := range n.Content {
			out = append(out, pathsOn(c, path, is)...)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			out = append(out, pathsOn(c, fmt.Sprintf("%s[%d]", path, i), is)...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			at := strings.TrimPrefix(path+"."+key.Value, ".")
			if is(key, value) {
				out = append(out, at)
			}
			out = append(out, pathsOn(value, at, is)...)
		}
	case yaml.ScalarNode, yaml.AliasNode:
	}
	return out
}

// namesOf collects the settings by the name of their type.
func namesOf(t reflect.Type, into map[string][]string) {
	switch {
	case t.Kind() == reflect.Map || t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer:
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
