package redact

import (
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// byName masks the value of a name that says that it is a secret.
func byName(s *scan, at int) int {
	text := s.text
	from, to := dotted.runBack(text, at), dotted.run(text, at)
	read := to
	if isMasked(text[to:], text[from] == '-') {
		return read
	}
	for to > at && (text[to-1] == '.' || text[to-1] == '-') {
		to--
	}
	dashes := 0
	for from < at && (text[from] == '-' || text[from] == '.') {
		if text[from] == '-' {
			dashes++
		}
		from++
	}
	if from < at && percent(text, from+2) { // %22password
		from += 2
	}
	if from > 0 && text[from-1] == '\\' && from < at && strings.IndexByte("nrt", text[from]) >= 0 { // "\npassword"
		from++
	}
	c := classOf(text[from:to])
	if c == key || c == none {
		c = ofTwoWords(text, from, to, c)
	}
	if c == none {
		s.looked = max(0, letters.runBack(text, max(0, from-1))-1)
		return read
	}
	n := named{scan: s, class: c, from: from, to: to, option: dashes > 0 && dashes < 3 && (from-dashes == 0 || !word[text[from-dashes-1]])}
	n.look()
	return read
}

// isMasked says whether a text begins with a sign and a value that is masked as a whole: so it is on the second round, of most names.
// The value of an option goes on behind a comma.
func isMasked(text string, option bool) bool {
	if len(text) <= len(masked) || text[0] != '=' && text[0] != ':' {
		return false
	}
	value := text[1:]
	if text[0] == ':' && value[0] == ' ' {
		value = value[1:]
	}
	return strings.HasPrefix(value, masked) && (len(value) == len(masked) || tabs[value[len(masked)]] || !option && commas[value[len(masked)]])
}

// ofTwoWords is the class of "API key" and "secret access key", by the words before.
func ofTwoWords(text string, from, to int, c class) class {
	if from < 2 || text[from-1] != ' ' {
		return c
	}
	if strings.EqualFold(text[from:to], "key") {
		switch w := strings.ToLower(text[letters.runBack(text, from-1) : from-1]); {
		case keyOf[w]:
			return secret
		case publicKey[w]:
			return none
		}
	}
	return c
}

// named is a name of a secret in a line.
type named struct {
	*scan
	class    class
	from, to int
	option   bool
}

// deepest is how many backslashes may stand before a quotation mark: each escaping of a text doubles them.
const deepest = 64

// quoteAt is the quotation mark with which a text begins, in any depth of escaping; empty: with none.
func quoteAt(text string) string {
	if text == "" {
		return ""
	}
	i := 0
	for i < len(text) && i < deepest && text[i] == '\\' {
		i++
	}
	if i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '`') {
		return text[:i+1]
	}
	if text[0] == '%' || text[0] == '&' {
		for _, mark := range [...]string{"%22", "%27", "&quot;", "&#34;"} {
			if strings.HasPrefix(text, mark) {
				return mark
			}
		}
	}
	return ""
}

var (
	operator = lazy.MustCompile(`^(?:\s*(?:\[\w*\])?\s*(?:\|\||[:?+.]{0,3}=>?|:|：|＝|->|=|\\u003[dD]|%3[aAdD]))`)
	// typed is the type between a name and its value: "key: String = ".
	typed = lazy.MustCompile(`^\s*:\s*[A-Za-z_][\w.\[\]]*\s+=\s*["']`)
	// pair is what stands between a name and its value where each is a value: {"name": N, "value": V}.
	pair    = lazy.MustCompile(`^\s*,?\s*\\*["']?(?i:value)\\*["']?\s*[:=]\s*`)
	element = lazy.MustCompile(`^</\w+>\s*<\w+>\s*`)
)

