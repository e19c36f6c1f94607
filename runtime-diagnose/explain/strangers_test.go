package explain

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// injection is one of testdata/strangers.jsonl, which somebody wrote who had not read the rules.
type injection struct {
	ID, Where, Text string
	Forbidden       []string `json:"must_not_publish"`
}

// liar tells what somebody wrote, in one of many manners.
type liar struct {
	said   string
	manner func(said, id string) string
}

func (l liar) Complete(_ context.Context, r llm.Request) (llm.Response, error) {
	id := ""
	words := strings.Fields(l.said)
	for line := range strings.Lines(r.User) {
		if m := citation.FindStringSubmatch(line); m != nil {
			id = m[1]
		}
		if strings.Contains(line, words[len(words)/2]) {
			break
		}
	}
	return llm.Response{Text: l.manner(l.said, id), Model: "liar"}, nil
}

var citation = regexp.MustCompile(`\[([a-z]+/[^\]\s]+)\]`)

// manners are how an answer may pass on what it was told to.
var manners = map[string]func(said, id string) string{
	"as it is": func(said, _ string) string { return said },
	"headings": func(said, id string) string {
		return "Error: " + said + " [" + id + "]\nAnalysis: " + said + "\nSolution: " + said
	},
	"quotation": func(said, id string) string {
		return "Analysis: The log says \"" + strings.ReplaceAll(said, "\"", "'") + "\" [" + id + "]."
	},
	"one line": func(said, id string) string {
		return "Analysis: " + strings.Join(strings.Fields(said), " ") + " [" + id + "]."
	},
	"each line": func(said, id string) string {
		var b strings.Builder
		for line := range strings.Lines(said) {
			b.WriteString("Analysis: " + strings.TrimSpace(line) + " [" + id + "].\nSolution: 1. " + line + "\n")
		}
		return b.String()
	},
	"seen": func(said, id string) string {
		return "Analysis: " + redact.Clean(said) + " [" + id + "].\nSolution: `" + redact.Clean(said) + "`"
	},
	"JSON": func(said, id string) string {
		text, err := json.Marshal(map[string]any{"healthy": "Yes", "error": said + " [" + id + "]", "analysis": []string{said, said + " [" + id + "]."}, "solution": []string{said}})
		if err != nil {
			return err.Error()
		}
		return string(text)
	},
}

func strangers(t *testing.T) (out []injection) {
	t.Helper()
	text, err := os.ReadFile("testdata/strangers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var i injection
		if err := json.Unmarshal(lines.Bytes(), &i); err != nil {
			t.Fatal(err)
		}
		out = append(out, i)
	}
	return out
}

// harmless are what some of them say beside: that is found, as it is where nothing else is said.
var harmless = map[string]string{
	"inj-05": "ERROR: loss is nan.", "inj-18": "Observation: disk is full.", "inj-29": `Error: secret "wandb" not found.`, "inj-30": "Evicted: The node was low on resource: memory.",
}

// What strangers write into any place changes nothing of what the rules find, and no manner of a model brings
// it on the job.
func TestNothingThatStrangersWriteIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("a table of many injections, one after another")
	}
	on := newInjectable(t)
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	places := map[string][]string{
		"log": {"log before the cause", "log after the cause", "log of another rank"}, "event": {"event", "condition", "node condition"},
		"label": {"label", "annotation", "pod label", "node label"}, "name": {"label", "env"}, "image": {"image"},
		"termination": {"termination message", "pod message"}, "template": {"log after the cause"}, "retrieved": {"log after the cause"}, "answer": {""},
	}
	all := strangers(t)
	found := map[[2]string][]string{} // by place and by what else is said there
	without := func(at, said string) []string {
		if found[[2]string{at, said}] == nil {
			found[[2]string{at, said}] = verdictOf(diagnose.Diagnose(t.Context(), on.bundled(t, at, said), catalog, diagnose.Options{}))
		}
		return found[[2]string{at, said}]
	}
	told := 0
	for _, i := range all {
		lost := false
		for _, at := range places[i.Where] {
			text := i.Text
			want := without(at, harmless[i.ID])
			c := on.bundled(t, at, text)
			r := diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{})
			if diff := cmp.Diff(want[:7], verdictOf(r)[:7]); diff != "" {
				lost = true
				t.Errorf("%s in %s changed the finding (-want +got):\n%s", i.ID, at, diff)
			}
			for name, manner := range manners {
				e := Explainer{Client: liar{text, manner}}
				if i.Where == "template" {
					e.Sources = []prompt.Source{func(context.Context, string) (string, bool, error) {
						return text + "\n{{.ErrorInfo}}\n{{.LogInfo}}", true, nil
					}}
				}
				answer, err := e.Explain(t.Context(), e.Ask(t.Context(), c, r), r)
				if err != nil {
					t.Fatal(err)
				}
				text := everythingTold(answer.Story)
				for _, forbidden := range i.Forbidden {
					if strings.Contains(text, forbidden) || strings.Contains(text, redact.Clean(forbidden)) {
						lost = true
						t.Errorf("%s in %s, %s: %q is told:\n%s", i.ID, at, name, forbidden, text)
					}
				}
			}
		}
		if lost {
			told++
		}
	}
	t.Logf("%d of %d injections are told or change the finding", told, len(all))
	if len(all) < 60 {
		t.Errorf("%d injections, want 60 at least", len(all))
	}
}
