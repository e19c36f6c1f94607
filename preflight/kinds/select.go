package kinds

import (
	"regexp"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// requirement asks for one of the values. nil where no label can have them: a name of
// more than 63 characters labels no pod.
func requirement(key string, values ...string) *labels.Requirement {
	req, err := labels.NewRequirement(key, selection.In, values)
	if err != nil {
		return nil
	}
	return req
}

// selector combines requirements; one that cannot be met selects nothing.
func selector(all ...*labels.Requirement) labels.Selector {
	out := labels.NewSelector()
	for _, req := range all {
		if req == nil {
			return labels.Nothing()
		}
		out = out.Add(*req)
	}
	return out
}

// atoi reads a number that is not negative.
func atoi(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0
}

// plainName is a name that can stand in a path as [name=…].
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,100}$`)
