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
	"unicode"
	"unicode/utf8"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ground"
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
	known *lru.Cache
	asked singleflight.Group
}

// mostAnswers bounds what is remembered: some KiB each.
const mostAnswers = 512

// NewAnswers remembers nothing yet.
func NewAnswers() *Answers { return &Answers{known: lru.New(mostAnswers)} }

// remembered is an answer with the names and numbers of the job that it was given for.
type remembered struct {
	text, model string
	kept        int // sentences that were supported there
	of          traits
	nominated   string // the form of the line that was named as the cause and accepted; empty: none
}

// traits are what tells one job's failure from another's of the same cause, in an order that both share.
type traits struct {
	names []string
	ids   []evidence.ID
	texts []string // of the ids
	facts map[string]string
	ranks []int
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
	t := traits{names: namesOf(r), facts: map[string]string{}}
	texts := map[evidence.ID]string{}
	for _, item := range r.Evidence {
		texts[item.ID] = item.Text
	}
	of := func(c diagnose.Cause) {
		t.ranks = append(t.ranks, c.Source.Rank)
		for _, id := range c.Cites {
			t.ids, t.texts = append(t.ids, id), append(t.texts, texts[id])
		}
	}
	if r.Root != nil {
		of(*r.Root)
		maps.Copy(t.facts, r.Root.Facts)
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
	for i := range min(len(from.ids), len(to.ids)) {
		add(string(from.ids[i]), string(to.ids[i]))
		a, b := digits.FindAllString(from.texts[i], -1), digits.FindAllString(to.texts[i], -1)
		if len(a) != len(b) || digits.ReplaceAllString(from.texts[i], "0") != digits.ReplaceAllString(to.texts[i], "0") {
			continue
		}
		for k := range a {
			if len(a[k]) > 1 { // one digit is a rank here and a count there
				add(a[k], b[k])
			}
		}
	}
	for i := range min(len(from.names), len(to.names)) {
		add(from.names[i], to.names[i])
	}
	for name, value := range from.facts {
		if len(value) > 1 {
			add(value, to.facts[name])
		}
	}
	for i := range min(len(from.ranks), len(to.ranks)) {
		if from.ranks[i] >= 0 && to.ranks[i] >= 0 {
			add(fmt.Sprintf("rank %d", from.ranks[i]), fmt.Sprintf("rank %d", to.ranks[i]))
			add(fmt.Sprintf("Rank %d", from.ranks[i]), fmt.Sprintf("Rank %d", to.ranks[i]))
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
func (a *Answers) find(key string, q Question, r diagnose.Result) (*diagnose.Story, bool) {
	found, ok := a.known.Get(key)
	if !ok {
		return nil, false
	}
	was, ok := found.(remembered)
	if !ok {
		return nil, false
	}
	answer := ground.Parse(swap(was.text, between(was.of, traitsOf(r))))
	answer.Nominate.Line, answer.Nominate.Quote = "", ""
	if was.nominated != "" {
		blind := blinder(r)
		i := slices.IndexFunc(r.Nominees, func(n diagnose.Nominee) bool {
			return n.Why == "" && blind(strings.TrimSpace(reduce.Written(n.Item.Text))) == was.nominated
		})
		if i < 0 {
			return nil, false
		}
		answer.Nominate.Line = string(r.Nominees[i].Item.ID)
	}
	story, kept := judged(answer, was.model, q, r)
	if kept.Sentences-kept.Dropped < was.kept || was.nominated != "" && story.Nominated == nil {
		return nil, false
	}
	return story, true
}

// add remembers an answer.
func (a *Answers) add(key string, r diagnose.Result, text, model string, kept ground.Kept, n *diagnose.Nominated) {
	m := remembered{text: text, model: model, kept: kept.Sentences - kept.Dropped, of: traitsOf(r)}
	if n != nil {
		m.nominated = blinder(r)(strings.TrimSpace(reduce.Written(n.Item.Text)))
	}
	a.known.Add(key, m)
}
