package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// That all is well contradicts a finding. What is said to be well of something else, of another time, or not at all, does not.

// noWell are words of a claim that all is well where it says no such thing: what is not healthy, an error file, what is normal for a signal.
var noWell = lazy.MustCompile(`(?i)\b(?:no|not|any|without|non)[ -](?:\w+ )?healthy\b|\bno (?:\w+ )?(?:error|crash|failure|problem)[ -](?:files?|messages?|lines?|logs?|reports?|codes?|details?|output|dumps?|traces?|stacks?)\b|\b(?:is|are|was|were) (?:\w+ )?(?:normal|usual|typical|expected) (?:for|with|when|if|on)\b|\bno (?:pod|rank|member|worker|node|process|one) (?:crashed|failed|died|stopped) (?:first|by itself|on its own)\b|\b(?:did|does|do)(?: not|n['’]t) (?:stop|end|finish|exit) (?:within|in time|by|on|before)\b|\bhad (?:been |already )?\w+(?: \w+){0,4} without (?:an?|any) (?:problem|difficulty|trouble|issue|error|hitch)\w*|\bhad been (?:\w+ )?(?:fine|ok|okay|well|normal|healthy)\b|\b(?:has|have|had) nothing to do\W*$|不健康|没有(?:任何)?健康的?|正常的?(?:动作|行为|现象|流程|步骤|反应)`)

// noCrash says that no program came to a bad end, and cameToEnd is what says that one did.
var (
	noCrash   = lazy.MustCompile(`(?i)\b(?:nothing|no (?:pod|process|container|worker)) (?:has |had )?crashed\b`)
	cameToEnd = lazy.MustCompile(`(?i)crash|exit code|killed|traceback|segmentation|abort|\w+Error\b`)
)

// harm are verbs of what went wrong, and how a process ended that did not end well.
var harm = lazy.MustCompile(`(?i)\b(?:fail(?:s|ed)|crash(?:es|ed)|kill(?:s|ed)|abort(?:s|ed)|died|time[ds]? out|timeouts?|refused|rejected|denied|evicted|ran out|SIG[A-Z]{3,4}|exit codes? [1-9]\d*|never (?:joined|came|arrived|started|answered))\b|失败|超时|崩溃|SIG[A-Z]{3,4}|退出码 ?[1-9]`)

// tellsOfHarm says whether a clause of a claim tells of something that went wrong, and says nothing to be well: then the claim does not say that all is.
func tellsOfHarm(body string) bool {
	return slices.ContainsFunc(joint.Split(body, -1), func(clause string) bool {
		rest, _ := affirmed(clause)
		return harm.MatchString(rest) && !well.MatchString(clause)
	})
}

// saysWell says whether a claim says all to be well, or nothing to be wrong.
func (g *grounds) saysWell(body string, cites []evidence.ID) bool {
	body = byItself.ReplaceAllString(g.succeededThere(g.withoutOthers(noWell.ReplaceAllString(body, " ")), cites), "followed")
	if !slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return cameToEnd.MatchString(i.Text) }) {
		body = noCrash.ReplaceAllString(body, " ")
	}
	body = g.withoutOtherThings(body)
	return well.MatchString(failing.ReplaceAllString(exhausted.ReplaceAllString(fineUntil.ReplaceAllString(body, "until"), "exhausted"), "failed"))
}

// hanWhole are words of Chinese for the job as a whole, and for what came to a good end.
var hanWhole = lazy.MustCompile(`作业|任务|训练|一切|全部|整体|成功|完成`)

// withoutOtherThings is a claim without the clauses that say something to be well of which the finding has no word: a credential, where requests are too
// many.
func (g *grounds) withoutOtherThings(body string) string {
	says := g.Says + "\n" + g.texts(g.Root)
	found, from := stemsOf(says), 0
	var b strings.Builder
	for _, m := range append(clauseMark.FindAllStringIndex(body, -1), []int{len(body), len(body)}) {
		clause := body[from:m[0]]
		about := slices.DeleteFunc(tellingWords(well.ReplaceAllString(g.withoutNames(clause), " ")), func(w string) bool { return neutral[w] || neutral[stem(w)] })
		signs := hanSigns(well.ReplaceAllString(clause, " "))
		if len(about)+len(signs) == 0 || hanWhole.MatchString(clause) || !han(clause) && ofTheWhole.MatchString(g.withoutNames(clause)) || slices.ContainsFunc(about, found.has) || slices.ContainsFunc(signs, func(s *lazy.Regexp) bool { return s.MatchString(says) }) {
			b.WriteString(body[from:m[1]])
		}
		from = m[1]
	}
	return b.String()
}

// sinceThen says that something was so later on.
var sinceThen = lazy.MustCompile(`(?i)\b(?:after(?:wards?)?|since|later|thereafter|again|now)\b|之后|以后|后来|目前|现在`)

// beforeIt says whether evidence is from before what the rules found, by the clock or by its place in the log, beside the lines of that, and tells of no
// failure: what went well then contradicts nothing.
func (g *grounds) beforeIt(cites []evidence.ID) bool {
	rest := slices.DeleteFunc(slices.Clone(cites), func(id evidence.ID) bool { return slices.Contains(g.Root, id) })
	return len(rest) > 0 && len(g.Root) > 0 && !slices.ContainsFunc(rest, func(id evidence.ID) bool {
		return denies(g.items[id].Text) || slices.Contains(g.Effects, id) || slices.ContainsFunc(g.Root, func(root evidence.ID) bool { return !g.before(id, root) })
	})
}

