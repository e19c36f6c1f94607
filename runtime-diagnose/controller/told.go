package controller

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
)

// StoryOn is what a model has said of this very finding, as it stands on the job; nil: nothing does, or
// what does is about another finding.
func StoryOn(u *unstructured.Unstructured, r diagnose.Result) *diagnose.Story {
	if u == nil {
		return nil
	}
	before, ok := storedOn(u)
	if !ok || before.Story == nil || before.Fingerprint != diagnose.Fingerprint(r) {
		return nil
	}
	return before.told(r)
}

// Nomination is the line that a model named as the cause of a job's failure, as it stands on the job.
type Nomination struct {
	Line            evidence.ID
	Text            string
	Category, Model string
}

// NominatedOn reads it from a job's annotations, with the category that somebody confirmed; ok is false where
// nothing stands there, or nobody has confirmed it.
func NominatedOn(annotations map[string]string) (n Nomination, ok bool) {
	s, ok := readStored(annotations)
	confirmed := annotations[Confirm]
	if !ok || s.Story == nil || s.Story.Nominated == nil || confirmed == "" || strings.EqualFold(confirmed, "no") {
		return Nomination{}, false
	}
	of := s.Story.Nominated
	n = Nomination{Line: of.Line, Text: of.Text, Category: of.Category, Model: s.Model}
	if !strings.EqualFold(confirmed, "yes") {
		n.Category = confirmed
	}
	return n, true
}

// told is the story that is kept on a job. What it named as the cause is tested anew.
func (s stored) told(r diagnose.Result) *diagnose.Story {
	out := &diagnose.Story{Text: s.Story.Text, Unsupported: s.Story.Unsupported, Model: s.Model, Prompt: s.Story.Prompt, Cites: s.Story.Cites, Dropped: s.Story.Dropped, LeftOut: s.Story.LeftOut, Refused: s.Story.Refused}
	if n := s.Story.Nominated; n != nil {
		out.Nominated = explain.Again(r, s.Model, string(n.Line), n.Category)
	}
	return out
}
