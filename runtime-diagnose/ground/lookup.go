package ground

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

var (
	wordShape = lazy.MustCompile(`[A-Za-z0-9_][A-Za-z0-9_./:@=%+~\-]*|/[A-Za-z0-9_./~\-]+`)
	numbers   = lazy.MustCompile(`\d+(?:[.,:]\d+)*`)
	amount    = lazy.MustCompile(`(?i)(\d+(?:\.\d+)?)\s?(ms|milliseconds?|secs?|seconds?|mins?|minutes?|hours?|[kmgt]i?b|[kmgt]i|bytes?|s|h|b|秒|分钟|小时|毫秒|字节)(?:[^A-Za-z]|$)`)
	members   = lazy.MustCompile(`(?i)(?:\branks?[\s#]*|进程\s*|第\s*)((?:\d+)(?:\s*(?:-|–|—|to|and|through|,|、|和|到)\s*\d+)*)`)
	indexed   = lazy.MustCompile(`(?i)\b(workers?|masters?|launchers?|gpus?|devices?|nodes?|servers?|stages?|steps?|epochs?|attempts?|layers?|ports?|lines?|signals?|xid)[\s#]+(\d+)\b`)
)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// spokenOf is a program that a sentence speaks of: the ssh line, curl failed.
var spokenOf = lazy.MustCompile(`(?i)\b(?:ssh|scp|rsync|curl|wget|kubectl|nvidia-smi|helm|docker|git|mount|conda|pip3?|npm|apt|bash|python3?|make)(?:'s)? (?:(?:then|also|itself|never|still|even|only|just) )?(?:had|has|have|is|was|were|did|does|do|could|can|cannot|would|will|may|might|lines?|servers?|daemons?|process(?:es)?|keys?|connections?|logins?|client|failed|fails|exited|exits|returned|returns|reported|reports|ended|ends|printed|prints|found|finds|stands|means|to|from|and|or|as|by|with|without|at|on|in|into|over|step|call|error|command|package|image|module|refused|gave|gives|codes?)\b|\b(?:installed|upgraded|built|started|pulled) (?:by|with|through) (?:pip3?|conda|apt|npm|make)\b`)

// host is a name of one, without a scheme.
var host = lazy.MustCompile(`(?i)(?:^|[\s('"])((?:[a-z0-9-]+\.)+[a-z]{2,})(?:[\s,.;:)'"。，；：、]|$)`)

// started is a script as it was started: where the line of the cause has it, a claim speaks of it.
var started = lazy.MustCompile(`\b(?:python3?|bash|sh) [\w./-]+\.(?:py|sh)\b`)

// inside is an address within the cluster, by a number that no other network reaches: what the platform asked there, a claim speaks of.
// https://www.rfc-editor.org/rfc/rfc1918#section-3
var inside = lazy.MustCompile(`\bhttps?://(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+(?::\d+)?(?:/[\w./-]*\w)?`)

// stored is where data lies in a store of objects: nobody opens it.
var stored = lazy.MustCompile(`\b(?:s3a?|gs|oss|hdfs|tcp|env|file|unix|grpc)://[\w./:-]*\w|\benv://`)

// script is the name of a script, which looks like a host's.
var script = lazy.MustCompile(`\b[\w-]+\.sh\b`)

// imageTag is the name of an image with its tag or digest, which nobody opens: where the cause's own line has it, a claim speaks of it.
var imageTag = lazy.MustCompile(`\b[\w.-]+\.[a-z]{2,}(?::\d+)?(?:/[\w.-]*\w)+(?::[\w.-]*\w|@sha256:[0-9a-f]+)?`)

// acting is a program as the subject of a sentence, with its verb. Of kubectl and docker such a word may be a command: logs, images.
var acting = lazy.MustCompile(`(?i)^(?:the )?(?:nvidia-smi|curl|wget|ssh|scp|rsync|mount|pip3?|npm|apt|bash|make) (?:[a-z]{2,}[^su]s|[a-z]{3,}ed) `)

