package ground

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A step comes from the rules, by its number or in its words, or it is a command that only reads, about
// the job's own objects. What a model makes up is not shown as something to do, and what a log says is
// never a command.

var remedy = lazy.MustCompile(`(?i)^\s*(?:\d+[.)]\s*)?(?:use |apply |follow |see )?(?:the )?(?:\[?(?:remedy|step|solution|措施|步骤)[ /#]*(\d{1,2})\]?|\[?#?(\d{1,2})\]?)\s*[.。:：]?\s*$`)

// steps is what is left of a solution.
func (g *grounds) steps(text string) string {
	var kept []string
	room := MaxText
	for _, s := range sentences(bare.ReplaceAllString(text, "${1}remedy $2")) {
		g.sentences++
		if g.sentences > mostSentences {
			g.drop(TooLong)
			continue
		}
		step, why := g.step(s)
		switch {
		case why == "" && len(step)+4 > room:
			why = TooLong
		case why == "" && slices.Contains(kept, step):
			continue
		}
		if why != "" {
			g.drop(why)
			continue
		}
		room -= len(step) + 4
		kept = append(kept, step)
	}
	for i := range kept {
		kept[i] = strconv.Itoa(i+1) + ". " + kept[i]
	}
	return strings.Join(kept, "\n")
}

// bare is the number of a remedy alone on its line.
var bare = lazy.MustCompile(`(?m)^(\s*)\[?#?(\d{1,2})\]?\s*[.。]?\s*$`)

// step is a step as it is shown, or why it is not.
func (g *grounds) step(s string) (string, Reason) {
	body := strings.TrimSpace(brackets.ReplaceAllStringFunc(s, func(b string) string {
		if strings.HasPrefix(b, "[remedy/") {
			return b
		}
		if slices.ContainsFunc(cited(b[1:len(b)-1]), idShape.MatchString) {
			return ""
		}
		return b
	}))
	if m := remedy.FindStringSubmatch(body); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2])
		if n < 1 || n > len(g.Remedies) {
			return "", NotOffered
		}
		return g.Remedies[n-1], ""
	}
	body = strings.TrimSpace(itemNumber.ReplaceAllString(body, ""))
	for _, offered := range g.Remedies {
		if saysAsMuch(body, offered) {
			return offered, ""
		}
	}
	for _, offered := range g.Remedies {
		if g.putsOtherwise(body, offered) {
			return offered, ""
		}
	}
	if command, ok := g.reads(body); ok {
		return "`" + command + "`", ""
	}
	if commands(body) {
		return "", Command
	}
	return "", NotOffered
}

// advised are the steps of the rules that a sentence is about: by its number or in its words, or where a third of what it tells stands in them. They are
// shown in the rules' words, and nothing of the sentence is, so that what else it may mean does no harm.
func (g *grounds) advised(s, body string) (offered []string) {
	if step, no := g.step(s); no == "" && !strings.HasPrefix(step, "`") {
		return []string{step}
	}
	if commands(g.plainly(body)) {
		return nil
	}
	words, signs := slices.Concat(tellingWords(body), looked(body)), hanSigns(body)
	shared := func(remedies string) (n int) {
		has := vocabulary(remedies)
		for _, w := range words {
			if has(w) {
				n++
			}
		}
		for _, sign := range signs {
			if sign.MatchString(remedies) {
				n++
			}
		}
		return n
	}
	if n := shared(strings.Join(g.Remedies, "\n")); n < 2 || 3*n < len(words)+len(signs) {
		return nil
	}
	most := shared(slices.MaxFunc(g.Remedies, func(a, b string) int { return shared(a) - shared(b) }))
	return slices.DeleteFunc(slices.Clone(g.Remedies), func(r string) bool { return shared(r) < min(2, most) })
}

var itemNumber = lazy.MustCompile(`^\d{1,2}[.)]\s+`)

// saysAsMuch says whether a step says no more than an offered one: nearly all of its words are there, and
// what can be looked up.
func saysAsMuch(step, offered string) bool {
	for _, w := range looked(step) {
		if !containsToken(offered, w) {
			return false
		}
	}
	if negation.MatchString(step) != negation.MatchString(offered) || commands(step) || han(step) && !han(offered) {
		return false
	}
	var rest []string // of the words of the one that is offered: the order of words is what they say
	for _, w := range wordShape.FindAllString(offered, -1) {
		rest = append(rest, stem(strings.Trim(w, ".,:")))
	}
	n, of := 0, 0
	for _, w := range wordShape.FindAllString(step, -1) {
		if w = strings.Trim(w, ".,:"); len(w) > 2 {
			of++
			if i := slices.Index(rest, stem(w)); i >= 0 {
				rest = rest[i+1:]
				n++
			}
		}
	}
	return of >= 2 && n*10 >= of*9
}

// stated is a verb of what is so, and not of what is to be done.
var stated = lazy.MustCompile(`(?i)\b(?:is|are|was|were)\b`)

