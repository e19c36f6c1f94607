package policies

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// merge puts the data documents of all files into one. Two files may fill the same
// object; two values for one place are an error that names both files.
func merge(documents []source) (map[string]any, error) {
	data := map[string]any{}
	from := map[string]string{} // place -> file that wrote it
	var errs []error
	for _, d := range documents {
		raw, err := yaml.YAMLToJSONStrict(d.text)
		if err != nil {
			errs = append(errs, fmt.Errorf("load data %s: %w", d.name, err))
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil {
			errs = append(errs, fmt.Errorf("load data %s: want an object at the top", d.name))
			continue
		}
		if err := overlay(data, object, "data", d.name, from); err != nil {
			errs = append(errs, fmt.Errorf("load data %s: %w", d.name, err))
		}
	}
	return data, errors.Join(errs...)
}

func overlay(into, object map[string]any, at, file string, from map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		place := at + "." + key
		have, there := into[key]
		a, aMap := have.(map[string]any)
		b, bMap := object[key].(map[string]any)
		switch {
		case there && aMap && bMap:
			if err := overlay(a, b, place, file, from); err != nil {
				return err
			}
		case there && !reflect.DeepEqual(have, object[key]):
			return fmt.Errorf("%s is in %s already, with another value", place, from[place])
		default:
			into[key] = object[key]
			remember(place, object[key], file, from)
		}
	}
	return nil
}

func remember(place string, value any, file string, from map[string]string) {
	if from[place] == "" {
		from[place] = file
	}
	if object, ok := value.(map[string]any); ok {
		for key, v := range object {
			remember(place+"."+key, v, file, from)
		}
	}
}

// reserved refuses data that lies where a policy's rules are: one would hide the other.
func reserved(data map[string]any, modules []module) error {
	under, ok := data["signalbox"].(map[string]any)
	if !ok {
		return nil
	}
	for _, m := range modules {
		name, _, _ := strings.Cut(strings.TrimPrefix(m.doc.Package, "signalbox."), ".")
		if _, ok := under[name]; ok {
			return fmt.Errorf("load data: data.signalbox.%s is the place of the policy in %s; choose another name", name, m.file)
		}
	}
	return nil
}
