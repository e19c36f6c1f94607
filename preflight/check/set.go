package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// Set is a sorted, immutable choice of checks with their configuration. The zero Set is
// empty; NewSet makes useful ones. Safe for concurrent use.
type Set struct{ entries []entry }

type entry struct {
	check    *Check
	severity finding.Severity // 0: the check's own
	params   []byte           // JSON over the check's defaults; nil: none
}

// NewSet proof-reads the checks and sorts them by name. The error lists every broken
// promise, one per line.
func NewSet(checks ...*Check) (*Set, error) {
	if err := Validate(checks...); err != nil {
		return nil, err
	}
	s := &Set{entries: make([]entry, 0, len(checks))}
	for _, c := range checks {
		s.entries = append(s.entries, entry{check: c})
	}
	slices.SortFunc(s.entries, func(a, b entry) int { return cmp.Compare(a.check.Name, b.check.Name) })
	return s, nil
}

// Selection is what a configuration says about checks. The zero value selects all.
type Selection struct {
	Off      []string                    // checks that do not run
	Severity map[string]finding.Severity // by check, instead of its own
	Params   map[string]any              // by check; decoded strictly over its defaults
}

// Select applies a selection. A name that no check of the set has is an error that names
// the nearest one; so is a parameter that the check does not have.
func (s *Set) Select(sel Selection) (*Set, error) {
	out := &Set{entries: slices.Clone(s.entries)}
	for _, name := range slices.Sorted(maps.Keys(sel.Severity)) {
		e, err := out.entry(name)
		if err != nil {
			return nil, fmt.Errorf("set severity: %w", err)
		}
		if v := sel.Severity[name]; v < finding.Note || v > finding.Error {
			return nil, fmt.Errorf("set severity of %s: have %d, want note (1), warning (2) or error (3)", name, int(v))
		}
		e.severity = sel.Severity[name]
	}
	for _, name := range slices.Sorted(maps.Keys(sel.Params)) {
		e, err := out.entry(name)
		if err != nil {
			return nil, fmt.Errorf("set parameters: %w", err)
		}
		if err := e.setParams(sel.Params[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range sel.Off {
		if _, err := out.entry(name); err != nil {
			return nil, fmt.Errorf("switch off: %w", err)
		}
	}
	out.entries = slices.DeleteFunc(out.entries, func(e entry) bool { return slices.Contains(sel.Off, e.check.Name) })
	return out, nil
}

// Checks are the checks of the set by name; read-only.
func (s *Set) Checks() []*Check {
	out := make([]*Check, len(s.entries))
	for i, e := range s.entries {
		out[i] = e.check
	}
	return out
}

// Names are the names of the checks, sorted.
func (s *Set) Names() []string {
	out := make([]string, len(s.entries))
	for i, e := range s.entries {
		out[i] = e.check.Name
	}
	return out
}

// Find is the check of that name. The error names the nearest one.
func (s *Set) Find(name string) (*Check, error) {
	e, err := s.entry(name)
	if err != nil {
		return nil, err
	}
	return e.check, nil
}

func (s *Set) entry(name string) (*entry, error) {
	for i := range s.entries {
		if s.entries[i].check.Name == name {
			return &s.entries[i], nil
		}
	}
	near := cmp.Or(DidYouMean(name, s.Names()).String(), "; signalbox list checks names all")
	return nil, fmt.Errorf("no check is called %q%s", name, near)
}

func (e *entry) setParams(values any) error {
	if e.check.Params == nil {
		return fmt.Errorf("set parameters of %s: it has none", e.check.Name)
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("set parameters of %s: %w", e.check.Name, err)
	}
	e.params = raw
	_, err = e.decodeParams()
	return err
}

// decodeParams gives every run fresh parameters, so that no check can change another's.
func (e *entry) decodeParams() (any, error) {
	if e.check.Params == nil {
		return nil, nil
	}
	into := e.check.Params()
	if e.params == nil {
		return into, nil
	}
	d := json.NewDecoder(bytes.NewReader(e.params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			name = strings.Trim(name, `"`)
			return nil, fmt.Errorf("set parameters of %s: no parameter is called %q%s", e.check.Name, name, DidYouMean(name, parameterNames(into)))
		}
		return nil, fmt.Errorf("set parameters of %s: %w", e.check.Name, err)
	}
	return into, nil
}

// Parameter is one setting of a check, for documentation.
type Parameter struct {
	Name    string `json:"name"`
	Default any    `json:"default"`
	Doc     string `json:"doc"`
}

// Parameters are the settings of the check in the order of its struct; nil: it has none.
func (c *Check) Parameters() []Parameter {
	if c.Params == nil {
		return nil
	}
	v := reflect.Indirect(reflect.ValueOf(c.Params()))
	if v.Kind() != reflect.Struct {
		return nil
	}
	var out []Parameter
	for i, name := range parameterNames(c.Params()) {
		out = append(out, Parameter{Name: name, Default: v.Field(i).Interface(), Doc: v.Type().Field(i).Tag.Get("doc")})
	}
	return out
}

// parameterNames are the names that the parameters have in the configuration.
func parameterNames(params any) []string {
	t := reflect.Indirect(reflect.ValueOf(params)).Type()
	if t.Kind() != reflect.Struct {
		return nil
	}
	var out []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, cmp.Or(name, f.Name))
	}
	return out
}
