package lifecycle

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var resumeSpecsChanged = &check.Check{
	Name:     "resume-specs-changed",
	Title:    "resumeSpecs cannot be changed after the job is created",
	Remedy:   "Put the old value back, or delete the job and create it with the new one.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Needs: check.Update,
	Run: func(p *check.Pass) {
		const at = job.Path("spec.runMode.pause.resumeSpecs")
		if where, was, is, changed := firstDifference(at, p.Old.Field(at), p.Job.Field(at)); changed {
			p.Reportf(where, "resumeSpecs changed from %s to %s, but cannot be changed once the job exists", was, is)
		}
	},
}

// firstDifference walks two values side by side to the first place where they differ and
// shows both; absent and null are the same.
func firstDifference(at job.Path, old, now any) (where job.Path, was, is string, changed bool) {
	switch a := old.(type) {
	case map[string]any:
		if b, ok := now.(map[string]any); ok {
			keys := slices.Sorted(maps.Keys(a))
			for _, key := range slices.Sorted(maps.Keys(b)) {
				if _, there := a[key]; !there {
					keys = append(keys, key)
				}
			}
			for _, key := range keys {
				if where, was, is, changed := firstDifference(at.Key(key), a[key], b[key]); changed {
					return where, was, is, true
				}
			}
			return "", "", "", false
		}
	case []any:
		if b, ok := now.([]any); ok && len(a) == len(b) {
			for i := range a {
				if where, was, is, changed := firstDifference(at.Index(i), a[i], b[i]); changed {
					return where, was, is, true
				}
			}
			return "", "", "", false
		}
	}
	if reflect.DeepEqual(old, now) {
		return "", "", "", false
	}
	return at, shown(old), shown(now), true
}

// shown is a value in a few words.
func shown(v any) string {
	if v == nil {
		return "nothing"
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "something else"
	}
	if r := []rune(string(raw)); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return string(raw)
}
