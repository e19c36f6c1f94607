package ground

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A claim that contradicts nothing, and that its evidence does not show, is no lie: it may be what everybody knows, or say
// in other words what was read. It is shown apart from what is supported and called unsupported, without its citations.

// MaxUnsupported is how many bytes of claims that nothing supports are shown.
const MaxUnsupported = 1600

// longestUnsupported is how many bytes one of them may have.
const longestUnsupported = 320

// doubtful are the reasons by which a claim is not shown as what the evidence says, and which do not say that it is false:
// words can be read otherwise than they were meant, and what the rules can't follow may still be true.
var doubtful = map[Reason]bool{NoCitation: true, Word: true, Topic: true, Number: true, Name: true, Apart: true, Undecided: true}

// standsApart keeps a claim as one that is not supported, or says why it is not shown at all.
func (g *grounds) standsApart(body string, cites []evidence.ID, why Reason) Reason {
	body = squeeze(body)
	room := MaxUnsupported
	for _, a := range g.apart {
		room -= len(a)
	}
	own := squeeze(g.inOwnWords(body))
	so := beforeSo.ReplaceAllString(prose(asserted(own)), " ") // of what is asked or supposed, or was not so yet, nothing is said
	goes := carriesOn(g.withoutNames(so))
	if onlyLooks(body) {
		own = looks.ReplaceAllString(own, " ") // at something: nobody is told to change it
	}
	spoke := strings.TrimRight(g.plainly(acquitted.ReplaceAllString(noDemand.ReplaceAllString(own, " "), " ")), " .。")
	switch {
	case len(body) > longestUnsupported || len(body) > room:
		return TooLong
	case !onlyLooks(body) && tellsWhatToDo(spoke), cures.MatchString(so) && !plainNot.MatchString(so), Injected(g.inNoName(spoke)), demands.MatchString(said.ReplaceAllString(withoutStates(ofWords.ReplaceAllString(spoke, "it")), " ")):
		return Order
	case !g.Healthy && !g.ofUnharmed(cites) && (len(cites) == 0 || g.ofRoot(cites) || ofTheWhole.MatchString(g.withoutNames(so))) && (goes != "" && !g.said(goes, cites) && !g.ofUnharmedMember(own) || !negation.MatchString(so) && !troubled.MatchString(so) && !badly.MatchString(so) && (!g.beforeIt(cites) || sinceThen.MatchString(so) || hanWhole.MatchString(so)) && ended.MatchString(fineUntil.ReplaceAllString(withoutProgress(notDenied(so), g.support(cites)), "until")) && g.better(so, cites)):
		return Contradicts
	case forRules.MatchString(own):
		return Otherwise // they said something else, or this would be supported
	case han(body) && brings.MatchString(body) && !onlyLeavesOpen(body) && !g.rightWay(body, cites):
		return Reversed
	case g.repeats(own):
		return Copied
	case len(cites) == 0 && !onlyLeavesOpen(body) && g.refuses(body), !g.legible(body, cites), g.strangeName(asserted(body), cites) && !(len(cites) == 0 && g.timeless(body)),
		len(cites) == 0 && !onlyLeavesOpen(body) && !takenBack(body) && !wouldDo.MatchString(body) && (guessed.MatchString(body) && len(content(body)) < 2 || g.strange(asserted(body))):
		return why // what nobody mentions
	case miscalculated(body), why != Undecided && g.almostSo(body, cites):
		return Otherwise
	}
	g.showApart(body)
	return ""
}

func (g *grounds) showApart(body string) {
	if !slices.Contains(g.apart, body) {
		g.apart = append(g.apart, body)
	}
}

