package ground

import (
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A line of a log reports; what tells its reader what to do is not its report, whoever wrote it: a library's hint, or somebody who wants to be obeyed.
var (
	// breaks are where one clause ends and the next begins; a dot or a colon within a name or a number is none.
	breaks = lazy.MustCompile(`[.;:!?,]\s+|\s[-–—|]+\s|\s*[(（]|[。；，：！？、]|:\s*$|([:;])\p{Han}`)
	// advice is a clause that is headed as advice, or that says what people have to do.
	advice = lazy.MustCompile(`(?i)^(?:(?:the |a |an |real |actual |recommended |suggested |possible |quick |known )*(?:hint|tip|note|fix|solution|workaround|remedy|mitigation|resolution|action|suggestion|recommendation|instructions?)\b|to (?:fix|solve|mend|resolve|renew|continue|recover|avoid)\b|see\b|refer\b|reach out\b|roll ?back\b|suspend\b|bitte\b|veuillez\b|por favor\b)|` +
		`\b(?:operators?|admin\w*|users?|someone|somebody|people|persons?|on[- ]?call|engineers?|teams?|staff|owners?|maintainers?|person on call)\s+(?:\w+\s+){0,2}?(?:should|shall|must|needs? to|ha(?:s|ve) to|are (?:asked|requested) to|is (?:asked|requested) to)\b|` +
		`\b(?:must|should|ha(?:s|ve) to) be (?:opened|scaled|granted|raised|shared|paid|disabled|deleted|removed|restarted|drained|given)\b|\bplease\b|\b(?:rotate|renew|resolve[sd]?|repair|recover) (?:it|them|this)? ?by\b|` +
		`^\s*(?:先|再|然后|直接|立即|立刻|首先|现在|接着|重新|手动|建议|可以|需要?|务必|必须|最好|应该?|应当)*(?:请|运行|执行|删除|安装|重启|发送|联系|打开|访问|下载|上传|应(?:该|当)?)|请`)
	// noReport are words that stand before what is reported, and say nothing themselves.
	noReport = lazy.MustCompile(`(?i)^(?:error|errors|fatal|critical|warning|warn|info|debug|exception|traceback|panic|failed|failure|错误|警告|致命|erreur|fehler|\w*(?:error|exception))$`)
)

// Reported is the part of a line that reports what happened: up to the first clause that speaks to a reader, names an address to go to or
// holds a command. Empty: nothing is left that says anything.
func Reported(text string) string {
	end, from := len(text), 0
	for from < len(text) {
		to, next := len(text), len(text)
		if at := breaks.FindStringSubmatchIndex(text[from:]); at != nil {
			to, next = from+at[0], from+at[1]
			if at[2] >= 0 { // the character behind it is of the next clause
				next = from + at[3]
			}
		}
		if clause := strings.TrimSpace(text[from:to]); directs(clause) {
			end = from
			break
		}
		from = next
	}
	out := strings.TrimRight(text[:end], " \t.,;:!?-–—|(（。；，：！？")
	if !says(out) {
		return ""
	}
	return out
}

// directs says that a clause is for who reads it.
func directs(clause string) bool {
	return advice.MatchString(clause) || isOrder(clause) || imperativeIn.MatchString(clause) || shellLike.MatchString(clause) ||
		address.MatchString(resource.ReplaceAllString(clause, " ")) && guides.MatchString(clause) || asks.MatchString(clause)
}

// An order has its verb first and no other: a clause that goes on with a finite one before anything hangs on it has that first word for its subject.
// "Run initialization has timed out" tells of something, "check whether it has" does not.
var (
	ofCode       = lazy.MustCompile(`^[\w-]+[.=/]\w`)
	goesOnFinite = lazy.MustCompile(`^\S+ [A-Z]{2,}\S* (?:itself )?[a-z]{2,}s\b|^\S+ [^,;:]*?\b(?:has|have|had|is|are|was|were|did|does|can|could|cannot|will|would|failed|timed|exceeded|seems?|appears?)\b`)
	hangsOn      = lazy.MustCompile(`(?i)[,;:.]\s| (?:whether|that|which|who|what|how|where|if|when|while|until|unless|before|after|and|or|so|because|to) `)
)

// nounFirst is a noun that is written as a verb is: a name, or one behind which it stands of what it is.
var nounFirst = lazy.MustCompile(`^\W*(?:Open (?:MPI|UCX)|(?i:open (?:questions?|points?|issues?|files?)|call (?:path|stack|site|chain)|run (?:time|id)|start[- ]?up|use of|set of|change (?:of|in)|increase (?:of|in)|decrease (?:of|in)|update of|check of|stop of|start of))\b`)

// isOrder says whether a clause is one.
func isOrder(clause string) bool {
	if !imperative.MatchString(clause) || ofCode.MatchString(clause) || nounFirst.MatchString(clause) {
		return false
	}
	main := clause
	if m := hangsOn.FindStringIndex(clause); m != nil {
		main = clause[:m[0]]
	}
	return !goesOnFinite.MatchString(main)
}

// guides are words that send somebody to an address; a request that failed names one without them.
var guides = lazy.MustCompile(`(?i)\b(?:contact|e-?mail|mail|visit|support|help|mov(?:e|ed) to|available (?:at|from)|posted (?:at|to)|fixed in|repaired|patch\w*|image|registry|mirror)\b`)

// says that two words at least are left that tell something, or four characters of Chinese.
func says(text string) bool {
	words, han := 0, 0
	if exceptionName.MatchString(text) { // its name is a word
		words++
	}
	for w := range strings.FieldsSeq(text) {
		w = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		for _, r := range w {
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
		if len(w) > 1 && !noReport.MatchString(w) && strings.ContainsFunc(w, unicode.IsLetter) {
			words++
		}
	}
	return words >= 2 || han >= 6
}

// exceptionName is the name of an exception at the beginning of a text.
var exceptionName = lazy.MustCompile(`^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception)\b`)
