package controller

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ledger"
)

// The annotations that Signalbox writes, and the one that users write to ask.
const (
	prefix     = "signalbox.dev/"
	Healthy    = prefix + "healthy"   // Yes, No, Unknown
	Error      = prefix + "error"     // one sentence
	Analysis   = prefix + "analysis"  // why, with evidence
	Solution   = prefix + "solution"  // numbered steps, one a line
	Diagnosis  = prefix + "diagnosis" // the same for machines; see stored
	Waiting    = prefix + "waiting"   // why it has not started
	Attempts   = ledger.Annotation    // that failed, one by one; see ledger.Ledger
	Warned     = prefix + "warned"    // what admission said, and what became of it; see Remembered
	Ask        = prefix + "diagnose"  // any new value asks for a diagnosis now
	Confirm    = prefix + "confirmed" // users: yes, or the category it was, where a model named the cause
	FieldOwner = "signalbox"
)

// owned are the annotations that Signalbox writes, in the order they are cut when space is short.
var owned = [...]string{Healthy, Error, Solution, Waiting, Analysis, Diagnosis, Warned, Attempts}

// stored is the annotation signalbox.dev/diagnosis: compact JSON.
type stored struct {
	Schema      string            `json:"schema"`
	Verdict     diagnose.Verdict  `json:"verdict"`
	Category    string            `json:"category,omitempty"`
	Root        *storedCause      `json:"root,omitempty"`
	Effects     []storedCause     `json:"effects,omitempty"`
	Coverage    diagnose.Coverage `json:"coverage"`
	Fingerprint string            `json:"fingerprint"`
	ObservedAt  string            `json:"observedAt"` // RFC 3339; when the content last changed
	Model       string            `json:"model,omitempty"`
	Story       *storedStory      `json:"story,omitempty"`
	// State is the phase and time of the operator's word that the diagnosis is about.
	State string `json:"state,omitempty"`
	// Asked is the value of signalbox.dev/diagnose that was answered last.
	Asked   string   `json:"asked,omitempty"`
	LeftOut []string `json:"leftOut,omitempty"` // what the size limit cost
}

const storedSchema = "signalbox.dev/diagnosis/v1"

type storedCause struct {
	Signature string            `json:"signature"`
	Category  string            `json:"category,omitempty"`
	Standing  diagnose.Standing `json:"standing,omitempty"`
	Owner     string            `json:"owner,omitempty"`
	Retry     string            `json:"retry,omitempty"`
	Pod       string            `json:"pod,omitempty"`
	Container string            `json:"container,omitempty"`
	Role      string            `json:"role,omitempty"`
	Rank      *int              `json:"rank,omitempty"`
	Node      string            `json:"node,omitempty"`
	At        string            `json:"at,omitempty"`
	Line      string            `json:"line,omitempty"`
	Facts     map[string]string `json:"facts,omitempty"`
	Cites     []evidence.ID     `json:"cites,omitempty"`
}

type storedStory struct {
	Text        string        `json:"text"`
	Unsupported []string      `json:"unsupported,omitempty"` // sentences that nothing which was read supports
	Prompt      string        `json:"prompt,omitempty"`      // name and digest of the template that asked
	Cites       []evidence.ID `json:"cites"`
	Dropped     int           `json:"dropped,omitempty"`
	LeftOut     string        `json:"leftOut,omitempty"` // how much is not in the text and why

	Nominated *storedNomination `json:"nominated,omitempty"` // what stands as error and solution
	Refused   string            `json:"refused,omitempty"`   // why what it named does not
}

// storedNomination is the line that a model named and the rules let stand.
type storedNomination struct {
	Line     evidence.ID       `json:"line"`
	Text     string            `json:"text"`
	Category string            `json:"category"`
	Standing diagnose.Standing `json:"standing"`
	Supports []string          `json:"supports,omitempty"`
}

