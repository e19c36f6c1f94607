package facts

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// RefusedMetadata are the labels and annotations of an object that the API server refuses, by their places below its metadata, and
// why (k8s.io/apimachinery pkg/api/validation/objectmeta.go).
func RefusedMetadata(meta job.Path, labels, annotations map[string]string) iter.Seq2[job.Path, string] {
	return func(yield func(job.Path, string) bool) {
		for at, text := range RefusedLabels(meta.Child("labels"), labels) {
			if !yield(at, text) {
				return
			}
		}
		for _, key := range slices.Sorted(maps.Keys(annotations)) {
			if len(validation.IsQualifiedName(strings.ToLower(key))) > 0 && !job.Templated(key) &&
				!yield(meta.Child("annotations").Key(key), fmt.Sprintf("annotation name %q is not valid: it takes a domain, a slash and a name of at most 63 characters", key)) {
				return
			}
		}
	}
}

// RefusedLabels are those of a set of labels that the API server refuses, and why. What a template fills in is not judged.
func RefusedLabels(at job.Path, set map[string]string) iter.Seq2[job.Path, string] {
	return func(yield func(job.Path, string) bool) {
		for _, key := range slices.Sorted(maps.Keys(set)) {
			text := ""
			switch value := set[key]; {
			case job.Templated(key) || job.Templated(value):
			case len(validation.IsValidLabelValue(value)) > 0:
				text = fmt.Sprintf("label value %q is not valid: it takes at most 63 letters, digits, - _ and .", value)
			case len(validation.IsQualifiedName(key)) > 0:
				text = fmt.Sprintf("label name %q is not valid: it takes a domain, a slash and a name of at most 63 characters", key)
			}
			if text != "" && !yield(at.Key(key), text) {
				return
			}
		}
	}
}
