package preflight_test

import (
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check/checktest"
)

// TestEveryFieldMayBeNonsense puts a wrong value into every place of every fixture, one at
// a time: the review stays whole.
func TestEveryFieldMayBeNonsense(t *testing.T) {
	if testing.Short() {
		t.Skip("some ten thousand reviews")
	}
	dirs, err := filepath.Glob("checks/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	reviewer := &preflight.Reviewer{Checks: allChecks(t)}
	view := snapshot(t, four)
	nonsense := []any{nil, "", "$X", int64(-1), int64(1 << 62), 1.5, []any{nil}, map[string]any{"": nil}}
	reviews := 0
	for _, dir := range dirs {
		for _, f := range checktest.Load(t, dir) {
			original := f.Input.Job.Source.Object
			for _, set := range places(original, nil) {
				value := nonsense[reviews%len(nonsense)]
				reviews++
				object := runtime.DeepCopyJSON(original)
				set(object, value)
				report, err := reviewer.Review(t.Context(), preflight.Request{Object: &unstructured.Unstructured{Object: object}, Cluster: view})
				if err != nil {
					continue // the kind itself is nonsense now
				}
				for _, failure := range report.Failures() {
					t.Errorf("%s with %v: %s", f.Name, value, failure)
				}
			}
		}
	}
	if reviews < 500 {
		t.Errorf("%d reviews; want 500 at least", reviews)
	}
}

// places are functions that set each value inside an object.
func places(v any, way []any) (out []func(object, value any)) {
	if len(way) > 0 {
		out = append(out, func(object, value any) {
			for _, step := range way[:len(way)-1] {
				object = child(object, step)
			}
			switch step := way[len(way)-1].(type) {
			case string:
				object.(map[string]any)[step] = value
			case int:
				object.([]any)[step] = value
			}
		})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out = append(out, places(v[key], append(slices.Clone(way), key))...)
		}
	case []any:
		for i := range v {
			out = append(out, places(v[i], append(slices.Clone(way), i))...)
		}
	}
	return out
}

func child(object any, step any) any {
	switch step := step.(type) {
	case string:
		return object.(map[string]any)[step]
	case int:
		return object.([]any)[step]
	}
	return nil
}

// TestEveryNumberMayBeHuge writes one large number into all numbers of every fixture at once,
// those in command lines included: products and sums of them go beyond 64 bits, and the
// review stays whole.
func TestEveryNumberMayBeHuge(t *testing.T) {
	dirs, err := filepath.Glob("checks/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	reviewer := &preflight.Reviewer{Checks: allChecks(t)}
	view := snapshot(t, four)
	written := regexp.MustCompile(`[0-9]+`)
	reviews := 0
	for _, dir := range dirs {
		for _, f := range checktest.Load(t, dir) {
			for _, huge := range []int64{1 << 16, 1 << 30, 1<<31 - 1, 1 << 62} {
				object := eachLeaf(f.Input.Job.Source.Object, "", func(key string, v any) any {
					switch v := v.(type) {
					case int64, float64:
						return min(huge, math.MaxInt32) // replicas are no larger
					case string:
						if slices.Contains([]string{"command", "args", "value", "nprocPerNode", "cpu", "memory", "nvidia.com/gpu"}, key) {
							return written.ReplaceAllString(v, strconv.FormatInt(huge, 10))
						}
					}
					return v
				}).(map[string]any)
				report, err := reviewer.Review(t.Context(), preflight.Request{Object: &unstructured.Unstructured{Object: object}, Cluster: view})
				if err != nil {
					continue // the kind itself has a number in it
				}
				reviews++
				for _, failure := range report.Failures() {
					t.Errorf("%s with %d: %s", f.Name, huge, failure)
				}
				for _, text := range said(report) {
					if end := endOfRange.FindString(text); end != "" {
						t.Errorf("%s with %d: %s is the end of what is counted, said as if it were the number: %s", f.Name, huge, end, text)
					}
				}
				for _, found := range report.Findings {
					if negative.MatchString(found.Message) {
						t.Errorf("%s with %d: a sum has wrapped around: %s", f.Name, huge, found.Line())
					}
				}
			}
		}
	}
	if reviews < 500 {
		t.Errorf("%d reviews; want 500 at least", reviews)
	}
}

// said are all sentences of a report.
func said(r preflight.Report) (out []string) {
	for _, f := range r.Findings {
		out = append(out, f.Message, f.Remedy)
	}
	if r.Fit != nil {
		out = append(append(append(out, r.Fit.String()), r.Fit.Changes...), r.Fit.Assumed...)
	}
	return out
}

// endOfRange is the largest number that is counted with. An amount of CPU, in thousandths, ends
// three digits earlier.
var endOfRange = regexp.MustCompile(`9223372036854775[0-9]*`)

// negative is a number below zero that nobody wrote.
var negative = regexp.MustCompile(`(^|\s)-[0-9]{3,}`)

// eachLeaf is a copy of a value with every leaf replaced; key is the nearest one above it.
func eachLeaf(v any, key string, replace func(key string, leaf any) any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = eachLeaf(e, k, replace)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = eachLeaf(e, key, replace)
		}
		return out
	}
	return replace(key, v)
}
