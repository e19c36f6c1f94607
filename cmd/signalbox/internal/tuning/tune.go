// Package tuning makes of settings which checks are run, with which severity and parameters in which namespace, and which
// kinds are covered.
package tuning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// Tuned are the checks as a configuration wants them.
type Tuned struct {
	Everywhere *check.Set
	In         map[string]*check.Set // by namespace, where it differs
}

// Of applies a configuration to all checks. Names that no check has, parameters that it
// does not have and severities that there are not are errors that say which one is meant.
func Of(c config.Checks) (Tuned, error) {
	all, err := All()
	if err != nil {
		return Tuned{}, err
	}
	base := config.Tuning{Disable: c.Disable, Severity: c.Severity, Params: c.Params}
	out := Tuned{In: make(map[string]*check.Set, len(c.Namespaces))}
	wrong := mistakes(all, "checks", base)
	for _, name := range slices.Sorted(maps.Keys(c.Namespaces)) {
		wrong = append(wrong, mistakes(all, "checks.namespaces."+name, c.Namespaces[name])...)
	}
	if len(wrong) > 0 {
		return Tuned{}, &shell.Exit{Code: shell.ExitUsage, Cause: wrong}
	}
	if out.Everywhere, err = selected(all, "checks", base); err != nil {
		return Tuned{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Namespaces)) {
		if out.In[name], err = selected(all, "checks.namespaces."+name, base, c.Namespaces[name]); err != nil {
			return Tuned{}, err
		}
	}
	return out, nil
}

// mistakes are all that is wrong in one layer of tuning, each with its path.
func mistakes(all *check.Set, where string, l config.Tuning) (wrong config.Mistakes) {
	known := func(path, name string) bool {
		_, err := all.Find(name)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s.%s: %v", where, path, err))
		}
		return err == nil
	}
	for _, name := range l.Disable {
		known("disable", name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Severity)) {
		known("severity", name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Params)) {
		if !known("params", name) {
			continue
		}
		values, err := parameters(l.Params[name])
		if err == nil {
			_, err = all.Select(check.Selection{Params: map[string]any{name: values}})
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s.params.%s: %s", where, name, strings.TrimPrefix(err.Error(), "set parameters of "+name+": ")))
		}
	}
	return wrong
}

// selected applies layers of tuning, later ones over earlier ones.
func selected(all *check.Set, where string, layers ...config.Tuning) (*check.Set, error) {
	off := map[string]bool{}
	selection := check.Selection{Severity: map[string]finding.Severity{}, Params: map[string]any{}}
	for _, l := range layers {
		for _, name := range l.Disable {
			off[name] = true
		}
		for name, word := range l.Severity {
			var severity finding.Severity
			if off[name] = word == config.Off; off[name] {
				continue
			}
			if err := severity.UnmarshalText([]byte(word)); err != nil {
				return nil, shell.Usagef("read %s.severity.%s: %w", where, name, err)
			}
			selection.Severity[name] = severity
		}
		for name, node := range l.Params {
			values, err := parameters(node)
			if err != nil {
				return nil, shell.Usagef("read %s.params.%s: %w", where, name, err)
			}
			before, _ := selection.Params[name].(map[string]any)
			merged := maps.Clone(before)
			if merged == nil {
				merged = map[string]any{}
			}
			maps.Copy(merged, values)
			selection.Params[name] = merged
		}
	}
	for _, name := range slices.Sorted(maps.Keys(off)) {
		if off[name] {
			selection.Off = append(selection.Off, name)
		}
	}
	set, err := all.Select(selection)
	if err != nil {
		return nil, shell.Usagef("read %s: %w", where, err)
	}
	return set, nil
}

func parameters(node yaml.Node) (map[string]any, error) {
	var values map[string]any
	if err := node.Decode(&values); err != nil {
		return nil, fmt.Errorf("expected names and values: %w", err)
	}
	return values, nil
}
