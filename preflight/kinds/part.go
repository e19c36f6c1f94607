package kinds

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Part is what the pods of a role do in the launch of a job.
type Part int

// The parts that roles have.
const (
	PartUnknown Part = iota // the role is called as its author liked
	Leader                  // trains, and the others meet at it
	Worker                  // trains
	Launcher                // starts the program in the others and waits for it
	Server                  // keeps or hands out what the others compute with
	Evaluator               // looks at what the others have trained
)

// usualNames are roles of kinds whose author names them, which are called so everywhere.
var usualNames = map[string]Part{
	"launcher": Launcher, "driver": Launcher,
	"ps": Server, "parameter-server": Server, "server": Server, "scheduler": Server,
	"evaluator": Evaluator,
}

// Part is what a role does in the launch: as the kind says, else as its name usually means.
func (o *Operator) Part(role string) Part {
	if o.Parts != nil {
		return o.Parts[role]
	}
	return usualNames[strings.ToLower(role)]
}

// Has says whether the kind has a role of its own for a part.
func (o *Operator) Has(p Part) bool {
	for _, part := range o.Parts {
		if part == p {
			return true
		}
	}
	return false
}

// Role is the first role of a job that has a part by the kind's own names; nil: none does.
func (o *Operator) Role(j *job.Job, p Part) *job.Role {
	i := slices.IndexFunc(j.Roles, func(r job.Role) bool { return p != PartUnknown && o.Parts[r.Name] == p })
	if i < 0 {
		return nil
	}
	return &j.Roles[i]
}

// Trains says whether the pods of a role take part in the training: they do where nothing says that
// they only start, serve or watch those that do.
func (o *Operator) Trains(r *job.Role) bool {
	part := o.Part(r.Name)
	return part != Launcher && part != Server && part != Evaluator
}

// CountsProcs says whether the number of processes at Procs is that of the pods of a role.
func (o *Operator) CountsProcs(r *job.Role) bool {
	return o.Trains(r) && (o.Procs.Role == "" || o.Procs.Role == r.Name)
}