func causeOf(c diagnose.Cause) storedCause {
	s := storedCause{
		Signature: c.Signature, Category: c.Category, Standing: c.Standing, Owner: string(c.Owner), Retry: string(c.Retry),
		Pod: c.Source.Pod, Container: c.Source.Container, Role: c.Source.Role, Node: c.Source.Node,
		Line: cut(c.Line, 300), Facts: c.Facts, Cites: c.Cites[:min(len(c.Cites), 4)],
	}
	if c.Source.Rank >= 0 {
		s.Rank = &c.Source.Rank
	}
	if !c.At.IsZero() {
		s.At = c.At.UTC().Format(time.RFC3339)
	}
	return s
}

// effectOf is short: what followed, where, and the evidence.
func effectOf(c diagnose.Cause) storedCause {
	return storedCause{Signature: c.Signature, Pod: c.Source.Pod, Cites: c.Cites[:min(len(c.Cites), 1)]}
}

// health is the one word of a verdict.
func health(v diagnose.Verdict) string {
	switch v {
	case diagnose.Healthy:
		return "Yes"
	case diagnose.Diagnosed, diagnose.Inconclusive:
		return "No"
	case diagnose.Unknown:
	}
	return "Unknown"
}

// finding is everything that goes into the annotations of one job.
type finding struct {
	result diagnose.Result
	print  string // of the result
	state  kinds.State
	asked  string
	warned Remembered // nothing in it: admission said nothing
}

// annotations are what the job should carry, within Budget.
func (f finding) annotations() map[string]string {
	r := explain.WithStory(f.result)
	out := map[string]string{Healthy: health(r.Verdict)}
	add := func(key, text string, most int) {
		if text != "" {
			out[key] = shorten(text, most, r)
		}
	}
	add(Error, r.Error, 768)
	add(Waiting, r.Waiting, 1024)
	add(Solution, steps(r.Solution), 1280)
	if len(f.warned.Checks) > 0 {
		out[Warned] = f.warned.text()
	}
	analysis := strings.TrimSpace(strings.Join(append([]string{r.Analysis}, r.Remarks...), " ")) + f.warned.sentence(r)
	// kubectl describe cuts each line at 140 characters (kubectl pkg/describe, maxAnnotationLen): what is not shown has its own.
	analysis = strings.ReplaceAll(analysis, " Not shown: ", "\nNot shown: ")
	if r.Story != nil {
		// The rules' text comes first and is never shortened for the model's.
		room := 2560 - len(analysis) - len(r.Story.Model) - 40
		if told := whole(r.Story.Text, room); told != "" {
			analysis += fmt.Sprintf("\nAs %s tells it:\n%s", r.Story.Model, told)
		}
		if said := whole(strings.Join(r.Story.Unsupported, "\n"), 2400-len(analysis)-len(r.Story.Model)); said != "" {
			analysis += fmt.Sprintf("\nNot supported by what was read (%s):\n%s", r.Story.Model, said)
		}
		if left := joined(r.Story.LeftOut, r.Story.Refused); left != "" && len(analysis)+len(left) < 2500 {
			analysis += fmt.Sprintf("\n(%s: %s)", r.Story.Model, left)
		}
	}
	add(Analysis, analysis, 2560)
	out[Diagnosis] = f.json(Budget - size(out) - len(Diagnosis))
	if account := r.Attempts.Encode(); account != "" {
		out[Attempts] = account // has a bound of its own
	}
	return out
}

