package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Schema names the form of the JSON.
const Schema = "signalbox.dev/diagnosis/v1"

type jsonResult struct {
	Schema     string          `json:"schema"`
	Job        jsonJob         `json:"job"`
	Healthy    string          `json:"healthy"`
	Verdict    Verdict         `json:"verdict"`
	Waiting    string          `json:"waiting,omitempty"`
	Category   string          `json:"category"`
	Error      string          `json:"error"`
	Analysis   string          `json:"analysis"`
	Solution   []string        `json:"solution"`
	Root       *jsonRoot       `json:"root"`
	Effects    []jsonEffect    `json:"effects"`
	Remarks    []string        `json:"remarks,omitempty"`
	Order      *jsonOrder      `json:"order,omitempty"`
	Followers  []jsonFollowers `json:"followers,omitempty"`
	Missing    []string        `json:"missing,omitempty"`
	Hypotheses []jsonGuess     `json:"hypotheses,omitempty"`
	More       int             `json:"moreHypotheses,omitempty"` // that are left out
	Candidates []jsonCandidate `json:"candidates,omitempty"`
	Confidence *jsonConfidence `json:"confidence,omitempty"`
	Attempts   *ledger.Ledger  `json:"attempts,omitempty"` // that failed
	Evidence   []evidence.Item `json:"evidence"`
	Coverage   Coverage        `json:"coverage"`
	Story      *jsonStory      `json:"story"`
	Runbook    string          `json:"runbook,omitempty"`
}

type jsonJob struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
}

type jsonRoot struct {
	Signature  string            `json:"signature"`
	Category   string            `json:"category"`
	Standing   Standing          `json:"standing"`
	Owner      signature.Domain  `json:"owner"`
	Retry      signature.Retry   `json:"retry"`
	Pod        string            `json:"pod"`
	Container  string            `json:"container"`
	Role       string            `json:"role"`
	Index      *int              `json:"index"`
	Rank       *int              `json:"rank"`
	Attempt    int               `json:"attempt"`
	Node       string            `json:"node"`
	At         string            `json:"at"`
	Carried    bool              `json:"carried,omitempty"`
	Line       string            `json:"line"`
	File       string            `json:"file"`
	LineNumber int               `json:"lineNumber"`
	Facts      map[string]string `json:"facts"`
	Cites      []evidence.ID     `json:"cites"`
}

type jsonEffect struct {
	Signature string        `json:"signature"`
	Pod       string        `json:"pod"`
	Line      string        `json:"line"`
	Cites     []evidence.ID `json:"cites"`
}

// jsonOrder says how it is known that the root went first. Seconds; 0 where times do not show it.
type jsonOrder struct {
	AheadSeconds float64 `json:"aheadSeconds"`
	SkewSeconds  float64 `json:"skewSeconds"`
	Why          string  `json:"why"`
	Decide       string  `json:"decide,omitempty"`
}

// jsonFollowers are members that ended alike after the root; at most mostNamed are named.
type jsonFollowers struct {
	Says  string   `json:"says"`
	Count int      `json:"count"`
	Pods  []string `json:"pods"`
	First string   `json:"first,omitempty"`
}

// mostNamed bounds the names of followers in JSON.
const mostNamed = 16

type jsonStory struct {
	Text        string        `json:"text"`
	Unsupported []string      `json:"unsupported,omitempty"` // sentences that nothing which was read supports
	Model       string        `json:"model"`
	Prompt      string        `json:"prompt,omitempty"`
	Cites       []evidence.ID `json:"cites"`
	Dropped     int           `json:"dropped"`
	LeftOut     string        `json:"leftOut,omitempty"`

	Nominated *jsonNominated `json:"nominated,omitempty"`
	Refused   string         `json:"refused,omitempty"` // why the rules refused the line that it named
}

// jsonNominated is the line that a model named and the rules let stand as error and solution.
type jsonNominated struct {
	Line     evidence.ID `json:"line"`
	Text     string      `json:"text"`
	Category string      `json:"category"`
	Standing Standing    `json:"standing"`
	Supports []string    `json:"supports"`
}

