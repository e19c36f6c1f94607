package ground

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A claim may have every word of a line and say something else with them. What is shown as what the evidence says has them as a line has them: in
// its order, with no number of the line left out between two of them, and with a word for why only where the line has one, or where the rules
// decided what came of what.

// inLine are the words, names and numbers of a text in their order, as stems; units are none.
func inLine(text string) (out []string) {
	for _, w := range wordShape.FindAllString(strings.ReplaceAll(hanProcess.ReplaceAllString(byNumber.ReplaceAllString(strings.ToLower(text), "$1$2"), "rank$1 "), "=", " "), -1) {
		switch w = strings.Trim(w, ".:,-/~+@"); {
		case w == "" || units[w] != 0:
		case digitsOnly(w):
			out = append(out, strings.TrimRight(strings.TrimRight(decimal(w), "0"), "."))
		case len(w) > 2 && !holding[w] && !empty[w]:
			out = append(out, stem(w))
		}
	}
	return out
}

// byNumber is a member by its number.
var byNumber = lazy.MustCompile(`\b(rank|worker|master|launcher)[\s:#_="]{1,12}(\d+)\b`)

// hanProcess is one in Chinese.
var hanProcess = lazy.MustCompile(`第?\s*(\d+)\s*号进程`)

// numberedMember is one in a word.
var numberedMember = lazy.MustCompile(`^(?:rank|worker|master|launcher)\d+$`)

// lineRead is one of what a claim cites: its words in their order, and who wrote it, where and when.
type lineRead struct {
	words []string
	of    map[string]bool
	text  string // as it was written
	pod   string // of which it is
}

// has says whether the words of a part of a claim stand in a line in the same order, with no number left out between two of them.
func (l lineRead) has(part []string) bool {
	last := -1
	for _, w := range part {
		if l.of[w] {
			continue
		}
		at := slices.Index(l.words[last+1:], w)
		if at < 0 || last >= 0 && slices.ContainsFunc(l.words[last+1:last+1+at], counting) {
			return false
		}
		last += 1 + at
	}
	return true
}

// labelMark stands between a label and what is said of it: both are of one line.
var labelMark = lazy.MustCompile(`:\s|：`)

// sentenceMark ends a sentence or a clause of a line.
var sentenceMark = lazy.MustCompile(`([.;])\s+`)

// counting says whether a word is a number, or stands for one; a time is none.
func counting(w string) bool {
	return unicode.IsDigit(rune(w[0])) && !strings.Contains(w, ":") || notFinite[w]
}

// linesOf are the lines of a piece of evidence, read once.
func (g *grounds) linesOf(id evidence.ID) []lineRead {
	out, ok := g.lines[id]
	if !ok {
		item := g.items[id]
		of := map[string]bool{}
		for _, w := range []string{item.Source.Pod, item.Source.Node, item.Source.Container, item.Source.Role, item.Source.File, "rank" + g.rankOf(item), cmp.Or(item.Source.Role, "-") + strconv.Itoa(item.Source.Rank)} {
			of[strings.ToLower(w)], of[stem(strings.ToLower(w))] = true, true // a claim's words are stems: a leader is a lead
		}
		if at := item.Told().UTC(); !at.IsZero() {
			of[at.Format("15:04")], of[at.Format("15:04:05")] = true, true
		}
		for said := range strings.Lines(sentenceMark.ReplaceAllString(item.Text, "$1\n") + "\n" + restated(item.Text) + timesOf(item)) {
			out = append(out, lineRead{inLine(said), of, said, item.Source.Pod})
		}
		g.lines[id] = out
	}
	return out
}

// linesRead are the lines of what is cited, and of what the rules say where that is cited for the cause.
func (g *grounds) linesRead(cites []evidence.ID) (out []lineRead) {
	root, pod := map[string]bool{}, ""
	for _, id := range cites {
		lines := g.linesOf(id)
		out = append(out, lines...)
		if slices.Contains(g.Root, id) && len(lines) > 0 {
			maps.Copy(root, lines[0].of)
			pod = lines[0].pod
		}
	}
	if g.ofRoot(cites) {
		for said := range strings.Lines(g.Says) {
			out = append(out, lineRead{inLine(said), root, said, pod})
		}
	}
	return out
}