// json is the machine's annotation in at most most bytes; what does not fit is counted.
func (f finding) json(most int) string {
	r := f.result
	s := stored{
		Schema: storedSchema, Verdict: r.Verdict, Category: r.Category, Coverage: r.Coverage, Fingerprint: f.print,
		ObservedAt: r.Observed.UTC().Format(time.RFC3339), State: stateMark(f.state), Asked: cut(f.asked, 64),
	}
	if r.Root != nil {
		root := causeOf(*r.Root)
		s.Root = &root
	}
	for _, e := range r.Effects {
		s.Effects = append(s.Effects, effectOf(e))
	}
	if r.Story != nil {
		s.Model = r.Story.Model
		s.Story = &storedStory{Text: r.Story.Text, Unsupported: r.Story.Unsupported, Prompt: r.Story.Prompt, Cites: r.Story.Cites, Dropped: r.Story.Dropped, LeftOut: r.Story.LeftOut, Refused: r.Story.Refused}
		if n := r.Story.Nominated; n != nil {
			s.Story.Nominated = &storedNomination{n.Item.ID, cut(n.Item.Text, 300), n.Category, n.Standing, n.Supports}
		}
	}
	return s.within(most)
}

// within leaves things out until the JSON fits: effects beyond the first five, the list of what
// was missing beyond three, the story, all effects, the root's facts.
func (s stored) within(most int) string {
	steps := []func(){
		func() { s.leave("effects", trim(&s.Effects, 5)) },
		func() { s.leave("sources that failed", trim(&s.Coverage.Missing, 3)) },
		func() {
			if s.Story != nil {
				s.Story = nil
				s.leave("story", 1)
			}
		},
		func() { s.leave("effects", trim(&s.Effects, 0)) },
		func() { s.leave("sources that failed", trim(&s.Coverage.Missing, 0)) },
		func() {
			if s.Root != nil {
				s.leave("facts", len(s.Root.Facts))
				s.Root.Facts = nil
				s.Root.Line = cut(s.Root.Line, 80)
				s.Root.Cites = s.Root.Cites[:min(1, len(s.Root.Cites))]
			}
		},
	}
	for {
		text, err := json.Marshal(s)
		if err != nil || len(text) <= most || len(steps) == 0 {
			return string(text)
		}
		steps[0]()
		steps = steps[1:]
	}
}

// joined are sentences that are there.
func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

func (s *stored) leave(what string, n int) {
	if n > 0 {
		s.LeftOut = append(s.LeftOut, fmt.Sprintf("%d %s", n, what))
	}
}

func trim[T any](list *[]T, most int) int {
	n := len(*list) - most
	if n <= 0 {
		return 0
	}
	*list = (*list)[:most:most]
	return n
}

func stateMark(s kinds.State) string {
	if s.Phase == kinds.PhaseUnknown {
		return ""
	}
	return fmt.Sprintf("%d@%s", s.Phase, s.Since)
}

// readStored reads what stands on a job; ok is false where nothing readable does.
func readStored(annotations map[string]string) (s stored, ok bool) {
	text := annotations[Diagnosis]
	if text == "" || json.Unmarshal([]byte(text), &s) != nil || s.Schema != storedSchema {
		return stored{}, false
	}
	return s, true
}

// ours are the annotations of a job that Signalbox writes.
func ours(annotations map[string]string) map[string]string {
	out := map[string]string{}
	for _, key := range owned {
		if v, ok := annotations[key]; ok {
			out[key] = v
		}
	}
	return out
}

// same says that two sets of annotations tell the same. The time of the observation and how much
// was read change without anybody having anything new to say.
func same(a, b map[string]string) bool {
	return maps.Equal(comparable(a), comparable(b))
}

func comparable(m map[string]string) map[string]string {
	m = maps.Clone(m)
	s, ok := readStored(m)
	if !ok {
		return m
	}
	delete(m, Diagnosis)
	model, story := s.Model, ""
	if s.Story != nil {
		story = s.Story.Text + strings.Join(s.Story.Unsupported, "\n") + s.Story.LeftOut + s.Story.Refused
		if n := s.Story.Nominated; n != nil {
			story += "\x00" + string(n.Line) + n.Category + string(n.Standing)
		}
	}
	m["what"] = strings.Join([]string{s.Fingerprint, string(s.Verdict), s.Category, s.Asked, model, story}, "\x00")
	return m
}