var (
	// happened is a verb of what came to pass, and not of how things are.
	happened = lazy.MustCompile(`(?i)\b(?:was|were|had|did|has|have|been|went|came|got|took|lost|fell|ran|broke|sent|made|gave|grew|became|began|left|met|saw|found|lacks?)\b|\b(?:it|they|he|who|which|somebody|someone|nobody|[a-z]+s?) [a-z]{2,}ed\b[^,]`)
	// definite begins a clause about something that was spoken of.
	definite = lazy.MustCompile(`(?i)\b(?:here|now|today|(?:is|are) the (?:reason|cause|culprit))\b|(?:^|[,;:.] )(?:the|these|those|it|they|there|its|their|our|your|his|he|we|i|you|somebody|someone|no|nobody|nothing|rank|worker|node|pod|gpu)\b`)
)

// timeless says whether a claim tells how things are, and nothing of this job: it has no verb of the past, no subject that was spoken of, and neither
// a name nor a number of the job's own.
func (g *grounds) timeless(body string) bool {
	return !han(body) && !happened.MatchString(body) && !definite.MatchString(body) && g.withoutNames(body) == body && !hasDigit(body)
}

// forRules puts something into the mouth of the rules.
var forRules = lazy.MustCompile(`(?i)\b(?:rules|diagnosis|rule engine|signalbox)\b[^.;,]{0,20}\b(?:establish|confirm|prove|found|find|determine|state|conclude|verif)\w*|\b(?:establish|confirm|prove|found|determine|state|conclude|verif)\w* by the (?:rules|diagnosis|rule engine|finding)\b|\baccording to the (?:rules|diagnosis|finding)\b|(?:根据|依据|按照?)(?:规则|诊断)|(?:规则|诊断)(?:结果)?(?:已经?|证实|确认|表明)`)

// inOwnWords is a claim without the messages that it quotes and its code: those of a failure, and those of the cause.
func (g *grounds) inOwnWords(body string) string {
	return quotation.ReplaceAllStringFunc(body, func(q string) string {
		m := quotation.FindStringSubmatch(q)
		message := strings.Join(m[1:], "")
		if m[2] != "" || tellsFailure(message) || slices.ContainsFunc(g.Root, func(id evidence.ID) bool { return strings.Contains(g.items[id].Text, message) }) {
			return " that "
		}
		return q
	})
}

// ofUnharmedMember says whether a claim names members, and none of which the rules found a cause or a consequence: those may go on.
func (g *grounds) ofUnharmedMember(body string) bool {
	named := false
	for _, n := range g.members {
		if !containsToken(body, n) {
			continue
		}
		named = true
		if slices.ContainsFunc(append(slices.Clone(g.Root), g.Effects...), func(id evidence.ID) bool { return g.items[id].Source.Pod == n }) {
			return false
		}
	}
	return named
}

// ofUnharmed says whether all pieces of evidence are of members of which the rules found neither a cause nor a consequence.
func (g *grounds) ofUnharmed(cites []evidence.ID) bool {
	return len(cites) > 0 && !slices.ContainsFunc(cites, func(id evidence.ID) bool {
		pod := g.items[id].Source.Pod
		return pod == "" || slices.ContainsFunc(slices.Concat(g.Root, g.Effects), func(of evidence.ID) bool { return g.items[of].Source.Pod == pod })
	})
}

// badly says that something went with an error.
var badly = lazy.MustCompile(`(?i)\b(?:errors?|exit codes? [1-9])`)

// ended are words by which something is said to have come to a good end.
var ended = lazy.MustCompile(`(?i)\b(?:normal(?:ly)?|fine|(?:is|was|are|were|all|ended|went|works?|worked) well|complet\w+|finish\w*|succe\w+|passed|recovered|healthy|ready|resolved|admitted|restored|work(?:s|ed))\b|完成|成功|恢复|就绪`)

// exitCodes are those of signals, of which everybody speaks, and the signals.
var (
	exitCodes = words("6 9 11 15 128 134 137 139 143")
	ofExit    = lazy.MustCompile(`(?i)\bexit(?:ed)?\b|\bsignal\b|\bSIG[A-Z]+\b|退出码`)
)

// mostEdits is how many edits of claims are tried in one answer.
const mostEdits = 512

