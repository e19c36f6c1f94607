package words

import (
	"slices"
	"strings"
)

// MostRoles is how many roles a sentence names.
const MostRoles = 8

// Roles names the first mostRoles roles, and counts the pods of the others.
type Roles struct {
	named []string
	more  int
}

// Add adds pods of a role.
func (l *Roles) Add(role string, pods int) {
	switch {
	case pods <= 0:
	case len(l.named) < MostRoles:
		l.named = append(l.named, Pods(role, pods))
	default:
		l.more += pods
	}
}

func (l *Roles) String() string {
	all := l.named
	if l.more > 0 {
		all = append(slices.Clone(all), Count(l.more, "pod more", "pods more"))
	}
	return strings.Join(all, " + ")
}