// putsOtherwise says whether a step has no word that tells something but those of an offered one, and the names of what failed: the offered one is
// shown, and what else the step may mean is not.
func (g *grounds) putsOtherwise(step, offered string) bool {
	if negation.MatchString(step) != negation.MatchString(offered) || commands(step) || stated.MatchString(step) && !stated.MatchString(offered) {
		return false
	}
	found := g.support(g.Root)
	if slices.ContainsFunc(looked(step), func(w string) bool { return !containsToken(offered, w) && !holds(found, w) }) {
		return false
	}
	if han(step) {
		signs := hanSigns(step)
		return len(signs) > 2 && !slices.ContainsFunc(signs, func(s *lazy.Regexp) bool { return !s.MatchString(offered) })
	}
	var rest []string
	for _, w := range wordShape.FindAllString(offered, -1) {
		rest = append(rest, stem(strings.Trim(w, ".,:")))
	}
	all, of, inOrder := slices.Clone(rest), 0, 0
	for _, w := range wordShape.FindAllString(step, -1) {
		if w = strings.ToLower(strings.Trim(w, ".,:")); len(w) < 3 || stops[w] && !degrees[w] || !letters(w) {
			continue
		}
		if of++; !slices.Contains(all, stem(w)) {
			return false
		}
		if i := slices.Index(rest, stem(w)); i >= 0 {
			rest = rest[i+1:]
			inOrder++
		}
	}
	return of > 2 && inOrder*4 >= of*3
}

// degrees are words of which the contrary is another step.
var degrees = words("more most less least before after up down off out only all both")

func han(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

var readOnly = map[string][]string{
	"kubectl": {"get", "describe", "logs", "top", "events"},
}

// objects are what a read-only command may be about, and whether it may list all of them in the job's namespace.
var objects = map[string]bool{
	"pod": true, "pods": true, "po": true, "job": true, "jobs": true, "jobset": true, "jobsets": true, "node": false, "nodes": false, "event": true, "events": true,
	"resourcequota": true, "resourcequotas": true, "quota": true,
}

// flags are the options of read-only commands that change nothing but what is shown.
var flags = lazy.MustCompile(`^(?:--previous|-p|--tail=\d+|--since=\d+[smh]|--timestamps|-o|-o=?(?:wide|yaml)|wide|yaml|--all-containers(?:=true)?|-c|-n|--namespace|--namespace=\S+|-n=\S+|--container=\S+)$`)

// reads is the command of a step, where all of the step is one command that only reads about the job's
// own objects, or lists what is in its namespace.
func (g *grounds) reads(step string) (string, bool) {
	text := strings.TrimRight(step, ".。 ")
	if i, j := strings.IndexByte(text, '`'), strings.LastIndexByte(text, '`'); i >= 0 && j > i {
		before, after := strings.ToLower(strings.TrimSpace(text[:i])), strings.TrimSpace(text[j+1:])
		if after != "" || !lead.MatchString(before) {
			return "", false
		}
		text = text[i+1 : j]
	} else {
		text = lead.ReplaceAllString(text, "")
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return "", false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Background || stmt.Negated || stmt.Coprocess || len(stmt.Redirs) > 0 || len(call.Assigns) > 0 || len(call.Args) < 3 || len(file.Last) > 0 {
		return "", false
	}
	var args []string
	for _, a := range call.Args {
		literal := a.Lit()
		if literal == "" || strings.ContainsAny(literal, `\*?[]{}~`) {
			return "", false
		}
		args = append(args, literal)
	}
	verbs, ok := readOnly[args[0]]
	if !ok || !slices.Contains(verbs, args[1]) {
		return "", false
	}
	named, lists, here := false, args[1] == "events", false
	for i, a := range args[2:] {
		kind, name, both := strings.Cut(a, "/")
		before := args[i+1]
		switch {
		case before == "-c" && !g.container(a), strings.HasPrefix(a, "--container=") && !g.container(a[len("--container="):]):
			return "", false
		case before == "-c", a == "--field-selector":
		case before == "--field-selector":
			if of, ok := strings.CutPrefix(a, "involvedObject.name="); !ok || !slices.Contains(g.Names, of) {
				return "", false
			}
			named = true
		case a == g.Namespace:
			here = here || before == "-n" || before == "--namespace"
		case slices.Contains(g.Names, a), both && g.object(kind) && slices.Contains(g.Names, name):
			named = true
		case g.object(a):
			all, known := objects[strings.ToLower(a)]
			lists = args[1] == "get" && (all || !known)
		case flags.MatchString(a):
			if _, value, ok := strings.Cut(a, "="); ok && (strings.HasPrefix(a, "--namespace") || strings.HasPrefix(a, "-n=")) {
				if value != g.Namespace {
					return "", false
				}
				here = true
			}
		default:
			return "", false
		}
	}
	return strings.Join(args, " "), named || lists && here
}

// container says whether a container of the job has that name.
func (g *grounds) container(name string) bool {
	return name != "" && slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return i.Source.Container == name })
}

// object says whether a read-only command may be about objects of that name: of the job's own kind, too.
func (g *grounds) object(name string) bool {
	low, kind := strings.ToLower(name), strings.ToLower(g.Kind)
	_, known := objects[low]
	return known || kind != "" && (low == kind || low == kind+"s")
}

// lead is what may stand before a command.
var lead = lazy.MustCompile(`(?i)^(?:\d+[.)]\s*)?(?:(?:run|see|read|look at|check(?: with)?|运行|查看)[:：]?)?\s*$|^(?:run|see|read|look at|check(?: with)?|运行|查看)[:：]?\s+`)