// operatorAt is what stands between a name and its value; empty: nothing of the kind.
func operatorAt(text string) string {
	i := blanks.run(text, 0)
	if i == len(text) || !operators[text[i]] {
		return ""
	}
	if c := text[i]; (c == '=' || c == ':') && i+1 < len(text) && !afterSign[text[i+1]] {
		return text[:i+1]
	}
	return operator.FindString(text)
}

// operators are the bytes with which an operator begins, those of the full-width ones as well.
var operators = set("[|:?+.=\\%\xef\x2d")

// afterSign go on with an operator that begins with = or a colon.
var afterSign = set(":?+.=>")

// commaAt is a comma and the blanks around it; empty: there is none.
func commaAt(text string) string {
	i := blanks.run(text, 0)
	if i == len(text) || text[i] != ',' {
		return ""
	}
	return text[:blanks.run(text, i+1)]
}

// openerAt is what may stand before the quotation mark of a value, or before the value: b", SecretStr(, [.
func openerAt(text string) int {
	at := 0
	if i := quotePrefix(text); i > 0 {
		return i
	}
	call := word.run(text, 0)
	if call < len(text) && text[call] == '(' {
		at = call + 1
	}
	for at < len(text) && strings.IndexByte("[{(", text[at]) >= 0 {
		at++
	}
	return blanks.run(text, at)
}

// quotePrefix is how many letters stand before a quotation mark, as in Python: b", rb", u".
func quotePrefix(text string) int {
	for i := 0; i < len(text) && i < 3; i++ {
		switch text[i] {
		case 'b', 'r', 'u':
		case '"', '\'':
			return i
		default:
			return 0
		}
	}
	return 0
}

// inQuery stand before a parameter of an address.
var inQuery = set("?&#;")

// look finds what stands behind the name, and masks it where it is a value.
func (n *named) look() {
	text, p := n.text, n.to
	quote := quoteAt(text[p:])
	p += len(quote)
	if p < len(text) && (text[p] == ']' || text[p] == ')') && quote != "" {
		p++
	}
	rest := text[p:min(len(text), p+256)]
	upper := !lowers.has(text[n.from:n.to])
	op := operatorAt(rest)
	inURL := n.from > 0 && inQuery[text[n.from-1]]
	switch {
	case namesValue(rest) && pair.MatchString(rest):
		n.value(p+len(pair.FindString(rest)), quotedValue, "")
	case strings.HasPrefix(rest, "</") && element.MatchString(rest):
		n.value(p+len(element.FindString(rest)), quotedValue, "<")
	case n.from > 0 && text[n.from-1] == '<' && strings.HasPrefix(rest, ">"):
		n.value(p+1, quotedValue, "<")
	case strings.HasSuffix(op, ":") && strings.IndexByte(rest, '=') > 0 && typed.MatchString(rest):
		n.value(p+len(typed.FindString(rest))-1, quotedValue, "")
	case op != "":
		at := assigned
		switch {
		case inURL:
			at = parameter
		case n.option && strings.HasSuffix(op, "="):
			at = optionIs
		case strings.HasSuffix(op, ":") && !strings.HasSuffix(op, "::"), strings.HasSuffix(op, "："):
			at = colon
		case upper:
			at = setting
		}
		ends := ""
		if strings.Contains(op, "%") {
			ends = "%"
		}
		if at == colon && strings.EqualFold(text[n.from:n.to], "pass") {
			at = prose // test results have that name as well
		}
		if at == colon && n.prosaic(p+len(op)) {
			return
		}
		n.value(p+len(op), at, ends)
	case (quote != "" || n.option) && commaAt(rest) != "":
		next := p + len(commaAt(rest))
		if quote == "" || quoteAt(text[next:]) != "" {
			at := quotedValue
			if n.option {
				at = option
			}
			n.value(next, at, ",")
		}
	case n.option && quote == "" && rest != "" && blanks[rest[0]]:
		n.value(p+1, option, "")
	case upper && n.to-n.from > 4 && quote == "" && rest != "" && blanks[rest[0]]:
		before := len(n.spans)
		if n.value(p+1, exported, ""); len(n.spans) == before {
			n.spoken(p) // no NAME VALUE, but a sentence about it
		}
	case n.class != key && quote == "" && n.wholeLine(p):
		n.value(p+1, exported, "")
	default:
		n.spoken(p)
	}
}