// plainly is a claim without the programs that it speaks of and the hosts that it has from what was read and sends nobody to: they are no commands
// and no addresses to go to.
func (g *grounds) plainly(body string) string {
	body = acting.ReplaceAllString(spokenOf.ReplaceAllString(body, " "), " ")
	body = stored.ReplaceAllStringFunc(body, func(m string) string {
		if slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return containsToken(i.Text, m) }) {
			return " "
		}
		return m
	})
	body = started.ReplaceAllStringFunc(body, func(m string) string {
		if slices.ContainsFunc(g.Root, func(id evidence.ID) bool { return strings.Contains(g.items[id].Text, strings.TrimSpace(m)) }) {
			return " "
		}
		return m
	})
	body = inside.ReplaceAllStringFunc(body, func(m string) string {
		if slices.ContainsFunc(g.Items, func(i evidence.Item) bool {
			return (strings.HasPrefix(string(i.ID), "event/") || slices.Contains(g.Root, i.ID)) && containsToken(i.Text, m)
		}) {
			return " "
		}
		return m
	})
	for _, of := range []*lazy.Regexp{script, imageTag} {
		body = of.ReplaceAllStringFunc(body, func(m string) string {
			if slices.ContainsFunc(g.Items, func(i evidence.Item) bool {
				return containsToken(i.Text, m) && (slices.Contains(g.Root, i.ID) || (slices.Contains(g.Effects, i.ID) || strings.HasPrefix(string(i.ID), "event/") || frameAt.MatchString(i.Text)) && !Injected(strings.ReplaceAll(i.Text, m, " ")))
			}) {
				return " "
			}
			return m
		})
	}
	if guides.MatchString(body) {
		return body
	}
	return host.ReplaceAllStringFunc(body, func(m string) string {
		name := strings.ToLower(host.FindStringSubmatch(m)[1])
		if !strings.HasSuffix(name, ".sh") && !strings.HasSuffix(name, ".py") && slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return containsToken(strings.ToLower(i.Text), name) }) {
			return " "
		}
		return m
	})
}

// commands says that a text holds a command or an address.
func commands(text string) bool {
	return shellLike.MatchString(text) || address.MatchString(resource.ReplaceAllString(text, " "))
}

// looked are the words of a claim that can be looked up: numbers, and names that no dictionary has.
func looked(body string) (out []string) {
	for _, w := range wordShape.FindAllString(body, -1) {
		w = strings.TrimRight(w, ".:,-/=~+@")
		switch {
		case w == "" || strings.EqualFold(w, "e.g") || strings.EqualFold(w, "i.e") || w == "etc":
		case strings.EqualFold(w, "and/or"):
		case numberWords[strings.ToLower(w)] != "":
			out = append(out, strings.ToLower(w))
		case strings.IndexFunc(w, unicode.IsDigit) >= 0, strings.ContainsAny(w, "_@=") || strings.Contains(w[1:], ".") || strings.HasPrefix(w, "/"), camel(w):
			out = append(out, w)
		case strings.ContainsAny(w, "/:-"):
			for _, part := range strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("/:-", r) }) {
				if camel(part) {
					out = append(out, part)
				}
			}
		}
	}
	return out
}

// common are words with capitals that say nothing about what happened.
var common = map[string]bool{
	"PyTorch": true, "PyTorchJob": true, "Kubernetes": true, "CPU": true, "GPU": true, "GPUs": true, "CUDA": true, "OOM": true, "JobSet": true, "TrainJob": true, "MPIJob": true, "OOMKilled": true,
	"RAM": true, "CPUs": true, "ID": true, "IDs": true, "DDP": true, "TensorFlow": true, "OpenPAI": true,
}

// camel says that a word has capitals where a sentence has none.
func camel(w string) bool {
	if common[w] || len(w) < 2 {
		return false
	}
	ups := 0
	for i, r := range w {
		if i > 0 && unicode.IsUpper(r) {
			ups++
		}
	}
	return ups > 0
}

// holds says whether a support has a word that was looked up: as it is, or as the same amount.
func holds(support, w string) bool {
	if n, ok := numberWords[w]; ok {
		return containsToken(support, w) || containsToken(support, n)
	}
	if containsToken(support, w) {
		return true
	}
	if m := amount.FindStringSubmatch(w + " "); m != nil && strings.HasPrefix(w, m[1]) {
		return sameAmount(support, m[1], m[2])
	}
	if !digitsOnly(w) {
		return false
	}
	w = strings.ReplaceAll(w, ",", "")
	for _, at := range numbers.FindAllStringIndex(support, -1) {
		if at[0] > 1 && support[at[0]-1] == '-' && wordRune(rune(support[at[0]-2])) {
			continue // of a name
		}
		if ofIdentifier(support, at[0]) {
			continue
		}
		n := support[at[0]:at[1]]
		if strings.TrimRight(strings.TrimRight(decimal(n), "0"), ".") == strings.TrimRight(strings.TrimRight(decimal(w), "0"), ".") {
			return true
		}
	}
	return false
}