// almostSo says whether one edit makes a claim what its evidence says: another number of it, a "not" less or one more. Then it says other than
// its evidence, whatever else might be meant.
func (g *grounds) almostSo(body string, cites []evidence.ID) bool {
	if len(cites) == 0 {
		return false
	}
	body = g.withoutContrast(body, cites)
	if plain := quotation.ReplaceAllString(g.claim(body, cites).body, " "); unknown(plain, g.support(cites)) {
		return g.othersHold(turnedRound(body), cites) // with another number it would have the same words that its evidence has not
	}
	if g.othersHold(turnedRound(body), cites) {
		return true
	}
	if c := g.claim(body, cites); g.foreign(c) == "" && g.contradicted(c) == "" && g.unproven(c) == "" && g.asRead(c, true) {
		return false // it is what its evidence says, in words that could say more
	}
	texts := g.texts(cites)
	return !g.workedOut(body, cites) && g.othersHold(renumbered(body, texts), cites)
}

// workedOut says whether a claim has an amount or a share that stands nowhere in texts and is worked out of them: no other number is meant.
func (g *grounds) workedOut(body string, cites []evidence.ID) bool {
	texts, made := g.texts(cites), g.figures(cites)
	return slices.ContainsFunc(amount.FindAllStringSubmatch(body+" ", -1), func(m []string) bool {
		return derivedAmount(texts, m[1], strings.ToLower(m[2]))
	}) || slices.ContainsFunc(percentage.FindAllStringSubmatch(ofHundred.ReplaceAllString(body, "$1%"), -1), func(m []string) bool {
		return !strings.Contains(ofHundred.ReplaceAllString(texts, "$1%"), m[0]) && made.hold(m[1], "%", false, false, false)
	})
}

// contrasted is what something is not, at the end of a claim that says before what it is.
var contrasted = lazy.MustCompile(`(?i)(?:,(?: and| but)? not| rather than| instead of| as opposed to|，(?:而)?不是|，而非) ?([^,.;，。]*)[.。]?$`)

// withoutContrast is a claim without what it says not to be so at its end, where the evidence has no word of that: it turns nothing round.
func (g *grounds) withoutContrast(body string, cites []evidence.ID) string {
	m := contrasted.FindStringSubmatchIndex(body)
	if m == nil || m[0] == 0 || !g.saysNothingOf(body[m[2]:m[3]], cites) {
		return body
	}
	return body[:m[0]]
}

// saysNothingOf says whether evidence has no word of what is said.
func (g *grounds) saysNothingOf(other string, cites []evidence.ID) bool {
	has := vocabulary(g.support(cites))
	return len(looked(other)) == 0 && !slices.ContainsFunc(tellingWords(other), func(w string) bool { return !neutral[w] && has(w) }) &&
		!(han(other) && slices.ContainsFunc(hanSigns(other), func(s *lazy.Regexp) bool { return s.MatchString(g.support(cites)) }))
}

// undecided says whether a claim that its evidence supports would be supported as well with another number of it: then the rules can't tell
// which of the two its evidence says.
func (g *grounds) undecided(body string, cites []evidence.ID) bool {
	body = squeeze(body)
	return g.othersHold(renumbered(body, g.texts(cites)), cites)
}

// othersHold says whether the evidence supports one of the edits of a claim. Beyond the bound it may.
func (g *grounds) othersHold(edits iter.Seq[string], cites []evidence.ID) bool {
	for edited := range edits {
		if g.edits++; g.edits > mostEdits || g.shows(squeeze(edited), cites) {
			return true
		}
	}
	return false
}

// turnedRound is a claim without its "not", or with one.
func turnedRound(body string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if m := negation.FindStringIndex(body); m != nil {
			if clauseMark.MatchString(strings.TrimRight(body, " .。")) || subordinate.MatchString(body) {
				return // what one clause denies, another may say
			}
			if strings.HasPrefix(body[m[1]:], " else") {
				return // who else did not says nothing of who did
			}
			if !yield(body[:m[0]] + body[m[1]:]) {
				return
			}
		} else if m := auxiliary.FindStringIndex(body); m != nil {
			yield(body[:m[1]] + " not" + body[m[1]:])
		}
	}
}

