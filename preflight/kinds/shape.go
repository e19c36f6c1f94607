package kinds

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// shape is what the decoder knows of a struct type: its fields by their JSON names.
type shape struct {
	fields map[string][]int
	names  []string          // sorted
	below  map[string]string // fields of the fields, in lower case, with where they belong: image → containers[].image
}

// shapes remembers what reflection said about a type: the answer is the same for
// every object.
var shapes sync.Map // reflect.Type → *shape

func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{fields: map[string][]int{}}
	s.collect(t, nil)
	s.names = sortedKeys(s.fields)
	s.below = below(t, s)
	actual, _ := shapes.LoadOrStore(t, s)
	return actual.(*shape)
}

func (s *shape) collect(t reflect.Type, prefix []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(prefix), i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			s.collect(f.Type, index)
		case name != "" && name != "-" && f.IsExported():
			s.fields[name] = index
		}
	}
}

// below finds the fields one level down, for people who wrote a field one level too high.
// Init and ephemeral containers are left out: who misplaces a field means the containers.
func below(t reflect.Type, s *shape) map[string]string {
	out := map[string]string{}
	for _, name := range s.names {
		if name == "initContainers" || name == "ephemeralContainers" || name == "metadata" {
			continue
		}
		inner, step := t.FieldByIndex(s.fields[name]).Type, name
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				step += "[]"
			}
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct || inner == t {
			continue
		}
		deeper := &shape{fields: map[string][]int{}}
		deeper.collect(inner, nil)
		for _, field := range sortedKeys(deeper.fields) {
			if key := strings.ToLower(field); out[key] == "" {
				out[key] = step + "." + field
			}
		}
	}
	return out
}

// unknown is what to say about a field that the type does not have.
func (s *shape) unknown(key string) (job.UnreadKind, []string) {
	if near := allNearest(key, s.names); near != nil {
		return job.FieldMisspelt, near
	}
	if where, ok := s.below[strings.ToLower(key)]; ok {
		return job.FieldMisplaced, []string{where}
	}
	return job.FieldUnknown, nil
}

// nearest finds the name that was probably meant: at most a fifth of the letters wrong,
// at least one and at most four. Ties go to the first in order.
func nearest(key string, names []string) string {
	if len(key) < 3 || len(key) > 80 {
		return ""
	}
	best, most := "", min(max(len(key)/5, 1), 4)
	for _, name := range names {
		if strings.EqualFold(name, key) {
			return name
		}
		if d := words.Distance(strings.ToLower(key), strings.ToLower(name), most); d <= most {
			best, most = name, d-1
		}
	}
	if best == "" {
		return begun(key, names)
	}
	return best
}

// allNearest are the name that was probably meant, and those that are as near; none where none is near.
func allNearest(key string, names []string) []string {
	near := nearest(key, names)
	switch {
	case near == "":
		return nil
	case strings.HasPrefix(strings.ToLower(near), strings.ToLower(key)): // the one that begins so
		return []string{near}
	}
	out := []string{near}
	most := words.Distance(strings.ToLower(key), strings.ToLower(near), len(key))
	for _, name := range names {
		if name != near && most > 0 && words.Distance(strings.ToLower(key), strings.ToLower(name), most) <= most {
			out = append(out, name)
		}
	}
	return out
}

// begun is the one name that begins with a key of some length: priorityClassName of priorityClass.
func begun(key string, names []string) string {
	const least = 6
	only := ""
	for _, name := range names {
		if len(key) < least || !strings.HasPrefix(strings.ToLower(name), strings.ToLower(key)) {
			continue
		}
		if only != "" {
			return ""
		}
		only = name
	}
	return only
}
