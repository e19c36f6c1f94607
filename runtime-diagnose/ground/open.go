package ground

import (
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A clause that says of a question that its answer is not known asserts nothing that evidence could contradict: which question it is, and in which words it
// is left open, does not matter. So it is told by its parts: a word that asks, and a "not" before a verb of saying or knowing.

var (
	asking  = lazy.MustCompile(`(?i)\b(?:whether|what|why|how)\b|(?:^|[^,\s]\s+)(?:which|who|whom|whose|where|when|if)\b|什么|还是|为何|为什么|哪|是否|原因|谁|如何|怎`)
	notTold = lazy.MustCompile(`(?i)(?:\b(?:not|never|cannot|nothing|nobody|none|no|neither|hardly|without|impossible|hard|difficult)\b|n['’]t\b)(?: [\w'’-]+){0,5}? ?\b(?:say(?:s|ing)?|said|tell(?:s|ing)?|told|shows?|shown|showing|known?|determined?|follows?|see|seen|reveal\w*|record\w*|contain\w*|indicat\w*|prove[sdn]?|establish\w*|exclude[sd]?|explain\w*|provid\w*|mention\w*|state[sd]?|stating|clear|certain|evident|visible|logged|distinguish\w*|decide[sd]?|identif\w*|infer(?:red)?|conclude[sd]?|confirm\w*|given|named?|information|evidence|answer\w*|printed|listed|covered|among|part of)\b|\b(?:unknown|unclear|open|unexplained|undetermined|uncertain)\b|看不出|不得而知|(?:没有|未能?|无法|不能|不足以|并未|不)\p{Han}{0,6}(?:说明|显示|表明|判断|确定|看出|给出|记录|提供|得知|指出|解释|清楚)`)
	// untold says of something that nothing is said of it, and no more.
	untold   = lazy.MustCompile(`(?i)^[^,;:]* (?:is|are|was|were)(?: not|n['’]t| nowhere| never) (?:mentioned|shown|named|told|said|known|visible|listed|logged|given|recorded|read)\W*$`)
	clauseOf = lazy.MustCompile(`[;；。]|[,，]\s*(?:and|but|though|although|while|yet|so|但|而|不过)?\s*|:\s`)
)

// leavesOpen says whether a clause only leaves open what it asks.
func leavesOpen(clause string) bool {
	return asking.MatchString(clause) && notTold.MatchString(clause)
}

// takenBack says whether a claim says of the rest of it that nothing shows it, or lists what was not so: X is a frequent reason, but nothing here
// shows it; not the cause: X.
func takenBack(body string) bool {
	label, _, labelled := strings.Cut(body, ": ")
	clauses := clauseOf.Split(strings.TrimRight(body, " .。"), -1)
	return labelled && negation.MatchString(label) || len(clauses) > 1 && notTold.MatchString(clauses[len(clauses)-1])
}

// tells is a word by which a clause says something.
var tells = lazy.MustCompile(`(?i)\b(?:is|are|was|were|has|have|had|did|does|do|can|could|will|would)\b`)

// onlyLeavesOpen says whether a claim says nothing else: an aside between its commas belongs to the question, a clause behind it does not.
func onlyLeavesOpen(body string) bool {
	if untold.MatchString(body) {
		return true
	}
	asks, not := asking.FindStringIndex(body), notTold.FindStringIndex(body)
	if asks == nil || not == nil || !han(body) && len(content(body[:asks[0]])) > 2 {
		return false
	}
	behind := body[max(asks[1], not[1]):]
	m := clauseOf.FindStringIndex(behind)
	for m != nil {
		if behind = behind[m[1]:]; behind == "" {
			return true
		}
		clause := behind
		if m = clauseOf.FindStringIndex(behind); m != nil {
			clause = behind[:m[0]]
		}
		if (tells.MatchString(clause) || well.MatchString(clause)) && !leavesOpen(clause) {
			return false
		}
	}
	return true
}

// inCode is a word that names something and says nothing: READY, /models/ready, is_available.
var inCode = lazy.MustCompile(`\b[A-Z][A-Z0-9_]{2,}\b|[\w.-]*[/_][\w./-]+`)

// prose is a claim without its names.
func prose(body string) string { return inCode.ReplaceAllString(body, " ") }

// asserted is what a claim says to be so: without conditions, what would be, what it leaves open, and what it makes of the rest.
func asserted(body string) string {
	if onlyLeavesOpen(body) {
		return ""
	}
	return withoutOpen(inferred.ReplaceAllString(withoutSupposed(body), ""))
}

// A clause with "would" is about a case that did not come about, one with "if" about one that need not, and neither asserts anything of the one that did.
var (
	wouldDo = lazy.MustCompile(`(?i)\b(?:would|if|unless|provided that|only (?:[a-z]+ )?when)\b`)
	// onlyNumbers is a part of a list of them.
	onlyNumbers = lazy.MustCompile(`^\d+(?:\.\d+)?\W*$`)
	wouldSeem   = lazy.MustCompile(`(?i)\bwould (?:seem|appear|suggest|explain|mean|indicate|point|fit|match)\b`)
	partOf      = lazy.MustCompile(`(?i)[,;:()，；：（）]|\b(?:whereas|while|but|although|since|because|which|so|and)\b`)
)

// withoutSupposed is a claim without what would be, and the conditions of that.
func withoutSupposed(body string) string {
	if !wouldDo.MatchString(body) {
		return body
	}
	var b strings.Builder
	from, supposed := 0, false
	for _, m := range append(partOf.FindAllStringIndex(body, -1), []int{len(body), len(body)}) {
		part := body[from:m[0]]
		if part := strings.TrimSpace(part); part == "" || !onlyNumbers.MatchString(part) { // a list goes on as it began
			supposed = wouldDo.MatchString(part) && !wouldSeem.MatchString(part)
		}
		if !supposed {
			b.WriteString(part)
		}
		b.WriteString(body[m[0]:m[1]])
		from = m[1]
	}
	return b.String()
}

// withoutOpen is a claim without the clauses that leave something open.
func withoutOpen(body string) string {
	if onlyLeavesOpen(body) {
		return ""
	}
	from := 0
	var b strings.Builder
	for _, m := range append(clauseOf.FindAllStringIndex(body, -1), []int{len(body), len(body)}) {
		if clause := body[from:m[0]]; !leavesOpen(clause) {
			b.WriteString(body[from:m[1]])
		}
		from = m[1]
	}
	return b.String()
}