// unharmed says whether all pieces of evidence are the platform's own events, none of which is one of the cause or of a consequence, or tells of a
// failure itself: that something is well there contradicts nothing. A log is not believed so.
func (g *grounds) unharmed(cites []evidence.ID) bool {
	return !slices.ContainsFunc(cites, func(id evidence.ID) bool {
		return !strings.HasPrefix(string(id), "event/") || slices.Contains(g.Root, id) || slices.Contains(g.Effects, id) || denies(g.items[id].Text)
	})
}

// ofTheWhole are words for the job as a whole, or for nothing in particular.
var ofTheWhole = lazy.MustCompile(`(?i)\b(?:jobs?|runs?|training|everything|every(?:one|body)|all|nothing|nobody|cluster|system|pods?|it|this|that|they|no (?:\w+ )?(?:problems?|errors?|issues?|failures?|faults?|crash\w*|need|action)|false (?:alarm|positive)|success\w*)\b|作业|任务|训练|一切|全部|整体|没有|无需|无异常|无故障|成功`)

// ofSomethingElse says whether a claim rests on evidence that is none of the cause or of a consequence, and speaks of something in it: that this is
// well contradicts no finding.
func (g *grounds) ofSomethingElse(body string, cites []evidence.ID) bool {
	return len(cites) > 0 && !ofTheWhole.MatchString(g.withoutNames(body)) && !slices.ContainsFunc(cites, func(id evidence.ID) bool {
		return slices.Contains(g.Root, id) || slices.Contains(g.Effects, id) || denies(g.items[id].Text)
	})
}

// otherFine says that nothing is wrong with something.
var otherFine = lazy.MustCompile(`(?i)\b(?:nothing (?:is |was |seems )?wrong|not (?:just )?(?:a|an) (?:\w+ )?(?:problem|fault|issue|failure)|no (?:sign of (?:a |any )?)?(?:problems?|errors?|issues?|faults?|failures?)) (?:with|in|of|on|from) ([^,.;:]+)|\bno (?:need|reason) to [a-z]+ ([^,.;:]+)`)

// contrast is what something is not, behind what it is.
var contrast = lazy.MustCompile(`(?i)(?:,| and| but),? not (?:just |merely )?(?:an?|the) [^,.;]*[.]?$`)

// noSuchFault says of what kind a failure is not.
var noSuchFault = lazy.MustCompile(`(?i)(?:\b(?:and |but |rather than )?(?:is )?not?|n['’]t (?:die|fail|stop|end) (?:of|because of|from|by)) (?:just )?(?:an? )?((?:[a-z-]+ )?[a-z-]+) (?:problem|fault|issue|failure|matter)\b`)

// nothingToDo says of two things that they are apart.
var nothingToDo = lazy.MustCompile(`(?i) (?:has|have|had) nothing to do with `)

// notListed says that something is not among what was read: nothing of what happened.
var notListed = lazy.MustCompile(`(?i)\bno (?:[\w.-]+ ){1,6}(?:is|are|was|were) (?:indicated|suggested|shown|listed|given|printed|logged|recorded|visible|named|mentioned|among)\b`)

// withoutOthers is a claim without what it says to be fine, where the rules' finding is about something else: a network, where
// a size does not fit.
func (g *grounds) withoutOthers(body string) string {
	body = notListed.ReplaceAllString(nothingToDo.ReplaceAllString(body, " is apart from "), " ")
	if m := contrast.FindStringIndex(body); m != nil && denies(body[:m[0]]) && !negation.MatchString(body[:m[0]]) {
		body = body[:m[0]] // what it is stands before what it is not
	}
	if !noSuchFault.MatchString(body) && !otherFine.MatchString(body) {
		return body
	}
	found := about(g.Says)
	body = noSuchFault.ReplaceAllStringFunc(body, func(m string) string {
		for t := range about(noSuchFault.FindStringSubmatch(m)[1]) {
			if !found[t] {
				return " "
			}
		}
		return m
	})
	return otherFine.ReplaceAllStringFunc(body, func(m string) string {
		phrase := strings.Join(otherFine.FindStringSubmatch(m)[1:], "")
		of := about(phrase)
		for t := range of {
			if found[t] {
				return m
			}
		}
		if len(of) == 0 && !strings.HasPrefix(strings.ToLower(m), "not") || slices.ContainsFunc(tellingWords(phrase), stemsOf(g.Says).has) {
			return m
		}
		return " "
	})
}

// succeededThere is a claim without what an event of the platform says to have succeeded: an image that was pulled. A log
// is not believed so.
func (g *grounds) succeededThere(body string, cites []evidence.ID) string {
	if len(cites) == 0 || slices.ContainsFunc(cites, func(id evidence.ID) bool {
		return !strings.HasPrefix(string(id), "event/") || !success.MatchString(g.items[id].Text) || slices.Contains(g.Root, id)
	}) {
		return body
	}
	return success.ReplaceAllString(body, " ")
}

var success = lazy.MustCompile(`(?i)\bsuccessful(?:ly)?\b|成功`)