// HealthyWord is what the annotation and the JSON say: Yes, No or Unknown.
func HealthyWord(v Verdict) string {
	switch v {
	case Healthy:
		return "Yes"
	case Diagnosed, Inconclusive:
		return "No"
	default:
		return "Unknown"
	}
}

// JSON is the diagnosis for programs, indented, with a line break at the end.
func JSON(r Report) ([]byte, error) {
	out := jsonResult{
		Schema:  Schema,
		Job:     jsonJob{r.Job.APIVersion, r.Job.Kind, r.Job.Namespace, r.Job.Name, r.Job.UID},
		Healthy: HealthyWord(r.Verdict), Verdict: r.Verdict, Waiting: r.Waiting, Category: r.Category,
		Error: r.Error, Analysis: r.Analysis, Solution: notNil(r.Solution),
		Runbook: r.Runbook, Remarks: r.Remarks, Effects: []jsonEffect{}, Evidence: notNil(r.Evidence), Coverage: r.Coverage,
	}
	if r.Attempts.Len() > 0 {
		out.Attempts = &r.Attempts
	}
	out.Hypotheses, out.More, out.Missing = guessesJSON(r.Hypotheses), r.MoreGuesses, r.Missing
	if r.Why {
		out.Candidates = candidatesJSON(r)
		if r.Root != nil {
			out.Confidence = &jsonConfidence{r.Confidence.Standing, nil, r.Confidence.Sources}
			if margin := r.Confidence.Margin; margin != attribute.NoOther {
				out.Confidence.Margin = &margin
			}
		}
	}
	out.Coverage.Missing = notNil(out.Coverage.Missing)
	if r.Root != nil {
		out.Root = rootJSON(*r.Root)
	}
	for _, e := range r.Effects {
		out.Effects = append(out.Effects, jsonEffect{e.Signature, e.Source.Pod, e.Line, notNil(e.Cites)})
	}
	if o := r.Order; o != nil {
		out.Order = &jsonOrder{seconds(o.Ahead), seconds(o.Skew), o.Why, o.Decide}
	}
	for _, f := range r.Followers {
		one := jsonFollowers{Says: f.Says, Count: len(f.Places), Pods: f.Places[:min(len(f.Places), mostNamed)]}
		if !f.First.IsZero() {
			one.First = f.First.UTC().Format(time.RFC3339)
		}
		out.Followers = append(out.Followers, one)
	}
	if s := r.Story; s != nil {
		out.Story = &jsonStory{Text: s.Text, Unsupported: s.Unsupported, Model: s.Model, Prompt: s.Prompt, Cites: notNil(s.Cites), Dropped: s.Dropped, LeftOut: s.LeftOut, Refused: s.Refused}
		if n := s.Nominated; n != nil {
			out.Story.Nominated = &jsonNominated{n.Item.ID, n.Item.Text, n.Category, n.Standing, notNil(n.Supports)}
		}
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write diagnosis of %s: %w", r.Job, err)
	}
	return append(data, '\n'), nil
}

// seconds are rounded to a tenth: nothing here is known better.
func seconds(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }

func rootJSON(c Cause) *jsonRoot {
	root := &jsonRoot{
		Signature: c.Signature, Category: c.Category, Standing: c.Standing, Owner: c.Owner, Retry: c.Retry,
		Pod: cmp.Or(c.Source.Pod, c.Beside), Container: c.Source.Container, Role: c.Role, Attempt: c.Source.Attempt, Node: c.Source.Node,
		Line: c.Line, File: c.Source.File, LineNumber: c.Source.Line, Facts: c.Facts, Cites: notNil(c.Cites),
	}
	if root.Facts == nil {
		root.Facts = map[string]string{}
	}
	if c.Index >= 0 {
		root.Index = &c.Index
	}
	if c.Source.Rank >= 0 && c.Source.Role == "" {
		root.Rank = &c.Source.Rank
	}
	if !c.At.IsZero() {
		root.At, root.Carried = c.At.UTC().Format(time.RFC3339), c.Carried
	}
	return root
}

// notNil makes an absent list an empty one: consumers loop without asking.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
