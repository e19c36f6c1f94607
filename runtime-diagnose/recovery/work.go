package recovery

import (
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// address is a place in memory, as native code prints it.
var address = lazy.MustCompile(`\b0x[0-9a-f]{5,}\b`)

// row is one of a table of three columns and more.
var row = lazy.MustCompile(`^\S+(?: \S+)*(?: {2,}|\t)\S+(?: \S+)*(?: {2,}|\t)\S`)

// tracker is what a client of a tracking service says: it ends with the run, however that ends
// (https://github.com/wandb/wandb/blob/v0.16.0/wandb/sdk/wandb_run.py, _footer).
const tracker = "wandb: "

// Works says that a line tells of work: it is written from the margin on, has words, is no warning, no row of a table and no
// frame of a stack, and is not what a tracker says, which ends with the run.
func Works(text string) bool {
	return text != "" && text[0] != ' ' && text[0] != '\t' && !strings.HasPrefix(text, tracker) && strings.ContainsFunc(text, unicode.IsLetter) &&
		!(Mild(text) && !Informs(text)) && !CallsWarning(text) && !Remarked(text) && !row.MatchString(text) && !address.MatchString(text)
}

// OfTracker says that a line is what such a client says.
func OfTracker(text string) bool { return strings.HasPrefix(text, tracker) }

// BeginsTracking says that a line is the first that a tracker says of a run.
func BeginsTracking(text string) bool {
	return strings.HasPrefix(text, tracker+"Currently logged in as: ") || strings.HasPrefix(text, tracker+"Tracking run with ")
}