// renumbered is a claim with each of its numbers exchanged for each other one of its evidence.
func renumbered(body, texts string) iter.Seq[string] {
	of := digitsOf.FindAllString(texts, -1)
	slices.Sort(of)
	of = slices.Compact(of)
	return func(yield func(string) bool) {
		for _, m := range digitsOf.FindAllStringIndex(body, -1) {
			for _, n := range of {
				if said := body[m[0]:m[1]]; value(n) != value(said) && unshortened(said, n) == said && !yield(body[:m[0]]+n+body[m[1]:]) {
					return
				}
			}
		}
	}
}

// auxiliary is a verb behind which a "not" stands.
var auxiliary = lazy.MustCompile(`(?i)\b(?:could|can|did|does|do|is|are|was|were|has|have|had|will|would)\b`)

// initials are names with a number in them that everybody calls so: L40, 2D, bf16.
var initials = lazy.MustCompile(`^[A-Z]\d[A-Z]?$|^[1-4]-?D$|^IPv[46](?:-[a-z]+)?$|^(?i:fp|bf|tf|int|uint|float)\d{1,2}(?:'s)?$`)

// ownNumbers is a claim without the numbers that stand in its evidence in another form, or can be worked out of it.
func (g *grounds) ownNumbers(body, support, texts string, cites []evidence.ID) string {
	body = furtherUnits.ReplaceAllString(ofUnit.ReplaceAllString(g.inNames(inEach(inDigits(body))), "$1 $2"), "$1 $2")
	body = unshortened(ungrouped(uncalculated(signalVerb.ReplaceAllString(hanInDigits(strings.ReplaceAll(body, "I/O", " ")), "$1"), support), support), support)
	body = worked(body, texts)
	body = inDigits(body)
	body = g.uncomputed(body, cites)
	for _, m := range amount.FindAllStringSubmatch(body+" ", -1) { // what lies between two pieces stands in neither
		if at := strings.Index(body+" ", m[0]); at > 0 && wordRune(rune(body[at-1])) {
			continue // of a name
		}
		if unit := strings.ToLower(m[2]); sameAmount(support, m[1], m[2]) || g.between(cites, m[1], unit, g.Effects[:min(mostListed, len(g.Effects))]...) || inBytes(texts, m[1], unit) || derivedAmount(texts, m[1], unit) {
			body = strings.Replace(body+" ", m[0], " ", 1)
		}
	}
	return body
}

// strangeName says whether a claim has a number or a name that stands nowhere in what was read.
func (g *grounds) strangeName(body string, cites []evidence.ID) bool {
	return len(g.strangeNames(body, cites)) > 0
}

func (g *grounds) strangeNames(body string, cites []evidence.ID) []string {
	support := g.support(slices.Sorted(maps.Keys(g.items))) + strings.Join(g.Remedies, "\n")
	low, texts, said := strings.ToLower(support), g.texts(cites), body
	found := g.texts(g.Root[:min(mostRoots, len(g.Root))]) // a claim counts from there
	body = g.ownNumbers(body, support, texts, cites)
	return slices.DeleteFunc(looked(body), func(w string) bool {
		lower := strings.ToLower(w)
		switch {
		case holds(support, w), strings.Contains(w, ":") && strings.Contains(support, w):
			return true // it stands there
		case w == g.Job, w == g.Namespace, slices.Contains(g.Names, w):
			return true // it is what is diagnosed
		case letters(strings.ReplaceAll(w, "_", "")) && units[lower] == 0 && numberWords[lower] == "" && !strings.Contains(body, " -"+w), initials.MatchString(w):
			return true // it names something, and says nothing of it; an option is set
		case exitCodes[w] && ofExit.MatchString(body):
			return true
		case !unicode.IsDigit(rune(w[0])) && (strings.Contains(low, lower) || strings.Contains(low, strings.ToLower(humps.ReplaceAllString(w, "$1 $2")))):
			return true // it stands there in another form
		case derived(w, texts, divides.MatchString(said)), apartBy(w, texts, found), ofOwnCount(w, said, support), rateOf(w, texts):
			return true // it can be worked out
		case digitsOnly(w) && !strings.Contains(w, "."):
			return slices.ContainsFunc(decimals.FindAllString(dotted.ReplaceAllString(texts, " "), -1), func(n string) bool { return rounded(w, n) })
		}
		return false
	})
}