// asRead says whether each part of a claim has the words of its evidence, those in Chinese as well, as one line or one clause of that has them, and
// something of one. Numbers that stand in no line may be worked out of some, where that is so.
func (g *grounds) asRead(c *claim, workedOut bool) bool {
	lines, told, owner := g.linesRead(c.cites), g.ofRoot(c.cites), ""
	for _, part := range parts.Split(labelMark.ReplaceAllString(c.unquoted, " | "), -1) {
		said := slices.DeleteFunc(inLine(part), func(w string) bool {
			return !g.who[w] && (workedOut || !digitsOnly(w)) && !numberedMember.MatchString(w) && !slices.ContainsFunc(lines, func(l lineRead) bool { return l.of[w] || slices.Contains(l.words, w) })
		})
		signs := slices.DeleteFunc(hanSigns(part), func(sign *lazy.Regexp) bool { return !sign.MatchString(c.texts) })
		goesOn := !g.namesSomebody(part) // it is of who was named before
		bears := func(l lineRead) bool {
			return !(goesOn && owner != "" && l.pod != "" && l.pod != owner) && l.has(said) && !slices.ContainsFunc(signs, func(sign *lazy.Regexp) bool { return !sign.MatchString(l.text) })
		}
		at := slices.IndexFunc(lines, bears)
		if at < 0 || slices.ContainsFunc(lines, func(l lineRead) bool { return bears(l) && !g.sameLayers(part, l.text) }) {
			return false
		}
		if !goesOn {
			owner = lines[at].pod
		}
		told = told || slices.ContainsFunc(said, func(w string) bool { return !lines[at].of[w] })
	}
	return told || c.unquoted != c.body
}

// namesSomebody says whether a part of a claim has the name, the number or the role of a member or a node.
func (g *grounds) namesSomebody(part string) bool {
	return members.MatchString(part) || indexed.MatchString(part) || slices.ContainsFunc(wordShape.FindAllString(strings.ToLower(part), -1), func(w string) bool {
		w = strings.TrimSuffix(strings.Trim(w, ".:,-/~+@"), "'s")
		return w != "" && g.who[w]
	})
}

// toldWhy says whether a claim gives a reason that its evidence gives, or that the rules found.
func (g *grounds) toldWhy(c *claim, said string) bool {
	if m := causeLabel.FindStringIndex(said); m != nil {
		if said = said[m[1]:]; slices.ContainsFunc(c.cites, func(id evidence.ID) bool { return !slices.Contains(g.Root, id) }) {
			return false
		}
	}
	words := append(connectives(backward, said, true), connectives(forward, said, false)...)
	at := causal.FindStringIndex(said)
	if len(words) == 0 && at == nil {
		return true
	}
	if root, rest := g.sides(c.cites); root != "" && rest != "" {
		if len(words) != 1 {
			return false
		}
		cause, effect := said[:words[0].from], said[words[0].to:]
		if words[0].backward {
			cause, effect = effect, cause
		}
		return lean(cause, root, rest) > 0 && lean(effect, root, rest) < 0
	}
	if len(words) == 1 && words[0].backward && g.ofRoot(c.cites) && theJobFailed.MatchString(said[:words[0].from]) && len(content(said[:words[0].from])) == 0 {
		has := stemsOf(c.texts)
		return slices.ContainsFunc(tellingWords(said[words[0].to:]), has.has) // that is what the cause is the cause of
	}
	word := ""
	if at != nil {
		word = said[at[0]:at[1]]
	} else {
		word = said[words[0].from:words[0].to]
	}
	return strings.Contains(strings.ToLower(c.texts), strings.ToLower(word)) || g.ofRoot(c.cites) && strings.Contains(strings.ToLower(g.Says), strings.ToLower(word))
}

// causeLabel calls what follows the cause, and theJobFailed begins a clause about nothing but the job.
var (
	causeLabel   = lazy.MustCompile(`(?i)^\W*(?:root[ -])?cause\W*[:：]`)
	theJobFailed = lazy.MustCompile(`(?i)^\W*(?:the )?(?:whole )?(?:job|run|training|program|it) (?:has |had )?(?:failed|ended|stopped|died|crashed) $`)
)