// ofIdentifier says whether a digit of a text is of a word that has letters between its numbers: 7f8ea5fff700 counts nothing.
func ofIdentifier(text string, at int) bool {
	from, to := at, at
	for from > 0 && wordRune(rune(text[from-1])) {
		from--
	}
	for to < len(text) && wordRune(rune(text[to])) {
		to++
	}
	return len(digitsOf.FindAllString(text[from:to], 3)) > 2
}

// decimal is a number with a point, so that 2 and 2.00 are the same once zeros are gone.
func decimal(n string) string {
	n = strings.ReplaceAll(n, ",", "")
	if !strings.Contains(n, ".") {
		n += "."
	}
	return n
}

func digitsOnly(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' && r != '%' }) < 0
}

// sameAmount says whether the same amount stands in a support in another unit.
func sameAmount(support, n, unit string) bool {
	want := value(n) * units[strings.ToLower(unit)]
	for _, m := range amount.FindAllStringSubmatch(support+" ", -1) {
		if got := value(m[1]) * units[strings.ToLower(m[2])]; got != 0 && want/got > 0.99 && want/got < 1.01 {
			return true
		}
	}
	for _, m := range ages.FindAllStringSubmatch(support, -1) {
		if got := 3600*value(cmp.Or(m[1], "0")) + 60*value(m[2]) + value(cmp.Or(m[3], "0")); got != 0 && want/got > 0.99 && want/got < 1.01 {
			return true
		}
	}
	return false
}

// ages are how Kubernetes writes how long ago something was: 18m, 2m40s, 1h5m.
var ages = lazy.MustCompile(`\b(?:(\d+)h)?(\d+)m(?:(\d+)s)?\b`)

func value(n string) float64 {
	var f float64
	_, _ = fmt.Sscanf(n, "%g", &f)
	return f
}

// containsToken says whether a text has a word that is not part of a longer one.
func containsToken(text, w string) bool {
	if w == "" {
		return false
	}
	text, w = strings.ToLower(text), strings.ToLower(w)
	for from := 0; ; {
		i := strings.Index(text[from:], w)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(w):])
		digit := unicode.IsDigit(rune(w[0])) && (partOfClock(text, i, i+len(w)) || before == '.' || before == '-' && i > 1 && wordRune(rune(text[i-2])))
		if !wordRune(before) && !wordRune(after) && !digit && !(unicode.IsDigit(rune(w[len(w)-1])) && after == '.' && i+len(w)+1 < len(text) && unicode.IsDigit(rune(text[i+len(w)+1]))) {
			return true
		}
		from = i + 1
	}
}