// better says whether a claim says something to be well that its evidence does not say so.
func (g *grounds) better(body string, cites []evidence.ID) bool {
	so, _ := affirmed(g.support(cites))
	has := stemsOf(so)
	return universal(body, g.support(cites)) && positives.MatchString(body) || slices.ContainsFunc(positives.FindAllString(body, -1), func(m string) bool { return !has.has(m[strings.LastIndexByte(m, ' ')+1:]) })
}

// said says whether a word stands in what is cited, and no cause in that.
func (g *grounds) said(word string, cites []evidence.ID) bool {
	return len(cites) > 0 && !g.ofRoot(cites) && stemsOf(g.texts(cites)).has(word)
}

// said are turns in which nobody is spoken to.
var said = lazy.MustCompile(`(?i)\bshould (?:(?:not|never|also|even|really|actually) )*have (?:been|\w+ed|come|gone|had|run|seen|met|known)\b|\bshould (?:thus|therefore|hence|still|then|now|normally|presumably|already|at least|by now) (?:not )?(?:be|have)\b|\bshould be (?:intact|fine|lost|safe|complete|valid|usable|unaffected|unchanged|recoverable|available|there)\b|\bshould not (?:mislead|surprise|distract|matter)\b|\b(?:pods?|ranks?|members?|workers?|processes|containers|gpus|replicas|all of them) (?:have|has|had) to (?:[ac-z][a-z]+|b[a-df-z][a-z]*)\b|\b(?:i\.e\.|(?:what |as )?(?:you|one|we) would expect|tells? us|(?:what )?(?:i|we) (?:(?:can(?: ?not|['’]t)?|could(?: not|n['’]t)?|do(?: not|n['’]t)?|am|are|was|were|have|would)(?: (?:not|never|only|been))* )?(?:able to )?(?:see|tell|say|know|suspect|read|infer|think|shown|given|determine|identify|confirm|judge)\b|\b(?:i|we) have (?:no|only)\b)`)

// noDemand are turns that hold a word of a demand and are none.
var noDemand = lazy.MustCompile(`(?i)\bI/O\b|\byou (?:can|could|may|will) (?:also |already |even |clearly )?(?:see|tell|read|notice|spot|find|rule out|exclude|expect|conclude|infer)\b|\bmust (?:[a-z]+ )?(?:have (?:been |[a-z]+ed\b)|be (?:[a-z]+ing\b|(?:an?|the|too|wrong|missing|broken|down|full) ))|\b(?:has|have|needs?) to (?:be (?:created (?:anew|again)\b|looked for\b|sought\b|searched\b|an? (?:multiple|divisor|factor|power) of|equal|divisible|reachable|available|present|there|the same|up|ready)\b|(?:run|call|match|agree|fit|exist|divide|join|arrive|finish|reach|come|hold|know|support|take part)\b)|\b(?:what|as) we (?:can )?see\b|(?:is|was) to be expected\b|申请|请求|(?:重启|运行|下载|执行|安装|上传|删除)(?:次数|策略|时间|过程|日志|结果|速度|进度)|不会再?(?:自动)?重启|必须(?:大于|小于|等于|为|是|在|不|能|一致|相同)|\b(?:neither|nor|no|nothing|nobody)\b[^,;.]{0,40}\bneeds? to be\b|\bwhat (?:you|one|we) (?:want|need)s?\b|^\W*(?:both|all|the|these|those|two|three|\d+) [a-z]+s, [^,;]+, (?:wait|stop|start|run|use|look|ask|open|create|call|check)\b|\b(?:don['’]t|(?:must|should|need) not) (?:be (?:misled|fooled|surprised|confused)|mislead|surprise|confuse)\b|^\s*(?:上传|下载|运行|执行|安装|删除|打开|重启|访问)[^，。；]{0,12}时|(?:did|does|do|not|n't|could|can|hub|server|host|peer|store|it|they) (?:not |n't )?answer(?:ed|s)?\b|\bshould (?:not )?be (?:treated|trusted|taken|read|seen|regarded|considered)\b|\bfix(?:ed)? (?:number|size|length|seed)\b|\b(?:the|a|an|this|that|[a-z]+['’]s) (?:[\w-]+ ){0,2}(?:answer|reply|hint|note|tip|suggestion)s?\b|\b(?:must|should) (?:probably|presumably|apparently|likely|surely)\b|\bha(?:s|ve|d) (?:something |nothing |little |a lot )?to do with\b|\bwould have to\b|\b(?:than|before|when|as|where) (?:it|they|he|one) should\b|(?:没有|没能|未能|未|无法|不能|已经?|被|在|自动|每次|次)(?:上传|下载|运行|执行|安装|删除|打开|重启|访问)|(?:上传|下载|运行|执行|安装|删除|打开|重启|访问)[了过]|执行[器者]|^\s*(?:上传|下载|运行|执行|安装|删除|打开|重启|访问)[^，。；]{0,48}(?:受限|失败|超时|报错|出错|被拒绝?)|应为|[响反对适相效供]应|应[答用]`)