// wholeLine says that a line is a name of several words in one, blanks and a value, as Spark's files of settings have it.
func (n *named) wholeLine(p int) bool {
	if !strings.ContainsAny(n.text[n.from:n.to], "._") || p >= len(n.text) || !blanks[n.text[p]] || strings.TrimSpace(n.text[:n.from]) != "" {
		return false
	}
	rest := strings.TrimSpace(n.text[p:])
	return rest != "" && strings.IndexFunc(rest, unicode.IsSpace) < 0
}

// namesValue says that a text may go on with the word value, as pair has it.
func namesValue(rest string) bool {
	at := beforePair.run(rest, 0)
	return at < len(rest) && lower[rest[at]] == 'v'
}

// beforePair are the bytes that may stand before that word.
var beforePair = set(" \t\n\f\r,\\\"'")

// prosaic says that what stands behind a colon is a sentence: then only what looks like a value is one.
func (n *named) prosaic(p int) bool {
	rest := strings.TrimLeft(n.text[p:min(len(n.text), p+200)], " \t")
	if rest == "" || quoteAt(rest) != "" {
		return false
	}
	first, rest, two := strings.Cut(rest, " ")
	second, rest, three := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
	if !two || !three || mixed(first) || !lowersOnly(first) || !lowersOnly(second) || strings.TrimLeft(rest, " \t") == "" {
		return false
	}
	n.spoken(p)
	return true
}

func lowersOnly(w string) bool { return lowers.only(strings.TrimRight(w, ".,;:")) }

// value masks the value that begins at a place. ends are what ends it beside the usual.
func (n *named) value(p int, at place, ends string) {
	text := n.text
	p = blanks.run(text, p)
	if strings.HasPrefix(text[p:], "{{") || strings.HasPrefix(text[p:], "${") {
		return
	}
	p += openerAt(text[p:min(len(text), p+40)])
	list := p > 0 && text[p-1] == '['
	for range 64 {
		quote := quoteAt(text[p:])
		if quote == "" {
			n.unquoted(p, at, ends)
			return
		}
		from := p + len(quote)
		end := closingAt(text, from, quote)
		if end < 0 {
			n.unquoted(from, at, ends)
			return
		}
		if at != option {
			at = quotedValue
		}
		if n.class.fits(text[from:end], at) && !exception.MatchString(text[from:end]) {
			n.mask(from, end)
		}
		p = end + len(quote)
		if !list || commaAt(text[p:]) == "" {
			return
		}
		p += len(commaAt(text[p:]))
	}
}

// exception is one that is named like a secret: what follows is its message.
var exception = lazy.MustCompile(`^\w*(?:Error|Exception): `)

