package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

const (
	// deepest is how many levels an object may be nested. Real jobs stay below 30; the
	// limit keeps what walks Job.Source later (policies, reports) out of trouble.
	deepest = 100
	// largest is how many values are read of a spec. Real jobs have a few thousand; the 3 MiB that an
	// API server accepts could hold half a million. Of a larger one the lists are read from their
	// beginning: what images, amounts and numbers of pods it holds has to be seen.
	largest = 50_000
	// mostRemarks bounds problems, and unread places, that one object can cause.
	mostRemarks = 100
)

// reader reads one object and collects everything that keeps it from being read, so
// that one read tells all problems.
type reader struct {
	kind     string
	source   map[string]any
	problems []Problem
	unread   []job.Unread
	// templated is where in problems each placeholder was met first, by its bare name.
	templated map[string]int
	dropped   int                   // problems beyond mostRemarks
	cut       bool                  // source is not the whole object
	crd       *crd                  // what the API server keeps of such an object; nil: not known
	named     map[job.Path]job.Path // elements of lists that have a name: by index → by name
	keys      []string              // of the maps that are being read; see sorted
}

// object is the frame that every resource of the API has. Status is read by State.
type object[S any] struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
	Spec       S                 `json:"spec"`
	Status     any               `json:"status"`
}

// open decodes an object into the spec of its kind. It returns nil where there is
// nothing that could be read; the reader holds the reason.
func open[S any](kind string, u *unstructured.Unstructured) (*reader, *object[S]) {
	r := &reader{kind: kind}
	if u == nil || u.Object == nil {
		r.problem("", "nothing", "an object")
		return r, nil
	}
	o := &object[S]{}
	r.source = r.bounded(u.Object, reflect.TypeOf(*o))
	r.crd = crdOf(u.GetAPIVersion(), u.GetKind())
	r.decode(nil, r.source, reflect.ValueOf(o).Elem())
	r.unknownFields(r.source)
	if spec, ok := u.Object["spec"]; !ok || spec == nil {
		r.lacks("spec", "missing", "an object")
	}
	return r, o
}

// reading is how objects of a kind are read: the decoder fills the spec, and fill makes the roles of it.
func reading[S any](kind string, fill func(r *reader, j *job.Job, o *object[S])) func(*unstructured.Unstructured, Got) (*job.Job, error) {
	return func(u *unstructured.Unstructured, _ Got) (*job.Job, error) {
		r, o := open[S](kind, u)
		if o == nil {
			return r.finish(nil)
		}
		j := r.start(u, o.APIVersion, &o.Metadata)
		fill(r, j, o)
		return r.finish(j)
	}
}

// start is the job without roles: its name, its source.
func (r *reader) start(u *unstructured.Unstructured, apiVersion string, meta *metav1.ObjectMeta) *job.Job {
	ref := job.Ref{
		Kind: r.kind, APIVersion: apiVersion,
		Namespace: meta.Namespace, Name: cmp.Or(meta.Name, meta.GenerateName), UID: string(meta.UID),
	}
	if r.cut {
		u = &unstructured.Unstructured{Object: r.source}
	}
	return &job.Job{Ref: ref, Source: u}
}

// finish closes the books: what a Kind's Read returns.
func (r *reader) finish(j *job.Job) (*job.Job, error) {
	for i := range r.problems {
		r.problems[i].Path = r.byName(r.problems[i].Path)
	}
	for i := range r.unread {
		r.unread[i].Path = r.byName(r.unread[i].Path)
	}
	if j != nil {
		unnamed(j)
		foreign(j)
		j.Unread = r.unread
	}
	if len(r.problems) == 0 {
		return j, nil
	}
	if r.dropped > 0 {
		last := &r.problems[len(r.problems)-1]
		last.Want += fmt.Sprintf(" (and %d more problems)", r.dropped)
	}
	return j, &ReadError{Kind: r.kind, Problems: r.problems}
}

