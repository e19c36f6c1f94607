package job

import (
	"fmt"
	"strings"
)

// Unread is something that a reader met and could not use, or reads in a way of its own.
type Unread struct {
	Path Path
	Kind UnreadKind
	Args []string // what the sentence names, as the kind of it says
}

// UnreadKind is what became of it.
type UnreadKind int

// The kinds of what was not read; behind each is what Args hold.
const (
	_                        UnreadKind = iota
	FieldUnknown                        // the kind has no such field
	FieldMisspelt                       // the name that comes nearest, and those that come as near
	FieldMisplaced                      // where such a field is
	FieldNewer                          // the newest version that was looked at and does not have it
	FieldNotInCRD                       // the versions of the CRD that leave the field of Kubernetes out
	RoleUnknown                         // the kind, and its roles
	RoleMisspelt                        // the roles that come nearest
	RoleUnlisted                        // the kind, and its roles; the operator makes its pods all the same
	RoleSpelling                        // the spelling that the operator takes
	AmountMissing                       // a resource is named without an amount
	TaskNumberMissing                   // a role of a Framework
	WorkerReplicasMissing               // a Worker of an MPIJob
	RestartPolicyOverwritten            // what is written, and what the operator takes
	FieldOfOlderTrainer                 // podSpecOverrides
	PatchesOfTwoTrainers                // runtimePatches beside podTemplateOverrides
	RuntimeKindUnknown                  // runtimeRef names something that is no runtime
	RuntimeMissing                      // the runtime
	RuntimeUnseen                       // the runtime
	RuntimeUnreadable                   // the runtime, and what in it cannot be read
	RuntimeWithoutJobs                  // the runtime has no replicated Jobs
	RuntimeFieldUnknown                 // the field, the runtime, and why it is none
	RuntimeFieldNewer                   // the same; a newer version of the runtime may have it
	PatchedJobMissing                   // the Job that is named, and those that there are
	PatchedContainerMissing             // the container that is named, and the list of containers
)

// NotAField says whether it is a field or a role that the kind does not have: most likely a
// slip of the pen.
func (u Unread) NotAField() bool { return u.Kind >= FieldUnknown && u.Kind <= RoleUnlisted }

// RuntimeUnread is why the training runtime that a job names was not read; nil: it was, or there is none.
func (j *Job) RuntimeUnread() *Unread {
	for i := range j.Unread {
		if u := &j.Unread[i]; u.Kind >= RuntimeKindUnknown && u.Kind <= RuntimeUnreadable {
			return u
		}
	}
	return nil
}

// String is the sentence about it; its subject is what stands at the path.
func (u Unread) String() string {
	arg := func(i int) string {
		if i < len(u.Args) {
			return u.Args[i]
		}
		return ""
	}
	switch u.Kind {
	case FieldUnknown:
		return "not a field here"
	case FieldMisspelt:
		return "not a field here; the nearest is " + arg(0)
	case FieldMisplaced:
		return "not a field here; there is " + arg(0)
	case FieldNewer:
		return "not a field here, up to " + arg(0)
	case FieldNotInCRD:
		return fmt.Sprintf("not a field here: Kubernetes has it, and the CRD (%s) does not", arg(0))
	case RoleUnknown:
		return fmt.Sprintf("not a field here; %s has the roles %s", arg(0), strings.Join(u.Args[min(1, len(u.Args)):], ", "))
	case RoleMisspelt:
		return "not a role here; the nearest is " + arg(0)
	case RoleUnlisted:
		return fmt.Sprintf("not one of the roles of a %s (%s)", arg(0), strings.Join(u.Args[min(1, len(u.Args)):], ", "))
	case RoleSpelling:
		return fmt.Sprintf("read as %q; the operator's webhook takes only that spelling", arg(0))
	case AmountMissing:
		return "named without an amount: null is read as absent"
	case TaskNumberMissing:
		return "says no taskNumber: the controller has no default and makes 0 tasks"
	case WorkerReplicasMissing:
		return "says no number of replicas: the operator's default for Worker is 0"
	case RestartPolicyOverwritten:
		return fmt.Sprintf("%q is overwritten: the operator takes %q from the role's restartPolicy", arg(0), arg(1))
	case FieldOfOlderTrainer:
		return "a field of Trainer v2.0; v2.1 has podTemplateOverrides, v2.2 and later have runtimePatches"
	case PatchesOfTwoTrainers:
		return "read together with podTemplateOverrides; Trainer v2.1 knows only those, v2.2 and later only runtimePatches"
	case RuntimeKindUnknown:
		return "not a kind of runtime that is read (ClusterTrainingRuntime, TrainingRuntime); the pods are read from spec.trainer only"
	case RuntimeMissing:
		return arg(0) + " does not exist; the pods are read from spec.trainer only"
	case RuntimeUnseen:
		return arg(0) + " was not seen; the pods are read from spec.trainer only"
	case RuntimeUnreadable:
		return fmt.Sprintf("%s cannot be read whole: %s", arg(0), arg(1))
	case RuntimeWithoutJobs:
		return "the runtime has no replicated Jobs: there are no pods to look at"
	case RuntimeFieldUnknown, RuntimeFieldNewer:
		return fmt.Sprintf("%s of %s is %s", arg(0), arg(1), arg(2))
	case PatchedJobMissing:
		return fmt.Sprintf("the runtime has no replicated Job %q; it has %s", arg(0), strings.Join(u.Args[min(1, len(u.Args)):], ", "))
	case PatchedContainerMissing:
		return fmt.Sprintf("the runtime has no container %q in %s of this Job", arg(0), arg(1))
	}
	return "not read"
}
