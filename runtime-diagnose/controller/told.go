package controller

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
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
	return before.told()
}

// told is the story that is kept on a job.
func (s stored) told() *diagnose.Story {
	return &diagnose.Story{Text: s.Story.Text, Model: s.Model, Prompt: s.Story.Prompt, Cites: s.Story.Cites, Dropped: s.Story.Dropped, LeftOut: s.Story.LeftOut}
}