// partOfClock says whether a number of a text is that of an hour, a minute or a second in a time, of which nothing is counted.
func partOfClock(text string, from, to int) bool {
	two := func(at int) bool {
		return at >= 0 && at+2 <= len(text) && text[at] >= '0' && text[at] <= '9' && text[at+1] >= '0' && text[at+1] <= '9' && (at == 0 || !wordRune(rune(text[at-1])) && text[at-1] != '.')
	}
	if i := strings.IndexByte(text[from:to], ':'); i >= 0 || to-from < 2 || !two(from) {
		return false
	}
	return from > 2 && text[from-1] == ':' && two(from-3) || to == from+2 && to < len(text) && text[to] == ':' && two(to+1) && (to+3 == len(text) || !wordRune(rune(text[to+3])))
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

// span is how much later something was.
var span = lazy.MustCompile(`(?i)\b\d+(?:\.\d+)? (?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|hours?)\b`)

// perEach says of how many each there are of something, and not of which.
var perEach = lazy.MustCompile(`(?i)\b(?:per|each|every) (?:gpu|device|node|worker|server|stage)\b`)

// ofMembers says whether the ranks, workers, devices and the like that a claim names by number are those
// of its evidence.
func ofMembers(body, support string) bool {
	body = shortExit.ReplaceAllString(dotted.ReplaceAllString(body, " "), "exit code $1")
	body = perEach.ReplaceAllString(span.ReplaceAllString(body, " "), " ") // "the master 3 seconds later" is not the third master
	for _, m := range ranksOfClaim(body) {
		for _, n := range numbers.FindAllString(m.list, -1) {
			if !ofRank(support, n) && !(m.process && ofProcess(support, n)) {
				return false
			}
		}
	}
	for _, m := range slices.Concat(indexed.FindAllStringSubmatch(body, -1), codeOf.FindAllStringSubmatch(body, -1), hanCode.FindAllStringSubmatch(body, -1)) {
		word := regexp.QuoteMeta(strings.TrimSuffix(strings.ToLower(m[1]), "s"))
		switch strings.ToLower(word) {
		case "gpu", "device":
			word = `(?:gpu|cuda(?:place)?|dev(?:ice)?|nvidia)`
		case "line":
			word = `(?:line|#|\.py)`
		case "port":
			word = `(?:port|\]|\w)`
		case "code", "退出码":
			word = `(?:code|exit|status|errno|error)`
		}
		in := clockTime.ReplaceAllString(support, " ") // a year is no port
		if ok, _ := regexp.MatchString(`(?i)`+word+`s?(?:\s+|["':#=,(\[\]-]){0,4}(?:pid(?:\(s\))?[ :=]{1,2})?(?:0*)`+m[2]+`(?:[^0-9]|$)`, in); !ok {
			return false
		}
	}
	return true
}

// ranksNamed are numbers of ranks that a claim names together, or of processes.
type ranksNamed struct {
	list    string
	process bool
}

func ranksOfClaim(body string) (out []ranksNamed) {
	for _, m := range members.FindAllStringSubmatchIndex(body, -1) {
		if strings.HasPrefix(body[m[0]:], "第") {
			continue // the 812th step is no member
		}
		out = append(out, ranksNamed{body[m[2]:m[3]], strings.HasPrefix(body[m[0]:], "进程")})
	}
	return out
}

// clockTime is a day, or the time of one.
var clockTime = lazy.MustCompile(`\b\d{4}[-/]\d{2}[-/]\d{2}(?:T|\b)|\b\d{2}:\d{2}:\d{2}(?:[.,]\d+)?`)

// codeOf is the code that something exits with.
var codeOf = lazy.MustCompile(`(?i)\b(?:exit(?:ed)? (?:with )?)(code)(?: of [\w-]+)? (?:was |is )?(-?\d+)\b`)

// shortExit is it without its name.
var shortExit = lazy.MustCompile(`(?i)\bexit (\d{1,3})\b`)

// hanCode is it in Chinese.
var hanCode = lazy.MustCompile(`(退出码)\s*(?:均?(?:为|是)|都是|[:：=])?\s*(-?\d+)`)

func ofRank(support, n string) bool {
	ok, _ := regexp.MatchString(`(?i)(?:rank(?:[_ ]?id)?(?:\s+|["':=#\[\]]){0,4}|\[rank)0*`+regexp.QuoteMeta(n)+`(?:[^0-9.]|$)`, support)
	return ok
}

// ofProcess says whether a support has a process of that number.
func ofProcess(support, n string) bool {
	ok, _ := regexp.MatchString(`(?i)\b(?:pid|process)[\s:=#]{0,3}`+regexp.QuoteMeta(n)+`\b`, support)
	return ok
}

// content are the words of a claim that say something.
func content(text string) (out []string) {
	for _, w := range wordShape.FindAllString(text, -1) {
		w = strings.ToLower(strings.Trim(w, ".:,-/=~+@"))
		if len(w) >= 3 && !stops[w] && strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' }) < 0 {
			out = append(out, w)
		}
	}
	return out
}

