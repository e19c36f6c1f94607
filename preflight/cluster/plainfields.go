package cluster

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// plainFields reads fields of an object that are written as their type wants them. odd says that
// one was not: then the converter has to be used, which knows all ways.
type plainFields struct{ odd bool }

func (p *plainFields) child(in map[string]any, key string) map[string]any {
	switch v := in[key].(type) {
	case nil:
		return nil
	case map[string]any:
		return v
	default:
		p.odd = true
		return nil
	}
}

func (p *plainFields) text(in map[string]any, key string) string {
	switch v := in[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		p.odd = true
		return ""
	}
}

func (p *plainFields) optional(in map[string]any, key string) *string {
	if in[key] == nil {
		return nil
	}
	text := p.text(in, key)
	return &text
}

func (p *plainFields) list(in map[string]any, key string) []string {
	if in[key] == nil {
		return nil
	}
	all, ok := in[key].([]any)
	p.odd = p.odd || !ok
	out := make([]string, 0, len(all))
	for _, v := range all {
		text, ok := v.(string)
		p.odd = p.odd || !ok
		out = append(out, text)
	}
	return out
}

// items are the objects in a list.
func (p *plainFields) items(in map[string]any, key string) []map[string]any {
	if in[key] == nil {
		return nil
	}
	all, ok := in[key].([]any)
	p.odd = p.odd || !ok
	out := make([]map[string]any, 0, len(all))
	for _, v := range all {
		item, ok := v.(map[string]any)
		p.odd = p.odd || !ok
		out = append(out, item)
	}
	return out
}

func (p *plainFields) texts(in map[string]any) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for key := range in {
		out[key] = p.text(in, key)
	}
	return out
}

func (p *plainFields) amounts(in map[string]any, key string) corev1.ResourceList {
	all := p.child(in, key)
	if all == nil {
		return nil
	}
	out := make(corev1.ResourceList, len(all))
	for name, v := range all {
		text, ok := v.(string)
		if !ok || len(text) > mostDigits || strings.ContainsAny(text, "eE") {
			p.odd = true
			return nil
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			p.odd = true
			return nil
		}
		out[corev1.ResourceName(name)] = q
	}
	return out
}

// affinity reads the node affinity of a volume.
func (p *plainFields) affinity(in map[string]any) *corev1.VolumeNodeAffinity {
	if in == nil {
		return nil
	}
	out := &corev1.VolumeNodeAffinity{}
	required := p.child(in, "required")
	if required == nil {
		return out
	}
	expressions := func(in map[string]any, key string) (out []corev1.NodeSelectorRequirement) {
		for _, e := range p.items(in, key) {
			out = append(out, corev1.NodeSelectorRequirement{
				Key: p.text(e, "key"), Operator: corev1.NodeSelectorOperator(p.text(e, "operator")), Values: p.list(e, "values"),
			})
		}
		return out
	}
	out.Required = &corev1.NodeSelector{}
	for _, term := range p.items(required, "nodeSelectorTerms") {
		out.Required.NodeSelectorTerms = append(out.Required.NodeSelectorTerms, corev1.NodeSelectorTerm{
			MatchExpressions: expressions(term, "matchExpressions"), MatchFields: expressions(term, "matchFields"),
		})
	}
	return out
}
