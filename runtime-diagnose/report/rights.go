package report

import (
	"regexp"
	"slices"
	"strings"
)

// ofCluster are commands about what belongs to no namespace: an account that may not read nodes has no right on it.
var ofCluster = regexp.MustCompile(`kubectl (?:get|describe|top|cordon|uncordon|drain) (?:nodes?|pv)\b`)

// asFarAsAllowed says of steps that the asker may not take whose they are.
func (d *draft) asFarAsAllowed(steps []string) []string {
	barred := slices.ContainsFunc(d.Barred, func(what string) bool { return what == "nodes" || strings.HasPrefix(what, "node ") })
	if !barred {
		return steps
	}
	out := slices.Clone(steps)
	for i, step := range out {
		if ofCluster.MatchString(step) {
			out[i] = strings.TrimSuffix(step, ".") + " (ask the administrators: you may not read nodes)."
		}
	}
	return out
}
