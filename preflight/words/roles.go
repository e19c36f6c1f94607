package words

import "strings"

// MostRoles is how many roles a sentence names.
const MostRoles = 8

// Roles names the first MostRoles roles, and counts the pods of the others.
type Roles struct {
	named []string
	pods  []int // by role that is named
	more  int
}

// Add adds pods of a role; those of roles of one name are one number.
func (l *Roles) Add(role string, pods int) {
	if pods <= 0 {
		return
	}
	for at, name := range l.named {
		if name == role {
			l.pods[at] += pods
			return
		}
	}
	if len(l.named) == MostRoles {
		l.more += pods
		return
	}
	l.named, l.pods = append(l.named, role), append(l.pods, pods)
}

func (l *Roles) String() string {
	all := make([]string, len(l.named), len(l.named)+1)
	for at, name := range l.named {
		all[at] = Pods(name, l.pods[at])
	}
	if l.more > 0 {
		all = append(all, Count(l.more, "pod more", "pods more"))
	}
	return strings.Join(all, " + ")
}
