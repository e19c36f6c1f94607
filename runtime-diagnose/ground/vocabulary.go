package ground

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What a claim says beyond its evidence it says in words: a faulty switch, on purpose, collapsed. So each word of a
// claim is in its evidence, or is another word for what is, or is one of those below, with which explanations are
// written and which say nothing of their own. A language of which the rules know no words is one in which nothing
// can be held against the evidence.

// plainWords are words that any explanation may use, beside stops: they tell nothing that could be wrong.
var plainWords = words(`
about above according across afterwards ago again along already also although among any anything apart appears around asks asked asking assigned associated attempting attempts available away
below beyond bring brings brought cannot client clients come comes coming complete completing concerns connect continue continued could current currently
describes described did directly doing does early either else encounter encountered enough even ever exactly exist exists existed expected
far few fewer find finding finds found further gave get gets getting give given gives got had half happens having hence here hit hits however
immediately indicate indicated indicates indicating initially instead inside involved know known knows large larger leave leaves leaving left less let like load loaded loading look looks lot
main made make makes making many matches maybe met mentions middle minute minutes moment much must name named names near need needed needing needs neither never next none nor normally note notes nothing now
obtain occurs off often older once ones only open opened opening order otherwise outside own part place placed places point points possible previous previously prior proceed produce produced prevents prevented
put quite read reading reads reached reaches reach ready receive received receives record recorded refer refers related remain remained remains remaining request requested requests require required requires responded responds response answered answers answer returned returns return
same saved saying second seconds hour hours milliseconds millisecond seem seems seen send sending sent set several showed shown showing side signals simply size small smaller some something soon specific stage stated states stays stayed step steps still such suggests
take taken takes taking tell tells telling text than thereby therefore thing things though through throughout time times together told too took total toward turn turned two under unless unlike use used uses using value values via visible
wait waited waiting waits want wanted wants was way well went whatever whenever where whether whose wide wish with within word words work worked working write writing writes written wrote yet zero
abort aborted aborts interrupted surfaced unexpected unexpectedly abnormal abnormally prematurely premature
gib mib kib tib bytes byte megabytes gigabytes percent ranks' job's run's pod's node's container's rank's process's worker's its' five four three six seven eight nine ten eleven twelve sixteen twenty thirty hundred thousand hundreds thousands dozen dozens
issue issued reporting details detail specifically namely respectively corresponding corresponds original originally symptom symptoms secondary downstream upstream cascading cascade propagated propagates root primary underlying origin originated originates originating initial trigger underlying
free intact valid compatible correct correctly present located responding alive ready joined connected reachable installed imported mounted allowed granted accepted permitted
tensor tensors batch batches buffer buffers both all every each entire whole always fully entirely completely operation operations function method call calls called calling command object objects instance affected culprit collateral aftermath fallout instances item items entry entries piece pieces set sets asynchronous synchronous internal external local remote`)

// positives are what a claim may say to be so only where its evidence says it itself.
var positives = lazy.MustCompile(`(?i)\b(?:exist(?:s|ed)?|present|(?:is|are|was|were|been|be) found|found and|locate[ds]?|load(?:s|ed)|open(?:s|ed)|saved?|joined|connected|reachable|install(?:s|ed)|import(?:s|ed)|available|mounted|alive|respond(?:s|ed|ing)|ready|granted|allowed|accepted|permitted|free|intact|valid|compatible|correct(?:ly)?|arrived|started|finish(?:es|ed)|complet(?:es|ed)|works?|working|normal(?:ly)?|well|fine|online|done|went through|finite|converged?|implemented|right|fits? (?:in|into|on|onto|within))\b|收敛|存在|可用|就绪`)

// universals speak of all, which few lines do.
var universals = lazy.MustCompile(`(?i)\b(?:all|both|every|each|everything|everybody|everyone|whole|entire|entirely|completely|fully|always|none|neither|nobody|nothing)\b|全部|所有|都|均|每个|一切|始终|总是`)

// ofAll is a count of all or of none.
var ofAll = lazy.MustCompile(`(?i)\b(\d+)\s?(?:/|of|out of)\s?(?:the |its |all )?(\d+)\b`)

// processor and graphics are what a claim may not put into its evidence: "the CPU ran out of memory"; devices is what
// speaks of the latter.
var (
	processor = lazy.MustCompile(`(?i)\bcpus?\b`)
	graphics  = lazy.MustCompile(`(?i)\b(?:gpus?|cuda|hbm|vram)\b|显存`)
	devices   = lazy.MustCompile(`(?i)gpu|cuda|nvidia|nvrm|xid|nccl|hip|rocm|npu|device|cublas|cudnn`)
)

