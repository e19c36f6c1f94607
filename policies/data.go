package policies

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
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
			errs = append(errs, fmt.Errorf("load data %s: %w", d.at, err))
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil {
			errs = append(errs, fmt.Errorf("load data %s: want an object at the top", d.at))
			continue
		}
		if err := settings(object); err != nil {
			errs = append(errs, fmt.Errorf("load data %s: %w", d.at, err))
			continue
		}
		config := map[string]any{"config": object["config"]}
		delete(object, "config") // said last: what contradicts is named where it is written
		err = overlay(data, object, "data", d.at, from)
		if err == nil && config["config"] != nil {
			err = overlay(data, config, "data", d.at, from)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("load data %s: %w", d.at, err))
		}
	}
	return data, errors.Join(errs...)
}

// settings gives what a document sets below signalbox, where settings lay beside the packages of
// policies, its place in config, too. Settings are whole numbers, texts, yes and no, and lists and
// objects of them: a fraction compares otherwise in every language that reads it.
func settings(object map[string]any) error {
	if old, ok := object["signalbox"].(map[string]any); ok {
		config, _ := object["config"].(map[string]any)
		moved := runtime.DeepCopyJSON(old)
		if err := overlay(moved, config, "data.config", "", map[string]string{}); err != nil {
			return errors.New(strings.Replace(err.Error(), " is in  already", " is in data.signalbox already", 1))
		}
		object["config"] = moved
	}
	return whole(object["config"], "data.config")
}

func whole(v any, at string) error {
	switch v := v.(type) {
	case float64:
		if v != math.Trunc(v) {
			return fmt.Errorf("%s is %v; want a whole number or a text", at, v)
		}
	case []any:
		for i := range v {
			if err := whole(v[i], fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := whole(v[key], at+"."+key); err != nil {
				return err
			}
		}
	}
	return nil
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
	from[place] = cmp.Or(from[place], file)
	if object, ok := value.(map[string]any); ok {
		for key, v := range object {
			remember(place+"."+key, v, file, from)
		}
	}
}

// reserved refuses data that lies where a policy's rules are: one would hide the other.
func reserved(data map[string]any, modules []module) error {
	for _, m := range modules {
		first, _, _ := strings.Cut(m.doc.Package, ".")
		if _, ok := data[first]; ok && m.conftest {
			return fmt.Errorf("load data: data.%s is the place of the rules in %s; write settings below config", first, m.at)
		}
	}
	under, ok := data["signalbox"].(map[string]any)
	if !ok {
		return nil
	}
	for _, m := range modules {
		name, _, _ := strings.Cut(strings.TrimPrefix(m.doc.Package, "signalbox."), ".")
		if _, ok := under[name]; ok {
			return fmt.Errorf("load data: data.signalbox.%s is the place of the policy in %s; write settings below config", name, m.at)
		}
	}
	return nil
}
