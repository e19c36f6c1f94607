package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// How something ended stands in every explanation, in words that are looked for nowhere else: crashed, was killed, ended, finished. What is shown as what the
// evidence says has one only of what a line tells to have ended so: a mount that failed with an exit status ended no program, and
// what was told by a signal to end did not crash.

// outcomes are such words, each with what a line says that tells of it.
var outcomes = []struct{ said, told *lazy.Regexp }{
	{
		lazy.MustCompile(`(?i)\bcrash\w*\b`),
		lazy.MustCompile(`(?i)crash|\bfatal|segfault|segmentation|\babort|core dumped|panic|traceback|exception|\w(?-i:Error)\b|\bSIG(?:SEGV|ABRT|BUS|ILL|FPE)\b|\b(?:ended|exit(?:s|ed)|terminated|completed)\b.{0,40}\b(?:code|status)[ :=]{0,2}(?:[1-9]\d?|1[01]\d|12[0-8]|13[2-689])(?:\D|$)`),
	},
	{
		lazy.MustCompile(`(?i)\baborted\b`),
		lazy.MustCompile(`(?i)abort|\b(?:134|-6)\b|signal 6\b|cancel`),
	},
	{
		lazy.MustCompile(`(?i)\b(?:died|dies|dead|end(?:s|ed)|exit(?:s|ed)|terminated|stopped)\b`),
		lazy.MustCompile(`(?i)\b(?:died|dead|death|end(?:s|ed)|exits?|exited|terminat\w+|stop\w*|kill\w*|abort\w*|complet\w+|finish\w*|shut\w*|delet\w+|evict\w+|preempt\w+|crash\w*|gone|lost|oom\w*|expir\w+|DeadlineExceeded|deactivat\w+|cancel\w*)\b|BackoffLimit|OOMKilled|\bSIG[A-Z]+\b`),
	},
	{
		lazy.MustCompile(`(?i)\bkilled\b`),
		lazy.MustCompile(`(?i)kill|\boom|signal|SIGTERM|\b(?:code|status)[ :=]{0,2}(?:137|143|-9|-15)\b|terminat|evict|preempt`),
	},
	{
		lazy.MustCompile(`(?i)\b(?:finish(?:es|ed)|complet(?:es|ed)|succeed(?:s|ed))\b`),
		lazy.MustCompile(`(?i)finish|complet|succe|\bdone\b|\bended\b|code[ :=]{0,2}0\b|saved|passed`),
	},
	{
		lazy.MustCompile(`(?i)\brunning\b`),
		lazy.MustCompile(`(?i)\brunning|\bran\b|\bstarted|\blow\b|out of`),
	},
	{
		lazy.MustCompile(`(?i)\b(?:start(?:s|ed)|resumed)\b`),
		lazy.MustCompile(`(?i)start|beg[aiu]n|running|launch|spawn|resum|created|initiali|step \d|epoch \d|ready`),
	},
}

// exitStatus is one that a line tells of something that is no program: a command that the platform ran.
var exitStatus = lazy.MustCompile(`(?i)\b(mount|probe|hook)\w*\b[^\n]*\bexit (?:status|code)\b[^\n]*`)

// raised is what a program writes that ends by it.
var raised = lazy.MustCompile(`(?i)\b(?:fail\w*|segmentation|out of memory|gave up|raise[sd]?|exceeded|time[ds]? ?out|closed|traceback)\b|\w(?-i:Error|Exception)\b|\bFile "[^"]+", line`)

// endedOtherwise says whether a claim tells of an end that no line that it cites tells of.
func (g *grounds) endedOtherwise(c *claim) bool {
	so, _ := affirmed(g.saidThere(c))
	whole := exitStatus.ReplaceAllStringFunc(g.saidThere(c), func(m string) string {
		if containsToken(c.unquoted, exitStatus.FindStringSubmatch(m)[1]) {
			return m + " ended"
		}
		return " "
	})
	if slices.ContainsFunc(c.cites, func(id evidence.ID) bool {
		return strings.Contains(string(id), "#") && !strings.HasPrefix(string(id), "event/") && raised.MatchString(g.items[id].Text)
	}) {
		whole += "\nended"
	}
	has := stemsOf(c.texts)
	return slices.ContainsFunc(outcomes, func(o struct{ said, told *lazy.Regexp }) bool {
		m := o.said.FindStringIndex(c.unquoted)
		if m == nil {
			return false
		}
		if ends := strings.ToLower(c.unquoted[m[0]:m[1]]); !has.has(ends) && g.ofNoProgram(c.unquoted[:m[0]], has) {
			return true
		}
		if o.said.MatchString("finished") && !denies(c.unquoted) {
			return !o.told.MatchString(so)
		}
		return !o.told.MatchString(whole)
	})
}

// ofNoProgram says whether what stands before such a word is a noun of the evidence that runs nothing: a stream, of which another word is said there.
func (g *grounds) ofNoProgram(before string, has stems) bool {
	clauses := parts.Split(before, -1)
	words := strings.Fields(clauses[len(clauses)-1])
	for i := len(words) - 1; i >= 0 && len(words) < 6; i-- {
		w := strings.ToLower(strings.Trim(words[i], ".,:;()'\"`"))
		if of, _, _ := g.layerOfWord(words[i]); of != noLayer || hasDigit(w) {
			return false
		}
		if !toBe[w] && !holding[w] && letters(w) && !neutral[w] {
			return has.has(w)
		}
	}
	return false
}

// saidThere are the lines that a claim cites, and what the rules say of them.
func (g *grounds) saidThere(c *claim) string {
	if g.ofRoot(c.cites) {
		return c.texts + g.Says
	}
	return c.texts
}

// A setting is on or off, and a line has it as one of these: pin_memory=True.
var (
	setTo    = lazy.MustCompile(`(?i)["']?\b([a-z][\w.-]*_[\w.-]*|[a-z][a-z0-9]+)["']?\s*[=:]\s*["']?(true|false|on|off|yes|no|enabled|disabled|none|0|1)\b`)
	saidToBe = lazy.MustCompile(`(?i)\b([a-z][\w.-]*)\b["']?,? (?:(?:is|was|are|were|had been|has been|be|stays?|stayed|remained|=|set to|to|turned|switched|left|not|still|mode|option|flag) )+["']?(true|false|on|off|enabled|disabled|active|inactive|used|unused)\b`)
	bareTo   = lazy.MustCompile(`(?i)\b([a-z][\w.-]*_[\w.-]*)["']? (true|false|off|enabled|disabled)\b`)
	notIt    = lazy.MustCompile(`(?i)\bnot\b`)
	unset    = words("false off no disabled none 0 inactive unused")
)

// switched says whether a claim has a setting as its evidence has it not.
func switched(plain, texts string) bool {
	has := map[string]bool{}
	for _, m := range setTo.FindAllStringSubmatch(texts, -1) {
		has[settingName(m[1])] = !unset[strings.ToLower(m[2])]
	}
	for _, m := range append(saidToBe.FindAllStringSubmatch(strings.ReplaceAll(plain, "`", ""), -1), append(setTo.FindAllStringSubmatch(plain, -1), bareTo.FindAllStringSubmatch(plain, -1)...)...) {
		is := !unset[strings.ToLower(m[2])] != notIt.MatchString(m[0])
		if on, ok := has[settingName(m[1])]; ok && on != is {
			return true
		}
	}
	return false
}

func settingName(w string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(w))
}
