package manifest

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// DuplicateKeys are the keys of the object that one mapping holds more than once, in the order of
// the text. kubectl keeps the last one and says nothing (k8s.io/apimachinery v0.37
// pkg/util/yaml, YAMLToJSONDecoder.Decode: sigs.k8s.io/yaml.Unmarshal, which is not strict).
// What an alias brings is said where its anchor stands.
func (d Document) DuplicateKeys() []job.DuplicateKey {
	if d.node == nil {
		return nil
	}
	return d.duplicateKeys(nil, nil, d.node)
}

// step is a way down into a document; paths are made of it where there is something to say.
type step struct {
	from  *step
	key   string
	index int // -1: key counts
}

func (s *step) path() job.Path {
	switch {
	case s == nil:
		return ""
	case s.index >= 0:
		return s.from.path().Index(s.index)
	default:
		return s.from.path().Key(s.key)
	}
}

func (d Document) duplicateKeys(out []job.DuplicateKey, at *step, n *yaml.Node) []job.DuplicateKey {
	switch n.Kind {
	case yaml.SequenceNode:
		for i, e := range n.Content {
			out = d.duplicateKeys(out, &step{at, "", i}, e)
		}
	case yaml.MappingNode:
		seen := earlierKeys(n)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, value := n.Content[i], n.Content[i+1]
			if isMerge(k) || k.Kind != yaml.ScalarNode {
				continue
			}
			here := &step{at, k.Value, -1}
			if earlier := seen(i); earlier >= 0 {
				was := n.Content[earlier+1]
				out = append(out, job.DuplicateKey{
					Path: here.path(), First: d.base + n.Content[earlier].Line, Line: d.base + k.Line,
					Same: equal(was, value), Lost: lost(was, value),
				})
			}
			out = d.duplicateKeys(out, here, value)
		}
	default: // a scalar holds no keys, and what an alias stands for is looked at where it is written
	}
	return out
}

// earlierKeys finds, for the key at a place in a mapping, the last one before it that is
// the same; -1: none. It must be asked for one place after the other.
func earlierKeys(n *yaml.Node) func(i int) int {
	const few = 64 // up to so many nodes looking is quicker than remembering
	if len(n.Content) <= few {
		return func(i int) int {
			for e := i - 2; e >= 0; e -= 2 {
				if n.Content[e].Value == n.Content[i].Value && n.Content[e].Kind == yaml.ScalarNode && !isMerge(n.Content[e]) {
					return e
				}
			}
			return -1
		}
	}
	last := make(map[string]int, len(n.Content)/2)
	return func(i int) int {
		e, again := last[n.Content[i].Value]
		last[n.Content[i].Value] = i
		if !again {
			return -1
		}
		return e
	}
}

// lost are the keys of a mapping that the one in its place does not have, sorted.
func lost(was, is *yaml.Node) (out []string) {
	was, is = follow(was), follow(is)
	if was == nil || was.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(was.Content); i += 2 {
		name := was.Content[i].Value
		if _, there := entry(is, name); there == nil && !isMerge(was.Content[i]) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// equal says whether two values are written alike; what aliases stand for is not compared.
func equal(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value && a.Tag == b.Tag && slices.EqualFunc(a.Content, b.Content, equal)
}
