package gang

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// mostParts is how many groups a gang has at most whose roles are taken apart: the rules between them are as many.
const mostParts = 256

// InParts is the gang with a group for each part of its roles, of the role's name: parts choose their neighbours by labels
// of their own. A role of which not all pods are wanted stays whole, for nothing says which of its parts lack some; so do
// all where the parts are more than can be told from each other. priority is that of a pod, where it is known.
func (g Gang) InParts(priority func(*corev1.PodSpec) (value int32, known bool)) Gang {
	parts := 0
	for i := range g.Groups {
		if g.Groups[i].apart() {
			parts += len(g.Groups[i].Parts.Values)
		}
	}
	if parts == 0 || parts > mostParts {
		return g
	}
	groups := make([]Group, 0, len(g.Groups)+parts)
	for _, group := range g.Groups {
		if group.apart() {
			groups = append(groups, group.split(priority)...)
		} else {
			groups = append(groups, group)
		}
	}
	g.Groups = groups
	return g
}

// apart says whether the group can be taken apart.
func (g *Group) apart() bool {
	return g.Parts != nil && g.Count == g.Declared && g.Min == g.Count && g.Count%len(g.Parts.Values) == 0
}

// split is a group for each part.
func (g *Group) split(priority func(*corev1.PodSpec) (value int32, known bool)) []Group {
	rank := ""
	if value, known := priority(&g.Pod.Spec); known {
		rank = strconv.Itoa(int(value))
	}
	out := make([]Group, len(g.Parts.Values))
	for i, value := range g.Parts.Values {
		part := *g
		part.Count /= len(out)
		part.Min = part.Count
		part.Part, part.Parts = &Part{Label: g.Parts.Label, Value: value, By: g.Parts.By}, nil
		part.Pod = g.Parts.Pod(g.Pod, value, rank)
		if g.Unplaced != nil {
			unplaced := g.Parts.Pod(*g.Unplaced, value, rank)
			part.Unplaced = &unplaced
		}
		out[i] = part
	}
	return out
}

// Whole is the gang with the parts of a role together again.
func (g Gang) Whole() Gang {
	var groups []Group
	for _, group := range g.Groups {
		if last := len(groups) - 1; group.Part != nil && last >= 0 && groups[last].Part != nil && groups[last].Name == group.Name {
			groups[last].Count += group.Count
			groups[last].Min += group.Min
		} else {
			groups = append(groups, group)
		}
	}
	g.Groups = groups
	return g
}
