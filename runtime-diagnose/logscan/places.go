package logscan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// printedBy begins the text in which the signatures are asked about a file of native code.
const printedBy = "printed by "

// nativePlace is a place in native code: loggers print it before a message, and a binding hands it on within the
// message of the exception that it raises.
var nativePlace = regexp.MustCompile(`([\w./\\+-]{1,200}\.(?:c|cc|cpp|cu|cuh|h|hpp|inc|rs|go|ts))(?:[:(]|"?, line |":)(\d{1,6})\b`)

// mostPlaces is how many places of a message are asked about: the first is where it comes from, the others are who
// asked for it.
const mostPlaces = 4

// conditions are how native code prints what had to hold and did not: glog and dmlc, torch, C's assert, Paddle.
var conditions = regexp.MustCompile("Check failed: (.{3,160}?)(?: \\(|: |\\s*$)|(?:^|: )([^:\"]{3,160}?) INTERNAL ASSERT FAILED\\b|Assertion [`'\"‘](.{3,160}?)[`'\"’] failed|Expected ([^,:]{3,160}), but received")

// conditionOf is a condition that did not hold, as Python would write it; empty: the message names none.
func conditionOf(message string) string {
	m := conditions.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	return strings.ToLower(strings.ReplaceAll(m[1]+m[2]+m[3]+m[4], "->", "."))
}

// byNative asks about a message of native code that no signature knows: by where it comes from, and by the condition that
// did not hold, which says as much as that of an assertion without a message.
func (r *logReader) byNative(message string) []signature.Match {
	if found := r.byPlace(message); len(found) > 0 {
		return found
	}
	condition := conditionOf(message)
	if condition == "" || !r.options.uses(asksPlace) {
		return nil
	}
	found := slices.DeleteFunc(r.catalog.Match(raisedBy+nativeFrame+": assert "+condition+": AssertionError", r.kinds()...), func(m signature.Match) bool {
		return !explainsMore(m) || m.Signature.LastResort || m.Signature.Category == signature.HealthyCategory || m.Signature.DepthOf() == signature.Symptom
	})
	for i := range found {
		found[i].Start, found[i].Facts = 0, nil
	}
	return found
}

// nativeFrame stands for a frame of native code, of which only the condition is asked about.
const nativeFrame = `File "native", line 1, in check`

// onlyFailedChecks says that nothing is known of a line but that a check in native code failed.
func onlyFailedChecks(text string, matches []signature.Match) bool {
	known := false
	for _, m := range matches {
		if namesCause(m) && (m.Signature.DepthOf() != signature.Symptom || m.Signature.Category != crashCategory) {
			return false
		}
		known = known || namesCause(m)
	}
	return known && conditions.MatchString(text)
}

// crashCategory is that of crashes of native code without a better cause.
const crashCategory = "segfault"

// byPlace asks about a message that no signature knows by where in native code it comes from: the file says what the
// code was busy with, whatever the words, as the innermost frame of a traceback does. The text is
//
//	printed by src/transport/net_ib.cc
func (r *logReader) byPlace(message string) []signature.Match {
	if !r.options.uses(asksPlace) {
		return nil
	}
	for _, at := range nativePlace.FindAllStringSubmatchIndex(message, mostPlaces) {
		file := strings.ReplaceAll(message[at[2]:at[3]], `\`, "/")
		found := slices.DeleteFunc(r.catalog.Match(printedBy+file, r.kinds()...), func(m signature.Match) bool {
			return !strings.HasPrefix(m.Signature.Pattern, "^"+printedBy)
		})
		if len(found) == 0 {
			continue
		}
		for i := range found {
			found[i].Start, found[i].Facts = 0, nil // they are of the other text
		}
		return found
	}
	return nil
}
