package evidence

import "strings"

// Place names the member that a source belongs to: its pod, else its file.
func (s Source) Place() string {
	if s.Pod != "" {
		return s.Pod
	}
	return s.File
}

// ownPrefix begins the names of clocks that only a program's own stamps show: of which zone
// is not known.
const ownPrefix = "own/"

// OwnClock names the clock of a program's own stamps in a place's log.
func OwnClock(place string) string { return ownPrefix + place }

// IsOwnClock says that a clock is one of a program's own stamps.
func IsOwnClock(clock string) bool { return strings.HasPrefix(clock, ownPrefix) }

// agePrefix begins the names of clocks of ages: those of one text are the same, and when it was printed nothing
// says, only that it was before now.
const agePrefix = "age/"

// AgeClock names the clock of ages that a pasted text prints.
func AgeClock(file string) string { return agePrefix + file }

// IsAgeClock says that a clock is one of ages.
func IsAgeClock(clock string) bool { return strings.HasPrefix(clock, agePrefix) }

// Clock names the clock that wrote the times of a source. Everything a node's kubelet and
// container runtime write comes from one clock; what is placed on no node has its own.
func (s Source) Clock() string {
	switch {
	case s.Node != "":
		return s.Node
	case s.Pod != "":
		return "pod/" + s.Pod
	case s.File != "":
		return "file/" + s.File
	default:
		return "" // the API server's
	}
}
