package preflight

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// ModeLabel is the label with which a namespace says what policies may do in it. Its
// values are promises of the public surface.
const ModeLabel = "signalbox.dev/mode"

// The values of ModeLabel.
const (
	ModeOff     = "off"     // nothing is reviewed
	ModeWarn    = "warn"    // policies that deny only warn, unless they always deny
	ModeEnforce = "enforce" // policies deny
)

// namespaceMode is the name under which a report says that the label means nothing.
const namespaceMode = "namespace-mode"

// ModeOf is the mode of a namespace with these labels: warn where the namespace does not
// say, says something unknown, or is unknown itself.
func ModeOf(labels map[string]string) string {
	switch mode := labels[ModeLabel]; mode {
	case ModeOff, ModeEnforce:
		return mode
	}
	return ModeWarn
}

// oddMode finds a label that means nothing: someone believes the namespace to be guarded.
func oddMode(labels map[string]string) (finding.Finding, bool) {
	switch mode := labels[ModeLabel]; mode {
	case "", ModeOff, ModeWarn, ModeEnforce:
		return finding.Finding{}, false
	default:
		return finding.Finding{
			Check: namespaceMode, Severity: finding.Error,
			Message: fmt.Sprintf("the namespace is labelled %s=%s, which is none of off, warn, enforce; it is treated as warn%s",
				ModeLabel, mode, check.DidYouMean(mode, []string{ModeOff, ModeWarn, ModeEnforce})),
			Remedy: "Have the label corrected by whoever owns the namespace.",
		}, true
	}
}
