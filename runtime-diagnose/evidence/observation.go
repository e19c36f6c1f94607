package evidence

import "github.com/signalbox-dev/signalbox/runtime-diagnose/signature"

// Observation is one signature seen in one place. Which of them is the cause is decided in attribute.
type Observation struct {
	Signature *signature.Signature
	Item      Item
	Line      string // the decisive line, masked
	Said      int    // where in Line that begins which the signature knows, in bytes
	Facts     map[string]string
	// Platform says that the platform itself reports it (a pod's status, an event), not a
	// program about itself.
	Platform bool
	// Over says that it was a passing state: what it blocked has happened since.
	Over bool
	// FromLog says that it is an exit code that was made from a line of the log.
	FromLog bool
	// First says that a launcher names it as the first failure of its group.
	First bool
	// Raised says that the line ends a traceback: the same may have been logged before.
	Raised bool
	// Mild says that the program itself calls the line a warning or information.
	Mild bool
	// Explained says that it only tells how its member ended, and something else tells why.
	Explained bool
	// Follower says that its member surely went after another one had failed, or was told to.
	Follower bool
	// FromEnd is how many lines of its log stand below it.
	FromEnd int
	// Also holds the same observation on other ranks or at other times.
	Also []Item
}
