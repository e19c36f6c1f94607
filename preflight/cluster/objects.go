package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// decode turns an object into its Go type, naming the field that stands in the way.
func decode(o *unstructured.Unstructured, into any) error {
	name := job.Ref{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}
	if path, value := badQuantity(o.Object, ""); path != "" {
		return fmt.Errorf("read %s: %s is %q; expected a quantity such as 8, 500m or 64Gi", name, path, value)
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
	if err == nil {
		return nil
	}
	if wrong := wrongType(o, into); wrong != nil {
		return fmt.Errorf("read %s: %s holds %s; expected %s", name, wrong.Field, wrong.Value, inJSON(wrong.Type))
	}
	return fmt.Errorf("read %s: %w", name, err)
}

// wrongType is the field whose value has another type than it should; the converter names Go's types and
// no field. Nil: it is not known.
func wrongType(o *unstructured.Unstructured, into any) *json.UnmarshalTypeError {
	text, _ := json.Marshal(o.Object) // what cannot be written names no field either
	again := reflect.New(reflect.TypeOf(into).Elem()).Interface()
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(text, again))
	if !ok || wrong.Field == "" {
		return nil
	}
	return wrong
}

// inJSON is how a Go type is written, in the words of encoding/json.
func inJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return inJSON(t.Elem())
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.String, reflect.Bool:
		return t.Kind().String()
	default:
		return "number"
	}
}

// quantityMaps are the fields whose values are quantities; the converter names neither
// the field nor the key where it cannot read one. quantities are such values themselves.
var (
	quantityMaps = map[string]bool{
		"allocatable": true, "capacity": true, "requests": true, "limits": true, "overhead": true, "allocatedResources": true,
		"hard": true, "used": true, "max": true, "min": true, "default": true, "defaultRequest": true, "maxLimitRequestRatio": true,
		"capability": true, "allocated": true, "resources": true, "podFixed": true,
	}
	quantities = map[string]bool{
		"nominalQuota": true, "borrowingLimit": true, "lendingLimit": true, "total": true, "sizeLimit": true, "divisor": true, "storage": true,
	}
)

// badQuantity finds a quantity that cannot be read, or not in a reasonable time.
func badQuantity(in any, path job.Path) (job.Path, string) {
	switch v := in.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			if text, is := asQuantity(v[key]); is && quantities[key] && !readable(text) {
				return path.Child(key), text
			}
			if amounts, ok := v[key].(map[string]any); ok && quantityMaps[key] {
				for _, name := range sortedKeys(amounts) {
					if text, is := asQuantity(amounts[name]); is && !readable(text) {
						return path.Child(key).Key(name), text
					}
				}
			}
			if at, text := badQuantity(v[key], path.Child(key)); at != "" {
				return at, text
			}
		}
	case []any:
		for i, item := range v {
			if at, text := badQuantity(item, path.Index(i)); at != "" {
				return at, text
			}
		}
	}
	return "", ""
}

// asQuantity is a value as a quantity would be written; false for what is none.
func asQuantity(v any) (string, bool) {
	switch v.(type) {
	case map[string]any, []any, nil:
		return "", false
	}
	return fmt.Sprint(v), true
}

// An amount has at most so many digits and powers of ten: reading 1e-2147483648 takes
// minutes, comparing 1e9999999 with anything takes seconds (k8s.io/apimachinery v0.37.2).
const (
	mostDigits   = 64
	mostExponent = 30
)

func readable(text string) bool {
	if at := strings.LastIndexAny(text, "eE"); at >= 0 && at+1 < len(text) {
		exponent := strings.TrimLeft(text[at+1:], "+-0")
		if n, err := strconv.Atoi(exponent); strings.Trim(exponent, "0123456789") == "" && (len(exponent) > 2 || err == nil && n > mostExponent) {
			return false
		}
	}
	if len(text) > mostDigits {
		return false
	}
	_, err := resource.ParseQuantity(text)
	return err == nil
}
