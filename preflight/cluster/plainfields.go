package cluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// plainFields reads fields of an object that are written as their type wants them. odd says that
// one was not: then the converter has to be used, which knows all ways.
type plainFields struct{ odd bool }

// field is what stands under a key; its zero value where nothing does.
func field[T any](p *plainFields, in map[string]any, key string) (out T) {
	if in[key] == nil {
		return out
	}
	out, ok := in[key].(T)
	p.odd = p.odd || !ok
	return out
}

func (p *plainFields) child(in map[string]any, key string) map[string]any {
	return field[map[string]any](p, in, key)
}

func (p *plainFields) text(in map[string]any, key string) string { return field[string](p, in, key) }

// common is a text that many objects have alike.
func (p *plainFields) common(in map[string]any, key string) string {
	return *sharedText(p.text(in, key))
}

func (p *plainFields) optional(in map[string]any, key string) *string {
	if in[key] == nil {
		return nil
	}
	return sharedText(p.text(in, key))
}

// listOf is a list of texts.
func listOf[T ~string](p *plainFields, in map[string]any, key string) []T {
	return itemsOf(p, in, key, func(text string) T { return T(*sharedText(text)) })
}

// modesOf is listOf for ways to access a volume, of which there are few: equal ones share one list, which must not
// be changed.
func modesOf(p *plainFields, in map[string]any) []corev1.PersistentVolumeAccessMode {
	out := listOf[corev1.PersistentVolumeAccessMode](p, in, "accessModes")
	if len(out) == 0 || len(out) > mostEntries {
		return out
	}
	var room [mostText]byte
	key := room[:0]
	for _, mode := range out {
		key = withLength(key, string(mode))
	}
	return sharedModes.of(key, out)
}

// itemsOf reads what stands in a list.
func itemsOf[V, T any](p *plainFields, in map[string]any, key string, read func(V) T) []T {
	if in[key] == nil {
		return nil
	}
	all := field[[]any](p, in, key)
	out := make([]T, 0, len(all))
	for _, v := range all {
		item, ok := v.(V)
		p.odd = p.odd || !ok
		out = append(out, read(item))
	}
	return out
}

// texts must not be changed: equal ones share one map.
func (p *plainFields) texts(in map[string]any) map[string]string {
	if in == nil {
		return nil
	}
	return once(p, &sharedMaps, in, func() map[string]string {
		out := make(map[string]string, len(in))
		for key := range in {
			out[key] = p.text(in, key)
		}
		return out
	})
}

// once reads what another object may have said in the same words: then it is that one's.
func once[T any](p *plainFields, all *shared[T], in map[string]any, read func() T) T {
	written, ok := withValue(make([]byte, 0, 256), in)
	if ok = ok && len(written) <= mostWritten; ok {
		if known, ok := all.find(written); ok {
			return known
		}
	}
	out := read()
	if !ok || p.odd {
		return out
	}
	return all.of(written, out)
}

// amounts must not be changed: equal ones share one map.
func (p *plainFields) amounts(in map[string]any, key string) corev1.ResourceList {
	all := p.child(in, key)
	if all == nil {
		return nil
	}
	written := make([]byte, 0, 128)
	var room [fewKeys]string
	for _, name := range sortedInto(room[:0], all) {
		text, ok := all[name].(string)
		if !ok || len(text) > mostDigits || strings.ContainsAny(text, "eE") {
			p.odd = true
			return nil
		}
		written = withLength(withLength(written, name), text)
	}
	if known, ok := sharedAmounts.find(written); ok {
		return known
	}
	out := make(corev1.ResourceList, len(all))
	for name := range all {
		q, err := resource.ParseQuantity(p.text(all, name))
		if err != nil {
			p.odd = true
			return nil
		}
		out[corev1.ResourceName(name)] = q
	}
	if len(out) > mostEntries {
		return out
	}
	return sharedAmounts.of(written, out)
}

// volumeReach says which nodes a volume is reached from. It must not be changed: volumes that say the same have the same.
type volumeReach struct {
	affinity *corev1.VolumeNodeAffinity
	hosts    []string // the only ones, by their hostname label; nil: not said that way
	text     string   // what tells it apart from others where that says something else; empty: all nodes
}

func reachOf(a *corev1.VolumeNodeAffinity) *volumeReach {
	out := &volumeReach{affinity: a}
	if a == nil || a.Required == nil {
		return out
	}
	if out.hosts = hostsOf(a.Required); out.hosts == nil {
		out.text = affinityText(a.Required)
	}
	return out
}

// reach reads the node affinity of a volume.
func (p *plainFields) reach(in map[string]any) *volumeReach {
	if in == nil {
		return &fromAllNodes
	}
	return once(p, &sharedReaches, in, func() *volumeReach { return reachOf(p.affinity(in)) })
}

var fromAllNodes volumeReach

func (p *plainFields) affinity(in map[string]any) *corev1.VolumeNodeAffinity {
	out := &corev1.VolumeNodeAffinity{}
	required := p.child(in, "required")
	if required == nil {
		return out
	}
	expression := func(e map[string]any) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{
			Key: p.text(e, "key"), Operator: corev1.NodeSelectorOperator(p.text(e, "operator")), Values: listOf[string](p, e, "values"),
		}
	}
	out.Required = &corev1.NodeSelector{NodeSelectorTerms: itemsOf(p, required, "nodeSelectorTerms", func(term map[string]any) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{
			MatchExpressions: itemsOf(p, term, "matchExpressions", expression), MatchFields: itemsOf(p, term, "matchFields", expression),
		}
	})}
	return out
}