// closingAt is where the same quotation mark, escaped as deep, ends a text; -1: nowhere.
func closingAt(text string, from int, quote string) int {
	if quote[0] != '\\' && len(quote) > 1 { // %22
		if i := strings.Index(text[from:], quote); i >= 0 {
			return from + i
		}
		return -1
	}
	depth, mark := len(quote)-1, quote[len(quote)-1]
	for i := from; i < len(text); i++ {
		if text[i] != mark {
			continue
		}
		slashes := 0
		for i-slashes > from && text[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes == depth {
			return i - slashes
		}
		if slashes < depth { // the text around it ends here
			return -1
		}
	}
	return -1
}

// What a value that stands in no quotation marks may hold, by how it stands.
var (
	inValue     = until("\"'`,;&)}]<>|\\")
	inParameter = until("\"'`,;&)}]<>|\\#")
	inOption    = until("\"'`|<>")
	inLoose     = until("\"'&[]()<>")
	commas      = set(",;")
)

// unquoted masks a value that ends where a word does.
func (n *named) unquoted(p int, at place, ends string) {
	text := n.text
	loose := n.class == password && (at == assigned || at == setting || at == option || at == optionIs)
	of := &inValue
	switch {
	case at == option || at == optionIs:
		of = &inOption
	case loose:
		of = &inLoose
	case at == parameter && n.class != password:
		of = &inParameter
	}
	to := n.word(of, p)
	if ends != "" {
		if i := strings.Index(text[p:to], ends); i >= 0 {
			to = p + i
		}
	}
	if loose || at == option || at == optionIs {
		to = n.without(&commas, p, to)
	}
	if at == colon || at == prose {
		to = n.without(&ofSentence, p, to)
	}
	if at == option && p < to && text[p] == '-' {
		return
	}
	v := text[p:to]
	// A volume so named of which the kubelet reports an error: for volume "db-secret" : secret "db" not found
	if at == colon && n.to < len(text) && text[n.to] == '"' && kubelet.MatchString(text[n.to:min(len(text), n.to+60)]) {
		return
	}
	if !n.class.fits(v, at) {
		return
	}
	n.mask(p, to)
}

// without is where a value ends that goes on to a place, but for some characters at its end. It is found once for each end.
func (n *named) without(tail *bytesOf, from, to int) int {
	if n.tail.of != tail || n.tail.to != to {
		n.tail = stretch{of: tail, from: tail.runBack(n.text, to), to: to}
	}
	return max(from, n.tail.from)
}

var kubelet = lazy.MustCompile(`^" : (?:secrets?|configmaps?|object|references|failed|error|open|stat|mount\w*|fetching|couldn|timed|exit|unable|kubernetes\.io/\S+)\b`)

// fillers stand between a name and a value in a sentence.
var fillers = words("is was are for user username of the to as with a an at by on in from your my his her new old value changed set now account key default")

// longestFiller is how many bytes the longest of them has.
const longestFiller = len("username")

// is are those behind which the value stands.
var is = words("is was are")

// longestWord is how long a secret in a sentence may be: RSA's longest keys have some 4 KiB in one piece.
const longestWord = 16 << 10

// ofSentence end a sentence, or a part of one.
var ofSentence = set(".:!?")

// beforeWord stand before a word of a sentence.
var beforeWord = set(" \t\n\f\r\v({[:,;=")

// ofSpoken end a word of a sentence.
var ofSpoken = set(" \t\n\f\r\v\"'`,;()[]{}<>")

// spoken masks what stands in a sentence behind a name: near it, what looks like such a value; farther
// away only what is long and random.
func (n *named) spoken(p int) {
	text := n.text
	near, anyWord := true, false
	for range 12 {
		start := p
		p = beforeWord.run(text, p)
		if start == p && start > n.to {
			if p >= len(text) {
				return
			}
		}
		quote := quoteAt(text[p:])
		from := p + len(quote)
		to := n.run(&inSentence, from)
		if to == from || to-from > longestWord {
			return
		}
		end := ofSentence.runBack(text, to)
		if end <= from {
			return
		}
		w := text[from:end]
		switch {
		case near && n.class != key && n.class.fits(w, prose),
			n.class != password && n.class != key && len(w) >= 32 && alnum.only(w) && random(w, 32) && !strings.Contains(text[start:from], "sha"):
			n.mask(from, from+len(w))
			return
		case near && len(w) <= longestFiller && fillers[strings.ToLower(w)]:
			anyWord = anyWord && !is[strings.ToLower(w)] || strings.EqualFold(w, "user") || strings.EqualFold(w, "username") || strings.EqualFold(w, "for")
		case near && anyWord:
			anyWord = false
		default:
			near = false
		}
		p = to + len(quoteAt(text[to:]))
	}
}
