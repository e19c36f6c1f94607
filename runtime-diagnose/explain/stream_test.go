package explain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// What is told while the answer comes is what is shown of it in the end, in more than one piece, and nothing else.
func TestAnAnswerIsToldAsItComes(t *testing.T) {
	const supported = `train-master-0 shows \"exit 137, OOMKilled, limit 64Gi\" [pod/train-master-0/pytorch/exit].`
	for name, answer := range map[string]string{
		"JSON": `{"healthy": "No", "error": "train-master-0 was OOMKilled [pod/train-master-0/pytorch/exit].", "analysis": ["` + supported + `", "A cosmic ray hit it."], "solution": ["remedy 1"]}`,
		"text": "Healthy: No\nError: train-master-0 was OOMKilled [pod/train-master-0/pytorch/exit].\nAnalysis: " + strings.ReplaceAll(supported, `\`, "") + " A cosmic ray hit it.\nSolution: remedy 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string { return answer })
			if err != nil {
				t.Fatal(err)
			}
			client, err := llm.New(llm.Profile{Provider: "openai", BaseURL: s.URL, Model: "m", Timeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			var heard []string
			e := Explainer{Client: llm.Limited(client, 600), Heard: func(text string) { heard = append(heard, text) }}
			r := oom()
			told, err := e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(told.Story.Text, strings.Join(heard, "")); diff != "" || len(heard) < 2 || strings.Contains(told.Story.Text, "cosmic") {
				t.Errorf("told in %d pieces (-in the end +as it came):\n%s", len(heard), diff)
			}
			if told.Answer.TokensIn == 0 || told.Answer.TokensOut == 0 {
				t.Errorf("tokens were not counted: %+v", told.Answer)
			}
		})
	}
}

// cutOff is a model that had no room for its last words.
type cutOff string

func (c cutOff) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: string(c), Model: "m", Cut: true}, nil
}

// Half a sentence at the end of an answer for which there was no room is not told: the whole may say something else.
func TestHalfASentenceIsNotTold(t *testing.T) {
	const whole = "Error: train-master-0 was OOMKilled [pod/train-master-0/pytorch/exit]."
	for _, answer := range []string{
		whole + "\nAnalysis: train-master-0 ended with exit 137",
		`{"healthy":"No","error":"train-master-0 was OOMKilled [pod/train-master-0/pytorch/exit].","analysis":["train-master-0 ended with exit 137`,
	} {
		r := oom()
		e := Explainer{Client: cutOff(answer)}
		told, err := e.Explain(t.Context(), e.Ask(t.Context(), diagnose.Case{}, r), r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, told.Story.Text); diff != "" || told.Story.Dropped > 0 {
			t.Errorf("%s (-want +got):\n%s", told.Story.LeftOut, diff)
		}
	}
}

func TestWhatIsWholeOfAnAnswer(t *testing.T) {
	for text, want := range map[string]string{
		`{"error": "a`:                   "",
		`{"error": "a \" b", "ana`:       `{"error": "a \" b"}`,
		`{"error": "a", "analysis": ["b`: `{"error": "a"}`,
		`{"analysis": ["b", "c`:          `{"analysis": ["b"]}`,
		`{"analysis": ["b"], "x`:         `{"analysis": ["b"]}`,
		"Error: one. Tw":                 "Error: one.",
		"Error: o":                       "",
		"错误：磁盘已满。内":                      "错误：磁盘已满。",
	} {
		if got := soFar(text); got != want {
			t.Errorf("of %q is whole %q, want %q", text, got, want)
		}
	}
}