// mustDo is who or what must do something, or be something, and what that is.
var mustDo = lazy.MustCompile(`(?i)\b([\w-]+) (?:must|should|shall|ought to|(?:need|ha)(?:s|ve|d)? to) (?:(?:not|also|then|first|only|all|at least) )*(be )?([\w./-]+)`)

// told are those who can be told to do something.
var told = words("you we i one somebody someone anybody anyone everybody everyone people user users operator operators admin admins administrator administrators team author owner engineer engineers colleague colleagues reader parser assistant model signalbox diagnosis rules")

// withoutStates is a text without what it says that something must do or be: nobody is told to do it, unless somebody is named who could, or it is
// to be done to something.
func withoutStates(text string) string {
	return mustDo.ReplaceAllStringFunc(text, func(m string) string {
		of := mustDo.FindStringSubmatch(m)
		verb := strings.ToLower(of[3])
		if told[strings.ToLower(of[1])] || of[2] != "" && (strings.HasSuffix(verb, "ed") || doneIrregularly[verb]) {
			return m
		}
		return " "
	})
}

// cures says of something that it mends the failure: who offers a step says so, and the rules did not.
var cures = lazy.MustCompile(`(?i)\b(?:fix|solve|resolve|cure|mend)(?:es|s)? (?:it|this|that|them|the (?:problem|issue|error|failure|job))\b`)

// tellsWhatToDo says whether a clause of a claim is an order, or holds a command.
func tellsWhatToDo(text string) bool {
	return slices.ContainsFunc(breaks.Split(text, -1), func(clause string) bool {
		clause = strings.TrimSpace(clause)
		if more, ok := strings.CutPrefix(clause, "and "); ok && strings.ToLower(more[:min(1, len(more))]) == more[:min(1, len(more))] {
			clause = more
		}
		return isOrder(clause) || imperativeIn.MatchString(clause) || shellLike.MatchString(clause) || asks.MatchString(clause)
	})
}

// doneIrregularly are verbs of what is done to something that end otherwise.
var doneIrregularly = words("set put cut shut sent run rerun made remade built rebuilt kept told bound rebuild brought left lost split reset given taken written rewritten chosen broken shown driven frozen")

