package recovery

import "strings"

// tracker is what a client of a tracking service says: it ends with the run, however that ends
// (https://github.com/wandb/wandb/blob/v0.16.0/wandb/sdk/wandb_run.py, _footer).
const tracker = "wandb: "

// OfTracker says that a line is what such a client says.
func OfTracker(text string) bool { return strings.HasPrefix(text, tracker) }

// BeginsTracking says that a line is the first that a tracker says of a run.
func BeginsTracking(text string) bool {
	return strings.HasPrefix(text, tracker+"Currently logged in as: ") || strings.HasPrefix(text, tracker+"Tracking run with ")
}
