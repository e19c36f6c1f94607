package explain

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ground"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// Answers remembers what a model wrote about failures, so that one which many jobs have is asked about
// once. Two failures are the same where the rules say the same of them but for ranks, pods, nodes, times,
// numbers of processes and the like. An answer is told of another job with that job's names and numbers in
// their place, and held against that job's own evidence like any other: what is not supported there is
// not shown, and where less would be left than of the first job, the model is asked anew.
//
// It is safe for concurrent use; equal questions at the same time wait for the first.
type Answers struct {
	mu    sync.Mutex
	known map[string]remembered
	order []string // of the keys, the one that was used last at the end
	asked singleflight.Group
}

// mostAnswers bounds what is remembered: some KiB each.
const mostAnswers = 512

// NewAnswers remembers nothing yet.
func NewAnswers() *Answers { return &Answers{known: map[string]remembered{}} }

func (a *Answers) get(key string) (remembered, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, ok := a.known[key]
	if ok {
		a.used(key)
	}
	return m, ok
}

func (a *Answers) put(key string, m remembered) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[key] = m
	if a.used(key); len(a.order) > mostAnswers {
		delete(a.known, a.order[0])
		a.order = slices.Delete(a.order, 0, 1)
	}
}

func (a *Answers) used(key string) {
	if i := slices.Index(a.order, key); i >= 0 {
		a.order = slices.Delete(a.order, i, i+1)
	}
	a.order = append(a.order, key)
}

// remembered is an answer with the names and numbers of the job that it was given for.
type remembered struct {
	Text      string `json:"text"`
	Model     string `json:"model"`
	Kept      int    `json:"kept"` // sentences that were supported there
	Of        traits `json:"of"`
	Nominated string `json:"nominated,omitempty"` // the form of the line that was named as the cause and accepted; empty: none
	In        int    `json:"in"`                  // tokens that it took
	Out       int    `json:"out"`
}

// traits are what tells one job's failure from another's of the same cause, in an order that both share.
type traits struct {
	Names []string          `json:"names"`
	IDs   []evidence.ID     `json:"ids"`
	Texts []string          `json:"texts"` // of the IDs
	Facts map[string]string `json:"facts,omitempty"`
	Ranks []int             `json:"ranks"`
}

// key is equal for failures of which the rules say the same, asked about by the same question.
func key(q Question, r diagnose.Result, model string) string {
	var b strings.Builder
	part := func(s string) { b.WriteString(strconv.Itoa(len(s)) + ":" + s) }
	blind := blinder(r)
	for _, s := range []string{model, q.Request.System, q.Template, q.source, r.Job.Kind, string(r.Verdict), r.Category, blind(r.Error)} {
		part(s)
	}
	if c := r.Root; c != nil {
		part(c.Signature)
		part(string(c.Standing))
		part(blind(c.Line))
		for _, name := range slices.Sorted(maps.Keys(c.Facts)) {
			part(name + "=" + blind(c.Facts[name]))
		}
	}
	var effects []string
	for _, e := range r.Effects {
		effects = append(effects, e.Signature)
	}
	slices.Sort(effects)
	for _, e := range slices.Compact(effects) {
		part(e)
	}
	for _, step := range r.Solution {
		part(blind(step))
	}
	for _, form := range unknownForms(r, blind) {
		part(form)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:])
}

// mostForms is how many lines tell one unknown failure from another.
const mostForms = 3