// owner is what something is said of as a whole: a container, where it ran out of the memory of its GPU, or a node, where a container went over its limit.
// Of memory the line that tells of it has to speak of the owner. The place that stands behind the name of a member is none.
var (
	owner    = lazy.MustCompile(`(?i)\b(?:the|this|that|its|whole|entire) (node|host|machine|container)\b|(节点|主机|容器)`)
	ofMemory = lazy.MustCompile(`(?i)memory|oom|内存|显存`)
	placed   = lazy.MustCompile(`(?i)(?:\b(?:on|from|to|at)|主)\s*$`)
	standsOn = lazy.MustCompile(`[(,] ?node [\w.-]+\)`)
	ownedBy  = map[string]*lazy.Regexp{
		"node": lazy.MustCompile(`(?i)\bnodes?\b`), "host": lazy.MustCompile(`(?i)\b(?:host|node)s?\b`), "container": lazy.MustCompile(`(?i)\bcontainers?\b`),
	}
)

// ofAnotherOwner says whether a claim speaks of one that neither its evidence nor the rules' finding speaks of.
func (g *grounds) ofAnotherOwner(c *claim) bool {
	var lines []string
	for _, id := range c.cites {
		if lines = append(lines, strings.Split(g.items[id].Text, "\n")...); strings.HasPrefix(string(id), "node/") || strings.HasPrefix(string(id), "pod/") && !strings.Contains(string(id), "#") {
			lines[len(lines)-1] += map[bool]string{true: " node", false: " container"}[strings.HasPrefix(string(id), "node/")]
		}
	}
	if g.ofRoot(c.cites) {
		lines = append(lines, strings.Split(standsOn.ReplaceAllString(g.Says, ")"), "\n")...)
	}
	body := g.withoutNames(g.withoutContrast(c.plain, c.cites))
	for _, m := range owner.FindAllStringIndex(body, -1) {
		behind := strings.TrimLeft(body[m[1]:], " ")
		if placed.MatchString(body[:m[0]]) || strings.HasPrefix(behind, "上") || slices.ContainsFunc(c.cites, func(id evidence.ID) bool {
			name, _, _ := strings.Cut(behind, " ")
			return name != "" && strings.Contains(string(id), "/"+name) // the container main
		}) {
			continue
		}
		of := lastWord(body[m[0]:m[1]])
		by := ownedBy[cmp.Or(map[string]string{"machine": "host", "主机": "host", "节点": "node", "容器": "container"}[of], of)]
		if !slices.ContainsFunc(lines, func(l string) bool {
			return by.MatchString(g.withoutNames(l)) && (!ofMemory.MatchString(body) || ofMemory.MatchString(l))
		}) {
			return true
		}
	}
	return false
}

// otherDevice says whether a claim speaks of a processor of which its evidence does not; the name of a node is no word of either.
func (g *grounds) otherDevice(c *claim) bool {
	plain, support := g.withoutNames(c.plain), g.withoutNames(c.support)
	return processor.MatchString(plain) && !processor.MatchString(support) || graphics.MatchString(plain) && !devices.MatchString(withoutSystemErrors(strings.ToLower(support)))
}

// unknown says whether a claim has words of its own: its evidence does not hold them, and they are not of those that
// say nothing.
func unknown(plain, support string) bool {
	known := vocabulary(support)
	for _, w := range content(plain) {
		if neutral[w] || neutral[undoubled(stem(w))] || units[w] != 0 || numberWords[w] != "" || known(w) {
			continue
		}
		if parts := strings.Split(w, "-"); len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool {
			return len(p) > 2 && !plainWords[p] && !stops[p] && !known(p)
		}) {
			continue
		}
		return true
	}
	return strings.IndexFunc(plain, func(r rune) bool {
		return r >= 0x80 && unicode.IsLetter(r) && !unicode.Is(unicode.Han, r)
	}) >= 0 || unreadHan(plain, support)
}

// unsaidWords says whether a claim has words of its own beside those that hold every sentence together: another word for what its evidence says is one.
func unsaidWords(plain, support string) bool {
	support = humps.ReplaceAllString(support, "$1 $2") + " " + support
	has, low := stemsOf(support), strings.ToLower(support)
	return slices.ContainsFunc(content(plain), func(w string) bool {
		return !has.has(w) && !tellingOnly[w] && units[w] == 0 && numberWords[w] == "" && !beginsWord(low, w[:max(min(6, len(w)), len(w)-1)])
	}) || unreadHan(plain, support) || strings.ContainsFunc(plain, func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) })
}

// beginsWord says whether a word of a text begins so: torch is none of pytorch.
func beginsWord(text, beginning string) bool {
	for from := 0; ; from++ {
		at := strings.Index(text[from:], beginning)
		if at < 0 {
			return false
		}
		if from += at; from == 0 || !unicode.IsLetter(rune(text[from-1])) {
			return true
		}
	}
}

