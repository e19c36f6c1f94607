package recovery

import (
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// address is a place in memory, or what a frame of a stack begins with, as native code prints them.
var address = lazy.MustCompile(`\b0x[0-9a-f]{5,}\b|^\[frame \d+\]: `)

// row is one of a table of three columns and more.
var row = lazy.MustCompile(`^\S+(?: \S+)*(?: {2,}|\t)\S+(?: \S+)*(?: {2,}|\t)\S`)

// tracker is what a client of a tracking service says: it ends with the run, however that ends
// (https://github.com/wandb/wandb/blob/v0.16.0/wandb/sdk/wandb_run.py, _footer).
const tracker = "wandb: "

// Works says that a line tells of work: it is written from the margin on, has words, is no warning, no row of a table, no
// frame of a stack and no wait, and is not what a tracker says, which ends with the run.
func Works(text string) bool {
	return text != "" && text[0] != ' ' && text[0] != '\t' && !strings.HasPrefix(text, tracker) && strings.ContainsFunc(text, unicode.IsLetter) &&
		!(Mild(text) && !Informs(text)) && !strings.Contains(text, "Warning: ") && !CallsWarning(text) && !Remarked(text) &&
		!TriesAgain(text) && !row.MatchString(text) && !address.MatchString(text)
}

// OfTracker says that a line is what such a client says.
func OfTracker(text string) bool { return strings.HasPrefix(text, tracker) }

// BeginsTracking says that a line is the first that a tracker says of a run.
func BeginsTracking(text string) bool {
	return strings.HasPrefix(text, tracker+"Currently logged in as: ") || strings.HasPrefix(text, tracker+"Tracking run with ")
}

// accounts head what a batch system tells of a job that has ended, whichever way: Slurm's seff
// (https://github.com/SchedMD/slurm/blob/slurm-23.11/contribs/seff/seff), an epilog of a site, and LSF
// (https://www.ibm.com/docs/en/spectrum-lsf/10.1.0?topic=o-output-files).
var accounts = lazy.MustCompile(`^(?:Job ID: +\S|JOB STATISTICS$|Begin Slurm Epilog|Resource usage summary:|State: (?:FAILED|COMPLETED|RUNNING|CANCELLED|TIMEOUT|OUT_OF_MEMORY)\b)`)

// Accounts says that a line heads such an account.
func Accounts(text string) bool { return accounts.MatchString(text) }
