package kinds

import (
	_ "embed"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

//go:generate go run schemas_generate.go

// schemasText says which fields the CRDs have; see schemas_generate.go.
//
//go:embed schemas.txt
var schemasText string

// crd is what the API server keeps of the objects of one kind: a tree of field names.
type crd struct {
	from string // the operators and versions it is taken from: "jobset v0.10.1, jobset v0.12.0"
	spec ref
	all  []map[string]ref // the objects, by the number in their refs
}

// ref points to what a field may hold: the number of an object, behind [ for a list of
// them and { for a map; "." is everything else, of which nothing is dropped.
type ref string

// anything says that nothing is dropped of what the field holds.
func (to ref) anything() bool { return to == "." || to == "" }

// crds are the CRDs by apiVersion and kind, parsed once.
var crds = sync.OnceValue(func() map[string]*crd {
	head, body, _ := strings.Cut(schemasText, "\n\n")
	var all []map[string]ref
	for line := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
		fields := map[string]ref{}
		for f := range strings.FieldsSeq(line) {
			name, to, _ := strings.Cut(f, ":")
			fields[name] = ref(to)
		}
		all = append(all, fields)
	}
	out := map[string]*crd{}
	for line := range strings.SplitSeq(head, "\n") {
		what, spec, ok := strings.Cut(line, " = ")
		words := strings.SplitN(what, " ", 3)
		if ok && len(words) == 3 {
			out[words[0]+" "+words[1]] = &crd{from: words[2], spec: ref(spec), all: all}
		}
	}
	return out
})

// crdOf is the CRD of a kind; nil where it is not known.
func crdOf(apiVersion, kind string) *crd { return crds()[apiVersion+" "+kind] }

// object is what a ref points to, without lists and maps around it; nil: anything.
func (c *crd) object(to ref) map[string]ref {
	n, err := strconv.Atoi(strings.TrimLeft(string(to), "[{"))
	if err != nil || n >= len(c.all) {
		return nil
	}
	return c.all[n]
}

// unknown notes every field that the API server drops. Nulls are dropped anyway.
func (c *crd) unknown(r *reader, at *place, in any, to ref) {
	switch {
	case to.anything():
	case to[0] == '[':
		list, _ := in.([]any)
		here := &place{above: at}
		for i, e := range list {
			here.index = i
			c.unknown(r, here, e, to[1:])
		}
	case to[0] == '{':
		m, _ := in.(map[string]any)
		here := &place{above: at, index: -1}
		defer r.forget(len(r.keys))
		for _, key := range r.sorted(m) {
			here.key = key
			c.unknown(r, here, m[key], to[1:])
		}
	default:
		c.unknownIn(r, at, in, c.object(to))
	}
}

func (c *crd) unknownIn(r *reader, at *place, in any, fields map[string]ref) {
	m, _ := in.(map[string]any)
	here := &place{above: at, index: -1}
	defer r.forget(len(r.keys))
	for _, key := range r.sorted(m) {
		here.key = key
		to, known := fields[key]
		switch {
		case m[key] == nil || fields == nil || known && to.anything():
		case known:
			c.unknown(r, here, m[key], to)
		case len(r.unread) < mostRemarks:
			kind, args := c.dropped(key, fields)
			r.skip(here.path(), kind, args...)
		}
	}
}

// dropped is what to say about a field that the CRD does not have.
func (c *crd) dropped(key string, fields map[string]ref) (job.UnreadKind, []string) {
	if t := kubernetesType(fields); t != nil {
		if _, there := shapeOf(t).fields[key]; there {
			return job.FieldNotInCRD, []string{c.from}
		}
	}
	names := sortedKeys(fields)
	if near := allNearest(key, names); near != nil {
		return job.FieldMisspelt, near
	}
	if where := c.deeper(key, fields, names); where != "" {
		return job.FieldMisplaced, []string{where}
	}
	return job.FieldNewer, []string{c.newest()}
}

// newest is the last of the versions that the CRD is taken from: "jobset v0.12.0".
func (c *crd) newest() string {
	versions := strings.Split(c.from, ", ")
	return versions[len(versions)-1]
}

// deeper finds a field one level down, for people who wrote it one level too high.
func (c *crd) deeper(key string, fields map[string]ref, names []string) string {
	for _, name := range names {
		if slices.Contains([]string{"initContainers", "ephemeralContainers", "metadata"}, name) || strings.HasPrefix(string(fields[name]), "{") {
			continue
		}
		for _, field := range sortedKeys(c.object(fields[name])) {
			if strings.EqualFold(field, key) {
				return name + strings.Repeat("[]", strings.Count(string(fields[name]), "[")) + "." + field
			}
		}
	}
	return ""
}

// kubernetesType is the type of Kubernetes that an object of a CRD is taken from, of those
// that grow; nil: none of them.
func kubernetesType(fields map[string]ref) reflect.Type {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { _, ok := fields[n]; return !ok })
	}
	switch {
	case has("containers", "dnsPolicy", "schedulerName"):
		return reflect.TypeFor[corev1.PodSpec]()
	case has("image", "lifecycle", "volumeMounts", "imagePullPolicy"):
		return reflect.TypeFor[corev1.Container]()
	}
	return nil
}

// unknownFields notes what the API server would drop of the spec, where the CRD is known.
func (r *reader) unknownFields(object map[string]any) {
	if r.crd != nil {
		r.crd.unknown(r, &place{nil, "spec", -1}, object["spec"], r.crd.spec)
	}
}
