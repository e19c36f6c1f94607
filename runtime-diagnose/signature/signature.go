// Package signature is knowledge as data: what a known failure looks like, what it proves
// and what it does not. One YAML file in catalog/ is one signature.
package signature

// Kind is where an observation comes from.
type Kind string

// The kinds.
const (
	Log    Kind = "log"    // a line, or a traceback, of a container's log
	Event  Kind = "event"  // a Kubernetes event
	Status Kind = "status" // a condition or phase of the job, a pod or an object between
	Exit   Kind = "exit"   // how a container ended: code, signal, reason
	Node   Kind = "node"   // a node's condition, taint or kernel message
	Metric Kind = "metric" // a measured value
	Frame  Kind = "frame"  // the innermost frame of a traceback whose last line no signature knows
)

// Role is what a match may stand for.
type Role string

// The roles.
const (
	Root         Role = "root"         // may be the cause
	Cascade      Role = "cascade"      // another member failed first
	Confirmation Role = "confirmation" // supports a root, is none itself
	Context      Role = "context"      // advice; can never be a cause
)

// Says is what a match tells of the other members of a gang. It decides which of several that failed went first.
type Says string

// What a match can tell of others.
const (
	OfItself   Says = "of-itself"    // nothing: the trouble is the member's own
	Waited     Says = "waited"       // another member did not come in time
	PeerLost   Says = "peer-lost"    // a connection between two members broke: both ends report it alike, whichever it was
	ToldToStop Says = "told-to-stop" // the platform or another member asked for the end
)

// Domain is who has to act.
type Domain string

// The domains.
const (
	User     Domain = "user"
	Platform Domain = "platform"
	Hardware Domain = "hardware"
	Network  Domain = "network"
	Storage  Domain = "storage"
	Nobody   Domain = "unknown"
)

// Retry says whether running the job again, unchanged, helps.
type Retry string

// The answers.
const (
	Helps        Retry = "helps"
	Useless      Retry = "useless"
	RetryUnknown Retry = "unknown"
)

// Signature is one known failure.
type Signature struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Since        string   `json:"since"`
	Category     string   `json:"category"`
	Role         Role     `json:"role"`
	Kinds        []Kind   `json:"kinds"`
	Pattern      string   `json:"pattern"` // RE2; named groups become facts
	Domain       Domain   `json:"domain"`
	Retry        Retry    `json:"retry"`
	Hides        []string `json:"hides,omitempty"`      // signatures this one explains when both are seen
	Weak         bool     `json:"weak,omitempty"`       // also seen in runs that end well: counts only beside a failure seen elsewhere
	LastResort   bool     `json:"lastResort,omitempty"` // counts only in a log where nothing else does; of several lines the one at the end
	Depth        int      `json:"depth,omitempty"`      // overrides Category.Depth; 0: the category's
	Says         Says     `json:"says,omitempty"`       // overrides Category.Says; empty: the category's
	Lasting      bool     `json:"lasting,omitempty"`    // a run that goes on, or ends with 0, does not refute it; else the category decides
	Proves       string   `json:"proves"`
	DoesNotProve string   `json:"doesNotProve"`
	Remedy       string   `json:"remedy"` // steps, one a line
	References   []string `json:"references,omitempty"`
}