// tellingOnly are words that say that something was told, or where in what was read it stands, and nothing of it.
var tellingOnly = words("logged printed wrote written noted names named called call calls announced noticed came comes got given time moment meanwhile specifically outcome root affected arises arose surfaced early place")

// inWords are numbers as words, where they count something.
var inWords = lazy.MustCompile(`(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|sixteen|twenty)\b|\bone (node|pod|rank|worker|gpu|process|task|attempt|file)\b`)

// spelled are numbers in words above twelve: fourteen, twenty-four.
var spelled = lazy.MustCompile(`(?i)\b(?:(thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)|(twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](one|two|three|four|five|six|seven|eight|nine))?)\b`)

// unspelled writes them in digits.
func unspelled(claim string) string {
	return spelled.ReplaceAllStringFunc(claim, func(m string) string {
		of := spelled.FindStringSubmatch(strings.ToLower(m))
		if of[1] != "" {
			return strconv.Itoa(13 + slices.Index(teens, of[1]))
		}
		ones, _ := strconv.Atoi(cmp.Or(numberWords[of[3]], map[bool]string{true: "1", false: "0"}[of[3] == "one"]))
		return strconv.Itoa(10*(2+slices.Index(tens, of[2])) + ones)
	})
}

var (
	teens = strings.Fields("thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens  = strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety")
)

// spokenTime is a time without a figure, which may be wrong all the same: half an hour, a minute later.
var spokenTime = lazy.MustCompile(`(?i)\b(?:(half an hour)|(half a minute)|(half a second)|(?:a )?(quarter of an hour)|(a minute and a half)|(?:an|one) (hour)|(?:a|one) (minute)|(?:one (second)|a (second)( later| earlier| after| before| apart| ago)))\b`)

// inFigures writes it in figures.
func inFigures(claim string) string {
	return spokenTime.ReplaceAllStringFunc(claim, func(m string) string {
		of := spokenTime.FindStringSubmatch(m)
		for i, figures := range []string{"30 minutes", "30 seconds", "0.5 seconds", "15 minutes", "90 seconds", "1 hour", "1 minute", "1 second", "1 second"} {
			if of[i+1] != "" {
				return figures + of[10]
			}
		}
		return m
	})
}

// noOne is none of several.
var noOne = lazy.MustCompile(`(?i)\bnot (?:a single )?one (?:out )?of\b`)

// theTwo are those of which a sentence spoke before.
var theTwo = lazy.MustCompile(`(?i)\b(?:the|these|those) (?:two|three)([.,;:)]|$)`)

// inDigits writes the numbers of a claim as its evidence does.
func inDigits(claim string) string {
	claim = theTwo.ReplaceAllString(noOne.ReplaceAllString(hanInDigits(unspelled(claim)), "none of"), "them$1")
	claim = strings.ReplaceAll(claim, "I/O", "input/output")
	claim = inWords.ReplaceAllStringFunc(claim, func(w string) string {
		if n := numberWords[strings.ToLower(w)]; n != "" {
			return n
		}
		return "1" + w[len("one"):]
	})
	return andHalf.ReplaceAllString(claim, "$1.5 $2")
}

// andHalf is a number and a half of something: 5 and a half minutes.
var andHalf = lazy.MustCompile(`(?i)\b(\d+) and a half ([a-z]+s)\b`)

// neutral are the stems of plainWords and stops.
var neutral = func() map[string]bool {
	m := map[string]bool{}
	for _, of := range []map[string]bool{plainWords, stops} {
		for w := range of {
			if m[w] = true; !strings.HasSuffix(w, "ly") { // fully does not make full one of them
				m[stem(w)] = true
			}
		}
	}
	return m
}()

// undoubled is a stem without the letter that its ending doubled: log of logged.
func undoubled(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] {
		return w[:n-1]
	}
	return w
}

// counted says whether a claim counts as its evidence does: "3 of 16" stands there, and a claim of all
// was told of all.
func counted(plain, support string) bool {
	pairs := ofAll.FindAllStringSubmatch(support, -1)
	stands := func(n, m string) bool {
		return slices.ContainsFunc(pairs, func(p []string) bool { return p[1] == n && p[2] == m })
	}
	for _, p := range ofAll.FindAllStringSubmatch(plain, -1) {
		if !stands(p[1], p[2]) {
			return false
		}
	}
	return true
}

// allOf is a number of all things of a kind, but not of members: what became of one of these is not true of all.
var allOf = lazy.MustCompile(`(?i)\ball (?:the |of the )?\d+ ([a-z]+)`)