// alike are words that explanations use for what platforms call otherwise.
var alike = map[string]string{
	"insufficient": "enough short lack lacking few exhausted", "memory": "oom outofmemory outofmemoryerror", "oomkilled": "memory limit exceeded", "allocate": "ask asked need needed request requested", "tried": "asked needed wanted",
	"timeout": "waited waiting long hung stuck timed time", "denied": "permission allowed access refused rejected reject", "refused": "connection reach connect connecting", "import": "missing installed module package", "modulenotfounderror": "find found exist missing package import imported installed module",
	"back-off": "retry retrying pull pulling wait waits", "evicted": "pushed removed node", "nan": "numbers loss diverged", "space": "full disk", "named": "called", "found": "missing exist", "such": "exist find found present", "missing": "exist find found present installed", "module": "find found", "pull": "download fetch image", "unschedulable": "placed scheduled room",
	"done": "finished finish completed complete", "watchdog": "waited timed timeout collective", "limit": "allowed exceeded over above beyond", "connection": "connect contact reach peer closed reset lost", "closed": "gone lost ended", "resolve": "address unknown name lookup", "no": "missing without lack lacks lacking", "env": "environment", "lr": "learning rate", "pid": "process", "available": "placed fit room",
}

// humps are the places where a name in capitals and small letters has its next word: FailedScheduling.
var humps = lazy.MustCompile(`([a-z])([A-Z])`)

// overlap counts the words of a claim that its support has, of those that say something.
func overlap(body, support string) (n, of int) {
	has := vocabulary(support)
	for _, w := range content(body) {
		if plainWords[w] {
			continue
		}
		if of++; has(w) {
			n++
		}
	}
	return n, of
}

// vocabulary says of a word whether a support has it, or what it calls otherwise.
func vocabulary(support string) func(string) bool { return vocabularies.Of(support) }

var vocabularies = lazy.Remember(readVocabulary)

func readVocabulary(support string) func(string) bool {
	has, low := map[string]bool{}, strings.ToLower(support)
	for _, w := range wordShape.FindAllString(support, -1) {
		for _, part := range append(strings.FieldsFunc(w+" "+humps.ReplaceAllString(w, "$1 $2"), func(r rune) bool { return !unicode.IsLetter(r) }), w) {
			has[stem(part)] = true
			for other := range strings.FieldsSeq(alike[strings.ToLower(part)]) {
				has[stem(other)] = true
			}
		}
	}
	return func(w string) bool {
		return has[stem(w)] || strings.Contains(low, w[:max(min(6, len(w)), len(w)-1)])
	}
}

// cited are the words in one pair of brackets.
func cited(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(",;，、", r) || unicode.IsSpace(r) })
}

// sentences cuts a text at line ends and after . ! ? and their full-width kin. A citation that
// follows the mark belongs to the sentence before it; marks inside brackets, quotation marks,
// numbers and names do not end one, and the number of a list item stays with its sentence.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimLeft(line, " \t>*-•"))
		for line != "" {
			n := sentenceEnd(line)
			if s := strings.TrimSpace(line[:n]); strings.IndexFunc(s, unicode.IsLetter) >= 0 {
				out = append(out, s)
			}
			line = strings.TrimSpace(line[n:])
		}
	}
	return out
}

func sentenceEnd(s string) int {
	depth, quoted := 0, false
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		switch {
		case r == '[':
			depth++
		case r == ']' && depth > 0:
			depth--
		case r == '"' || r == '`':
			quoted = !quoted
		case depth > 0 || quoted:
		case strings.ContainsRune("。！？", r):
			return trailing(s, next)
		case strings.ContainsRune(".!?", r) && ends(s, i, next):
			return trailing(s, next)
		}
	}
	return len(s)
}

// ends says whether the mark at i closes a sentence: white space and no small letter follow,
// and it is not the number of a list item or a short form.
func ends(s string, i, next int) bool {
	if next < len(s) && s[next] != ' ' && s[next] != '\t' {
		return false
	}
	word := s[strings.LastIndexAny(s[:i], " \t(")+1 : i]
	if word == "e.g" || strings.EqualFold(word, "i.e") || word == "etc" || word == "vs" || word == "approx" {
		return false
	}
	return strings.IndexFunc(s[:i], unicode.IsLetter) >= 0 // "1." opens an item
}

// trailing moves the end behind citations that stand after the full stop.
func trailing(s string, end int) int {
	for {
		rest := strings.TrimLeft(s[end:], " \t")
		m := brackets.FindStringSubmatchIndex(rest)
		if m == nil || m[0] != 0 || !slices.ContainsFunc(cited(rest[m[2]:m[3]]), idShape.MatchString) {
			return end
		}
		end = len(s) - len(rest) + m[1]
		if end < len(s) && strings.ContainsRune(".!?", rune(s[end])) {
			end++
		}
	}
}

// squeeze makes any run of white space one space, so that a quotation may be wrapped.
func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
