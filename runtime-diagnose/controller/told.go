package controller

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
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

// told is the story that is kept on a job. What it named as the cause is tested anew.
func (s stored) told(r diagnose.Result) *diagnose.Story {
	out := &diagnose.Story{Text: s.Story.Text, Model: s.Model, Prompt: s.Story.Prompt, Cites: s.Story.Cites, Dropped: s.Story.Dropped, LeftOut: s.Story.LeftOut, Refused: s.Story.Refused}
	if n := s.Story.Nominated; n != nil {
		out.Nominated = explain.Again(r, s.Model, string(n.Line), n.Category)
	}
	return out
}