// allMembers speaks of all members of a kind.
var allMembers = lazy.MustCompile(`(?i)\b(?:all|both|every|each|none of the|no) (?:of )?(?:the )?(?:other )?(?:\d+ )?(?:ranks?|pods?|workers?|nodes?|members?|process(?:es)?|replicas?|gpus?|clients?)\b|(?:全部|所有|每个|各个?)\s*(?:的\s*)?(?:\d+\s*个\s*)?(?:成员|进程|节点|容器|rank|worker|pod)|(?:成员|进程|节点|容器|rank|worker|pod)\s*(?:全部|全都|都|均)`)

// universal says whether a claim speaks of all, where its evidence does not.
func universal(plain, support string) bool {
	plain = allOf.ReplaceAllStringFunc(plain, func(m string) string {
		if plurals.MatchString(m) {
			return m
		}
		return " "
	})
	return universals.MatchString(plain) && !universals.MatchString(support) &&
		!slices.ContainsFunc(ofAll.FindAllStringSubmatch(members.ReplaceAllString(support, " "), -1), func(p []string) bool { return p[1] == p[2] || p[1] == "0" })
}

// labelled is a number with the words that say what it is of.
var labelled = lazy.MustCompile(`([A-Za-z_]{3,})(?:[ =:]{1,3}|\s(?:of|is|was|code|after)\s)(\d+(?:\.\d+)?)(?:[^\d.]|\.\D|\.?$)|(?:^|[^\w.-])(\d+(?:\.\d+)?) ([A-Za-z]{3,})`)

var (
	ofWhom   = lazy.MustCompile(`(?i) (?:of|for|on|in|at) (?:rank|node|pod|worker|step)s? ?[\w.-]*\d`)
	exitCode = lazy.MustCompile(`(?i)\bexit(?:ed|s)?[ _-]?(?:with )?(?:code)?[ :=]{1,2}(\d)`)
)

// labels are the numbers of a text by the words that say what they are of.
func labels(text string) map[string][]string {
	out := map[string][]string{}
	text = exitCode.ReplaceAllString(ofWhom.ReplaceAllString(clockTime.ReplaceAllString(text, ";"), ""), "exit $1") // the minutes of a time count nothing
	for from := 0; ; {
		m := labelled.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return out
		}
		word, n := m[2:4], m[4:6]
		if m[2] < 0 {
			n, word = m[6:8], m[8:10]
		}
		if label := strings.ToLower(text[from+word[0] : from+word[1]]); !midWord(text, from+word[0]) && !holding[label] { // the end of a word is the label of nothing
			out[stem(label)] = append(out[stem(label)], text[from+n[0]:from+n[1]])
		}
		from += max(min(n[0], word[0]), 0) + 1
	}
}

// midWord says whether a place in a text is within a word, and no word of a longer name begins there: data_time, maxSkew.
func midWord(text string, at int) bool {
	letter := func(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
	return at > 0 && letter(text[at-1]) && !(text[at-1] >= 'a' && 'A' <= text[at] && text[at] <= 'Z')
}

// mislabelled says whether a claim gives to one thing the number of another: "the loss was 0.41", where the evidence
// has "loss 1.93 reward 0.41".
func mislabelled(plain, support string) bool {
	has := labels(support)
	for label, numbers := range labels(ofAll.ReplaceAllString(members.ReplaceAllString(plain, " "), " ")) { // parts of a whole are counted elsewhere
		right := has[label]
		if len(right) == 0 {
			continue
		}
		if !slices.ContainsFunc(numbers, func(n string) bool { // beside the right one others may be called so, too
			return slices.ContainsFunc(right, func(r string) bool { return holds(r, n) })
		}) {
			return true
		}
	}
	titles := phrases(support)
	for phrase, numbers := range phrases(plain) {
		for _, n := range numbers {
			if right := titles[phrase]; len(right) > 0 && !slices.Contains(right, n) {
				return true
			}
		}
	}
	return false
}

// phrased is a number with the two words before it that say what it is of: "micro batch size (8)".
var phrased = lazy.MustCompile(`([A-Za-z_]{3,}) ([A-Za-z_]{3,})(?:\s?[:=]\s?| (?:is|was|of) | ?\(| )(\d+(?:\.\d+)?)`)

// phrases are the numbers of a text by such words.
func phrases(text string) map[string][]string {
	out := map[string][]string{}
	for _, m := range phrased.FindAllStringSubmatch(text, -1) {
		if one, two := strings.ToLower(m[1]), strings.ToLower(m[2]); !stops[one] && !stops[two] {
			out[stem(one)+" "+stem(two)] = append(out[stem(one)+" "+stem(two)], decimal(m[3]))
		}
	}
	return out
}