// byName spells a path the way the roles spell theirs: remarks that were made while
// decoding know elements of lists by index only.
func (r *reader) byName(at job.Path) job.Path {
	for i := range at {
		if at[i] != ']' {
			continue
		}
		if name, ok := r.named[at[:i+1]]; ok {
			return name + at[i+1:]
		}
	}
	return at
}

// problem notes a place that could not be read.
func (r *reader) problem(at job.Path, have, want string) {
	if len(r.problems) >= mostRemarks {
		r.dropped++
		return
	}
	r.problems = append(r.problems, Problem{Path: at, Have: have, Want: want})
}

// lacks notes that something is not there, unless a place at or above it is a problem
// already: one mistake is told once.
func (r *reader) lacks(at job.Path, have, want string) {
	if len(r.problems) >= mostRemarks {
		r.dropped++
		return
	}
	at = r.byName(at)
	for _, p := range r.problems {
		if p.Path != "" && at.Within(r.byName(p.Path)) {
			return
		}
	}
	r.problem(at, have, want)
}

// wrong notes a value of the wrong type or form. A placeholder is reported where it is
// met first, once: one forgotten substitution is one mistake, wherever it shows.
func (r *reader) wrong(at job.Path, value any, want string) {
	text, isText := value.(string)
	if !isText {
		r.problem(at, describe(value), want)
		return
	}
	written, name, found := job.Placeholder(text)
	if !found {
		r.problem(at, describe(value), want)
		return
	}
	if _, met := r.templated[name]; met {
		return
	}
	if r.templated == nil {
		r.templated = map[string]int{}
	}
	r.templated[name] = len(r.problems)
	r.problem(at, fmt.Sprintf("%q, a placeholder that was not substituted", cut(written)), want)
}

// skip notes something that was met and cannot be used.
func (r *reader) skip(at job.Path, kind job.UnreadKind, args ...string) {
	if len(r.unread) < mostRemarks {
		r.unread = append(r.unread, job.Unread{Path: at, Kind: kind, Args: args})
	}
}

// has says whether something other than null is written at the path.
func (r *reader) has(at job.Path) bool {
	v, err := at.Resolve(r.source)
	return err == nil && v != nil
}

// empty says whether nothing is written at the path, or an object without fields: operators in Go cannot tell the two apart.
func (r *reader) empty(at job.Path) bool {
	v, _ := at.Resolve(r.source)
	fields, isObject := v.(map[string]any)
	return v == nil || isObject && len(fields) == 0
}

// written is the first of the paths where something is written; else the last one.
func (r *reader) written(paths ...job.Path) job.Path {
	for _, p := range paths {
		if r.has(p) {
			return p
		}
	}
	return paths[len(paths)-1]
}

// anchor is the path itself where it or its parent is written; else the topmost place
// that is missing on the way to it. Its parent always resolves.
func (r *reader) anchor(at job.Path) job.Path {
	for at.Parent() != "" && !r.has(at.Parent()) {
		at = at.Parent()
	}
	return at
}

// bounded is the object, or, where it is nested too deep or its spec holds too much, a copy without
// what is too much; every place that was cut is a problem. Fields that its type has are kept before others, which some API
// servers store as well. The copy does not depend on the order of maps.
func (r *reader) bounded(object map[string]any, of reflect.Type) map[string]any {
	deep, values := false, 0
	for key, v := range object {
		n, levels := measure(own(key, v), 1)
		deep = deep || levels > deepest
		if key == "spec" {
			values = n
		}
	}
	if !deep && values <= largest {
		return object
	}
	// Fields of the API are never as many as the keys of a map may be, so that no field is lost.
	const fields = 200
	for _, entries := range []int{math.MaxInt, 1000, 100, 10, 0} {
		if entries == math.MaxInt && !deep {
			continue // it would be a copy
		}
		out := make(map[string]any, len(object))
		c := cutter{deepest: deepest}
		for _, key := range sortedKeys(object) {
			c.entries, c.fields = math.MaxInt, math.MaxInt
			if key == "spec" {
				c.entries, c.fields = entries, max(entries, fields)
			}
			out[key] = c.cut(&place{nil, key, -1}, own(key, object[key]), 1, within(of, key))
		}
		if values, _ = measure(out["spec"], 1); values > largest && entries > 0 {
			continue
		}
		if values > largest {
			out["spec"] = nil
			c.at = []cutAt{{path: "spec", have: fmt.Sprintf("an object of more than %d values", largest)}}
		}
		for _, at := range c.at {
			r.problem(at.path, at.have, fmt.Sprintf("at most %d levels and %d values", deepest, largest))
		}
		r.cut = true
		return out
	}
	return object
}

