package logscan

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// How many records below a warning a logger writes to the end of a log, where its process outlived an error that it
// logged: one that ends for it says that it cleans up, and how it ends. For what a signature knows, or an exception, it
// takes more than for a guess or what its program calls a warning; an exception that is not printed from the module's frame
// on was caught.
const (
	recordsGoneOn       = 4
	recordsGoneOnCaught = 6
	recordsGoneOnLong   = 8
)

// leveled is the level in the head of a record of a logger, and stampOf how much before it is its stamp.
var leveled = lazy.MustCompile(`\b(?:ERROR|CRITICAL|FATAL|WARN(?:ING)?|INFO|DEBUG|NOTICE)\b|: [IWE] \S+\.cc:\d+\] |^[EWI] ?\| ?\d\d|^[EWIF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+:\d+\] |"level": ?"(?:error|warn(?:ing)?|info|debug)"`)

const (
	stampOf       = 20
	leastOfAStamp = 6 // digits
)

// stampForm is the form of the stamp with which a record of a logger begins: digits as 0, letters as a. Empty: it is no
// record, has no stamp, or is NCCL's, which informs of the callers that an error is handed to.
func stampForm(text string) string {
	text = strings.TrimSpace(text)
	if len(text) < stampOf || strings.Contains(text, " NCCL ") || !leveled.MatchString(text[:min(len(text), 160)]) {
		return ""
	}
	form, digits := []byte(text[:stampOf]), 0
	for i, b := range form {
		switch {
		case '0' <= b && b <= '9':
			form[i], digits = '0', digits+1
		case isLetter(b):
			form[i] = 'a'
		}
	}
	if digits < leastOfAStamp {
		return ""
	}
	return string(form)
}

// loggerGoesOn says that the logger which logged a complaint, or an exception that was caught, informs of other things
// below it: its process goes on. What it complains of later is another matter.
func (r *logReader) loggerGoesOn(i int, d reduce.Digest) bool {
	s := &r.sightings[i]
	if r.failed || r.log.Pasted || s.Signature.Lasts() || s.Signature.SaysOf() == signature.ToldToStop || d.InTraceback || recovery.Exits(written(s)) || recovery.EndsBadly(written(s)) {
		return false
	}
	form, wanted := r.said[i].logged, recordsGoneOnLong
	switch {
	case !s.Raised && (s.Mild || isGuess(s)):
		wanted = recordsGoneOn
	case s.Raised && !r.said[i].top:
		wanted = recordsGoneOnCaught
	}
	if form == "" {
		return false
	}
	for at, l := range slices.Backward(d.Lines) {
		if l.Number <= s.Item.Source.Line || wanted == 0 {
			break
		}
		b := r.lineBelow(d, at)
		same := b.form == form
		if (!same || SameStatement(l.Text, s.Line)) && (b.ends || b.wrong && !b.mild) {
			return false
		}
		if same && b.informs {
			wanted--
		}
	}
	return wanted == 0
}
