package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// The annotations with which the author of a job silences checks. Both are promises of
// the public surface.
const (
	IgnoreAnnotation = "signalbox.dev/ignore"        // names of checks, separated by commas
	ReasonAnnotation = "signalbox.dev/ignore-reason" // why; without it the names have no effect

	longestReason = 200 // runes: an annotation may hold 256 KiB, a report should not

	ignoreCheck = "ignore-annotation" // the name under which we say that an annotation has no effect
)

// ignored maps the checks that the job's author silences to why,
// and notes what in the annotations has no effect.
func (s *Set) ignored(j *job.Job) (map[string]string, []finding.Finding) {
	if j.Source == nil {
		return nil, nil
	}
	annotations := j.Source.GetAnnotations()
	names := splitNames(annotations[IgnoreAnnotation])
	if len(names) == 0 {
		return nil, nil
	}
	at := job.Path("metadata.annotations").Key(IgnoreAnnotation)
	reason := strings.Join(strings.Fields(annotations[ReasonAnnotation]), " ")
	if reason == "" {
		return nil, []finding.Finding{{
			Check: ignoreCheck, Severity: finding.Note, Path: at,
			Message: fmt.Sprintf("names %s and has no effect: %s is missing", words.Count(len(names), "check", "checks"), ReasonAnnotation),
			Remedy:  "Say why in " + ReasonAnnotation + ".",
		}}
	}
	out := make(map[string]string, len(names))
	var notes []finding.Finding
	for _, name := range names {
		if _, err := s.entry(name); err != nil {
			notes = append(notes, finding.Finding{
				Check: ignoreCheck, Severity: finding.Note, Path: at,
				Message: fmt.Sprintf("no check that runs here is called %q%s", name, DidYouMean(name, s.Names())),
				Remedy:  "Name checks as signalbox list checks prints them.",
			})
			continue
		}
		out[name] = words.Clip(reason, longestReason)
	}
	finding.Sort(notes)
	return out, notes
}

func splitNames(list string) []string {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
	slices.Sort(names)
	return slices.Compact(names)
}