// cutter copies values up to a number of levels, entries of a list and fields of an object.
type cutter struct {
	deepest, entries, fields int
	at                       []cutAt
}

type cutAt struct {
	path job.Path
	have string
}

// cut copies a value that is meant for a type; nil: of any.
func (c *cutter) cut(at *place, v any, level int, of reflect.Type) any {
	if level > c.deepest {
		c.at = append(c.at, cutAt{at.path(), fmt.Sprintf("nested more than %d levels deep", deepest)})
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		keys := sortedKeys(v)
		if len(keys) > c.fields {
			c.at = append(c.at, cutAt{at.path(), fmt.Sprintf("an object with %d fields, of which the first %d are read", len(keys), c.fields)})
			slices.SortStableFunc(keys, func(a, b string) int { return rank(of, a) - rank(of, b) })
			keys = keys[:c.fields]
		}
		out := make(map[string]any, len(keys))
		for _, key := range keys {
			out[key] = c.cut(&place{at, key, -1}, v[key], level+1, within(of, key))
		}
		return out
	case []any:
		if len(v) > c.entries {
			c.at = append(c.at, cutAt{at.path(), fmt.Sprintf("a list of %d, of which the first %d are read", len(v), c.entries)})
			v = v[:c.entries]
		}
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = c.cut(&place{at, "", i}, e, level+1, within(of, ""))
		}
		return out
	default:
		return v
	}
}

// within is the type of what a key of an object, or an element of a list, is meant for; nil: of any.
func within(of reflect.Type, key string) reflect.Type {
	if of == nil {
		return nil
	}
	var inner reflect.Type
	switch of.Kind() { //nolint:exhaustive // nothing is within the others
	case reflect.Struct:
		if index, known := shapeOf(of).fields[key]; known {
			inner = of.FieldByIndex(index).Type
		}
	case reflect.Map, reflect.Slice:
		inner = of.Elem()
	}
	for inner != nil && inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	return inner
}

// rank brings the fields of a type before others.
func rank(of reflect.Type, key string) int {
	if of != nil && of.Kind() == reflect.Struct && within(of, key) == nil {
		return 1
	}
	return 0
}

// own is a field without the record of who wrote what, which the API server adds and which
// grows with the object.
func own(key string, v any) any {
	meta, ok := v.(map[string]any)
	if key != "metadata" || !ok || meta["managedFields"] == nil {
		return v
	}
	meta = maps.Clone(meta)
	delete(meta, "managedFields")
	return meta
}

// measure counts values and levels; it does not look below the deepest level.
func measure(v any, level int) (values, levels int) {
	values, levels = 1, level
	if level > deepest {
		return values, levels
	}
	add := func(e any) {
		n, l := measure(e, level+1)
		values, levels = values+n, max(levels, l)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			add(e)
		}
	case []any:
		for _, e := range v {
			add(e)
		}
	}
	return values, levels
}

// describe shows a value in a few words.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the text %q", cut(v))
	case bool:
		return fmt.Sprintf("%t, a boolean", v)
	case map[string]any:
		return fmt.Sprintf("an object with %s", words.Count(len(v), "field", "fields"))
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	default:
		return fmt.Sprintf("the number %v", v)
	}
}

// mostRunes is how much of a value a message quotes.
const mostRunes = 60

// cut shortens to mostRunes and marks that it did.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "�")
	if r := []rune(s); len(r) > mostRunes {
		return string(r[:mostRunes]) + "…"
	}
	return s
}