// demands are words by which somebody is told what is to be done, or spoken to.
var demands = lazy.MustCompile(`(?i)\b(?:you|we|i) (?:[a-z]+ly )?(?:should|must|shall|need|have to|ought|can|could|may|might|want|recommend|suggest|advise|propose)\b|\b(?:we|i) (?:ask|tell|told|am|was)\b|\b(?:you|us|everybody) to [a-z]{3,}\b|\b(?:please|must|should|shall|ought|needs? to|has to|have to|had better|(?:is|are) to be|to be (?:drained|deleted|restarted|removed|replaced|cordoned|rebooted|raised|lowered|disabled|granted|installed)|recommend\w*|advis\w*|by the parser|prompts?|repl(?:y|ies))\b|\b(?:so|just|then) (?:do|don't|leave|mark|set|keep|use|go|stop|wait)\b|\bdo nothing\b|\bmark (?:everything|all|it|this)\b|\bnotes? to\b|解决方案|授予|赋予|请|应(?:该|当|尽快|立即|立刻|马上|先|予)|必须|需要您|建议|您|你|我`)

// legible says whether a text is in a language in which it can be told that it contradicts nothing: in Chinese, or with a word that holds an English
// sentence together, or half of whose words explanations and the evidence have.
func (g *grounds) legible(body string, cites []evidence.ID) bool {
	if strings.ContainsFunc(body, func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) }) {
		return false
	}
	if han(body) || slices.ContainsFunc(strings.Fields(strings.ToLower(body)), func(w string) bool { return stops[strings.Trim(w, ".,;:()")] }) {
		return true
	}
	said, known := tellingWords(body), vocabulary(g.support(cites))
	strange := slices.DeleteFunc(slices.Clone(said), func(w string) bool { return neutral[w] || known(w) })
	return len(said) > 1 && 2*len(strange) <= len(said)
}

// writer is who writes, as the subject of what he writes.
var writer = lazy.MustCompile(`(?i)^\W*(?:sorry\W+(?:but\W+)?)?(?:i|we)\b`)

// refuses says whether a claim is about who writes it and about nothing that was read: a refusal.
func (g *grounds) refuses(body string) bool {
	read := vocabulary(g.support(slices.Sorted(maps.Keys(g.items))))
	return writer.MatchString(body) && !slices.ContainsFunc(content(body), read)
}

// plainTopics are what explanations speak of whatever happened.
var plainTopics = words("import numbers time")

// ofPeople are topics of which the rules' own words are no sign.
var ofPeople = words("power attack people")

// insideImage is where a program runs, and token IDs are numbers: neither is a topic.
var insideImage = lazy.MustCompile(`(?i)\b(?:(?:in|of|from) (?:the|this|its) (?:container )?image\b|the image's\b|(?:one|that|those) in the image\b|token IDs?\b)`)

// noSigns are things of which there is no sign, to the end of their list.
var noSigns = lazy.MustCompile(`(?i)\bno (?:signs?|evidence|traces?|indications?|hints?) of [^.;:]*`)

// strange says whether a claim is about what nothing that was read is about: a switch, where nobody speaks of a network.
func (g *grounds) strange(body string) bool {
	var all strings.Builder
	for _, i := range g.Items {
		all.WriteString(i.Text + "\n")
	}
	read, found := about(all.String()), about(g.Says+"\n"+strings.Join(g.Remedies, "\n"))
	var told strings.Builder
	for _, clause := range clauseEnd.Split(noSigns.ReplaceAllString(body, " "), -1) {
		if !negation.MatchString(clause) { // nothing points to the network
			told.WriteString(insideImage.ReplaceAllString(clause, " ") + "\n")
		}
	}
	for t := range about(told.String()) {
		if !plainTopics[t] && !read[t] && (ofPeople[t] || !found[t] && !generally.MatchString(body) && !indefinite.MatchString(body) && !g.timeless(body)) {
			return true
		}
	}
	return false
}

// subordinate begins a clause that hangs on another.
var subordinate = lazy.MustCompile(`(?i)\b(?:and|but|although|though|while|whereas|because|as|when|if|that|who)\b`)

// clauseMark ends a clause in either language.
var clauseMark = lazy.MustCompile(`[,;:，；：。] *|\b(?:but|which|hence|so)\b`)
