package check

// Reason is why a check did not run; the zero Reason is that it ran.
type Reason int

// The reasons for which a check does not run.
const (
	Ran             Reason = iota
	KindNotCovered         // the check is about other kinds
	NothingChanged         // it compares, and there is no object before
	OperatorAnswers        // the job's own operator refuses the same; Detail: by what
	NoCluster              // it needs a cluster view, and none was given
	ViewUntrusted          // it needs a cluster view, and the one given is not whole; Detail: why
	LabelsUnknown          // it needs the labels of the namespace
	NotHeld                // it ran, and the view does not hold all that it asked for; Detail: what
	JobPartial             // it needs all of the job, and not all of it could be read
	DeadlinePassed         // the review was over before its turn
	Ignored                // the author of the job silenced it; Detail: why
)

// Skip says why a check did not run. The zero Skip says that it did.
type Skip struct {
	Reason Reason
	Detail string // what the reason leaves open
}

// reasons are the words for them, which end where the detail begins.
var reasons = [...]string{
	Ran:             "",
	KindNotCovered:  "kind not covered",
	NothingChanged:  "nothing was changed: there is no object before",
	OperatorAnswers: "answered by ",
	NoCluster:       "needs a cluster view; no cluster was looked at",
	ViewUntrusted:   "needs a cluster view: ",
	LabelsUnknown:   "needs the labels of the namespace; unknown",
	NotHeld:         "the view of the cluster does not hold ",
	JobPartial:      "needs all of the job; not all of it could be read",
	DeadlinePassed:  "deadline passed before it ran",
	Ignored:         "ignored by annotation: ",
}

// String is the reason as reports print it; empty where the check ran.
func (s Skip) String() string { return reasons[s.Reason] + s.Detail }

// Concerns says whether the check might have had something to say to this job, had more been
// known or been asked: a report lists such skips.
func (s Skip) Concerns() bool {
	return s.Reason != Ran && s.Reason != KindNotCovered && s.Reason != NothingChanged
}