// unknownForms are the last lines of an inconclusive job that may be its cause, without names and numbers, and that
// say that something is wrong: failures that no rule knows differ by them alone.
func unknownForms(r diagnose.Result, blind func(string) string) (out []string) {
	if r.Verdict != diagnose.Inconclusive {
		return nil
	}
	for _, n := range slices.Backward(r.Nominees) {
		form := blind(strings.TrimSpace(reduce.Written(n.Item.Text)))
		if n.Why == "" && n.Suspect && !slices.Contains(out, form) {
			if out = append(out, form); len(out) == mostForms {
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

// digits are numbers, and what looks like a hash or an address in memory.
var digits = regexp.MustCompile(`(?i)0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+`)

// blinder takes from a text the names of the job and its members, and all numbers.
func blinder(r diagnose.Result) func(string) string {
	var pairs []pair
	for _, n := range namesOf(r) {
		pairs = append(pairs, pair{n, "·"})
	}
	return func(s string) string { return digits.ReplaceAllString(swap(s, pairs), "0") }
}

// namesOf are the names of a job, its cause's place and its consequences' places, in this order.
func namesOf(r diagnose.Result) []string {
	out := []string{r.Job.Name, r.Job.Namespace}
	of := func(c diagnose.Cause) { out = append(out, c.Source.Pod, c.Source.Node, c.Source.File) }
	if r.Root != nil {
		of(*r.Root)
	}
	for _, e := range byID(r.Effects) {
		of(e)
	}
	return out
}

// byID are effects in the order of what they are called: which of them was seen first differs between jobs.
func byID(effects []diagnose.Cause) []diagnose.Cause {
	out := slices.Clone(effects)
	slices.SortStableFunc(out, func(a, b diagnose.Cause) int { return cmp.Compare(a.Signature, b.Signature) })
	return out
}

func traitsOf(r diagnose.Result) traits {
	t := traits{Names: namesOf(r), Facts: map[string]string{}}
	texts := map[evidence.ID]string{}
	for _, item := range r.Evidence {
		texts[item.ID] = item.Text
	}
	of := func(c diagnose.Cause) {
		t.Ranks = append(t.Ranks, c.Source.Rank)
		for _, id := range c.Cites {
			t.IDs, t.Texts = append(t.IDs, id), append(t.Texts, texts[id])
		}
	}
	if r.Root != nil {
		of(*r.Root)
		maps.Copy(t.Facts, r.Root.Facts)
	}
	for _, e := range byID(r.Effects) {
		of(e)
	}
	return t
}

// pair is a word of one job and what stands in its place for another.
type pair struct{ old, new string }

// between are the words of one job that are others in another; what would stand for two different words
// stands for none.
func between(from, to traits) []pair {
	means := map[string]string{}
	lost := map[string]bool{}
	add := func(a, b string) {
		if a == "" || b == "" {
			return
		}
		if before, ok := means[a]; ok && before != b {
			lost[a] = true
		}
		means[a] = b
	}
	for i := range min(len(from.IDs), len(to.IDs)) {
		add(string(from.IDs[i]), string(to.IDs[i]))
		a, b := digits.FindAllString(from.Texts[i], -1), digits.FindAllString(to.Texts[i], -1)
		if len(a) != len(b) || digits.ReplaceAllString(from.Texts[i], "0") != digits.ReplaceAllString(to.Texts[i], "0") {
			continue
		}
		for k := range a {
			if len(a[k]) > 1 { // one digit is a rank here and a count there
				add(a[k], b[k])
			}
		}
	}
	for i := range min(len(from.Names), len(to.Names)) {
		add(from.Names[i], to.Names[i])
	}
	for name, value := range from.Facts {
		if len(value) > 1 {
			add(value, to.Facts[name])
		}
	}
	for i := range min(len(from.Ranks), len(to.Ranks)) {
		if from.Ranks[i] >= 0 && to.Ranks[i] >= 0 {
			add(fmt.Sprintf("rank %d", from.Ranks[i]), fmt.Sprintf("rank %d", to.Ranks[i]))
			add(fmt.Sprintf("Rank %d", from.Ranks[i]), fmt.Sprintf("Rank %d", to.Ranks[i]))
		}
	}
	var out []pair
	for _, old := range slices.Sorted(maps.Keys(means)) {
		if !lost[old] && old != means[old] {
			out = append(out, pair{old, means[old]})
		}
	}
	return out
}

// swap replaces whole words, the longest that matches at each place, and looks at nothing twice.
func swap(text string, pairs []pair) string {
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.old == "" })
	if len(pairs) == 0 {
		return text
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(len(b.old), len(a.old)) })
	var b strings.Builder
	for i := 0; i < len(text); {
		k := -1
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); !wordy(before) {
			k = slices.IndexFunc(pairs, func(p pair) bool {
				if !strings.HasPrefix(text[i:], p.old) {
					return false
				}
				after, _ := utf8.DecodeRuneInString(text[i+len(p.old):])
				return !wordy(after)
			})
		}
		if k >= 0 {
			b.WriteString(pairs[k].new)
			i += len(pairs[k].old)
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		b.WriteString(text[i : i+n])
		i += n
	}
	return b.String()
}

func wordy(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}

// find is an answer of before as it is told of this job, if as much of it is supported as was then.
func (a *Answers) find(key string, q Question, r diagnose.Result) (told Told, ok bool) {
	was, ok := a.get(key)
	if !ok {
		return Told{}, false
	}
	answer := ground.Parse(swap(was.Text, between(was.Of, traitsOf(r))))
	answer.Nominate.Line, answer.Nominate.Quote = "", ""
	if was.Nominated != "" {
		blind := blinder(r)
		i := slices.IndexFunc(r.Nominees, func(n diagnose.Nominee) bool {
			return n.Why == "" && blind(reported(n.Item)) == was.Nominated
		})
		if i < 0 {
			return Told{}, false
		}
		answer.Nominate.Line = string(r.Nominees[i].Item.ID)
	}
	story, kept := judged(answer, was.Model, q, r)
	if kept.Supported() < was.Kept || was.Nominated != "" && story.Nominated == nil {
		return Told{}, false
	}
	return Told{Story: story, Shared: true, Saved: Saved{In: was.In, Out: was.Out}}, true
}

// add remembers an answer.
func (a *Answers) add(key string, r diagnose.Result, answer llm.Response, kept ground.Kept, n *diagnose.Nominated) {
	m := remembered{Text: answer.Text, Model: answer.Model, Kept: kept.Supported(), Of: traitsOf(r), In: answer.TokensIn, Out: answer.TokensOut}
	if n != nil {
		m.Nominated = blinder(r)(n.Item.Text)
	}
	a.put(key, m)
}
