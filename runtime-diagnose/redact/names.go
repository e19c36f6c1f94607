package redact

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// class is what a name says about its value.
type class int

const (
	none     class = iota
	password       // anything may be one
	secret         // anything of some length
	token          // something of some length with letters and digits: models have tokens as well
	key            // only what looks random
)

// passwords end a name of a password, written in one word or as the last part of several.
var (
	passwordEnds = []string{"password", "passwords", "passwd", "passphrase", "passwort", "passcode", "sshpass", "userpass"}
	passwordIs   = words("pwd pass psw pswd passwrd becomepass keypass dbpass")
	secretEnds   = []string{"secret", "secrets", "credential", "credentials", "apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey", "masterkey", "accountkey", "authkey"}
	secretIs     = words("dockerconfigjson dockercfg creds cred apikeys appkey sharedkey sessionkey licensekey sshkey clientkey deploykey")
	tokenEnds    = []string{"token"}
	tokenIs      = words("auth sid session sessionid jsessionid phpsessid cookie csrf xsrf csrftoken otp sas jwt bearer")
	// keyOf are what a key is of that is a secret, and publicKey what a key is of that is none.
	keyOf     = words("api access private secret signing encryption master account auth session shared subscription storage ssh app application license hmac jwt webhook deploy admin consumer root wandb service project openai")
	publicKey = words("public pub cache sort primary foreign partition query past attention state dict hash idempotency row object lock metric map registry group config hot turn mon don")
)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// parts are the words of a name: my_apiKey2 is my, api and key.
func parts(name string) (out []string) {
	from := 0
	end := func(to int) {
		if part := strings.ToLower(strings.Trim(name[from:to], "0123456789")); part != "" {
			out = append(out, part)
		}
		from = to
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == '.':
			end(i)
			from = i + 1
		case i > from && uppers[c] && (lowers[name[i-1]] || digits[name[i-1]]),
			i > from+1 && lowers[c] && uppers[name[i-1]] && uppers[name[i-2]]:
			if lowers[c] {
				end(i - 1)
			} else {
				end(i)
			}
		}
	}
	end(len(name))
	return out
}

// classOf says what a name says about its value. The last word decides: a password_file is a file.
func classOf(name string) class {
	if len(name) > 100 {
		return none
	}
	p := parts(name)
	if len(p) == 0 {
		return none
	}
	last, before := p[len(p)-1], ""
	if len(p) > 1 {
		before = p[len(p)-2]
	}
	switch {
	case hasEnd(last, passwordEnds) || passwordIs[last]:
		return password
	case hasEnd(last, secretEnds) || secretIs[last],
		last == "key" && keyOf[before],
		last == "id" && (before == "secret" || before == "key" && len(p) > 2 && keyOf[p[len(p)-3]] || strings.HasSuffix(before, "accesskey")),
		last == "data" && before == "key" && len(p) > 2 && p[len(p)-3] == "client",
		last == "base" && before == "key":
		return secret
	case hasEnd(last, tokenEnds) || tokenIs[last], last == "id" && before == "session":
		return token
	case last == "key" && !publicKey[before]:
		return key
	}
	return none
}

func hasEnd(text string, ends []string) bool {
	for _, e := range ends {
		if strings.HasSuffix(text, e) {
			return true
		}
	}
	return false
}

// place is how a value stands beside its name.
type place int

const (
	quotedValue place = iota // name: "value"
	assigned                 // name=value
	setting                  // NAME=value
	colon                    // name: value
	option                   // --name value
	optionIs                 // --name=value
	exported                 // NAME value
	prose                    // the name is value
	parameter                // ?name=value
)

// fits says whether a text that stands so is a value to mask.
func (c class) fits(v string, at place) bool {
	if v == "" || placeholder(v) || code.MatchString(v) {
		return false
	}
	letterAndDigit := digits.has(v) && letters.has(v)
	if (at == option || at == optionIs) && notValues[strings.ToLower(v)] {
		return false
	}
	switch c { //nolint:exhaustive // none fits nothing
	case password:
		switch at { //nolint:exhaustive // the other places are alike
		case colon:
			return utf8.RuneCountInString(v) >= 4
		case exported, prose:
			return len(v) >= 6 && letterAndDigit && !measure(v) && !path(v)
		}
		return true
	case secret:
		switch at { //nolint:exhaustive // the other places are alike
		case quotedValue:
			return !path(v)
		case colon:
			return len(v) >= 4 && (mixed(v) || len(v) >= 20) && !path(v)
		case option:
			return len(v) >= 4 && !path(v)
		case exported:
			return len(v) >= 8 && letterAndDigit && !path(v)
		case prose:
			return random(v, 16)
		}
		return len(v) >= 4 && !path(v)
	case token:
		switch at { //nolint:exhaustive // the other places are alike
		case quotedValue, setting, parameter:
			return len(v) >= 8 && letterAndDigit && !path(v)
		case option:
			return len(v) >= 4 && (mixed(v) || len(v) >= 16) && !path(v)
		case optionIs:
			return len(v) >= 4 && !path(v)
		case exported:
			return len(v) >= 12 && letterAndDigit && !path(v)
		case prose:
			return random(v, 16)
		}
		return len(v) >= 16 && letterAndDigit && !path(v)
	case key:
		switch at { //nolint:exhaustive // the other places are alike
		case parameter:
			return len(v) >= 16 && letterAndDigit && !path(v)
		case prose:
			return false
		case option, optionIs:
			return random(v, 16)
		}
		return random(v, 20)
	}
	return false
}

// notValues are what stands where a value would, and is none.
var notValues = words("null none nil true false yes no unset undefined str string int integer bytes bool any object optional required missing empty invalid wrong incorrect expired default enabled disabled " +
	"is was or and not to must cannot requires option flag argument parameter value given for the in of strict redacted masked hidden self optional[str] not-set not_set changeme")

// placeholder is what stands for a value: words for nothing, stars, variables and templates.
func placeholder(v string) bool {
	if notValues[strings.ToLower(strings.TrimRight(v, ".,;:!"))] || strings.HasPrefix(v, masked) {
		return true
	}
	switch v[0] {
	case '$':
		return len(v) > 1 && (letters[v[1]] || v[1] == '{' || v[1] == '(' || v[1] == '_')
	case '<':
		return strings.HasSuffix(v, ">") || strings.Contains(v, "|")
	case '{', '%':
		return strings.HasPrefix(v, "{{") || strings.HasPrefix(v, "%(")
	}
	return strings.Trim(v, "*") == "" || strings.Trim(v, ".") == "" || strings.Trim(v, "xX") == "" || strings.Trim(v, "-_") == ""
}

// code is source text that says where a value comes from.
var code = regexp.MustCompile(`^(?:(?:args|self|config|cfg|os|settings|opts?|options|conf|params?|kwargs|env|environ|getpass|request|ctx|this|vault|keyring|process|System|secrets)\.[A-Za-z_][\w.]*|(?:[a-z_]\w*\.)*[a-zA-Z_]\w*[(\[].*)$`)

// path is the name of a file.
func path(v string) bool {
	if strings.Contains(v, "://") {
		return true
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(v, begin) {
			for part := range strings.SplitSeq(v, "/") {
				if len(part) >= 20 && mixed(part) && uppers.has(part) || strings.ContainsAny(part, "+=") {
					return false
				}
			}
			return true
		}
	}
	return false
}

// measured is a number with a unit, a version, a time or an address.
var measured = regexp.MustCompile(`^(?:v?\d[\d.,:/-]*[a-zA-Z%]{0,4}|0x[0-9a-fA-F]+|\d+x\d+\w*|[a-z]+-?\d{1,4}|\w+\(.*|[\w.-]+:\d+|[^\s/]*/.*|\d+(?:st|nd|rd|th)|utf-?\d+|sha\d+.*|[\w.-]+\.[a-z]{1,5}(?::\d+)?)$`)

func measure(v string) bool { return measured.MatchString(v) }

// random is what no word, number or name is: capitals, small letters and digits, or many hexadecimal digits.
func random(v string, least int) bool {
	if len(v) < least || !digits.has(v) || !letters.has(v) || path(v) {
		return false
	}
	if uppers.has(v) && lowers.has(v) {
		return !strings.Contains(v, "://")
	}
	if hex.only(v) {
		return len(v) >= 32
	}
	changes := 0
	for i := 1; i < len(v); i++ {
		if digits[v[i]] != digits[v[i-1]] {
			changes++
		}
	}
	return len(v) >= 20 && changes >= 5
}

// byName masks the value of a name that says that it is a secret.
func byName(s *scan, at int) int {
	text := s.text
	from, to := dotted.runBack(text, at), dotted.run(text, at)
	read := to
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
		return read
	}
	n := named{scan: s, class: c, from: from, to: to, option: dashes > 0 && dashes < 3 && (from-dashes == 0 || !word[text[from-dashes-1]])}
	n.look()
	return read
}

// ofTwoWords is the class of "API key" and "secret access key", by the words before.
func ofTwoWords(text string, from, to int, c class) class {
	if from < 2 || text[from-1] != ' ' {
		return c
	}
	switch strings.ToLower(text[from:to]) {
	case "key":
		if w := letters.runBack(text, from-1); keyOf[strings.ToLower(text[w:from-1])] {
			return secret
		}
		return c
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

// closing is a quotation mark behind a name, or before and behind a value, in any depth of escaping.
var closing = regexp.MustCompile(`^(?:\\*["'` + "`" + `]|%22|%27|&quot;|&#34;)`)

var (
	operator = regexp.MustCompile(`^(?:\s*(?:\[\w*\])?\s*(?:\|\||[:?+.]{0,3}=>?|:|：|＝|->|=|\\u003[dD]|%3[aAdD]))`)
	// typed is the type between a name and its value: "key: String = ".
	typed = regexp.MustCompile(`^\s*:\s*[A-Za-z_][\w.\[\]]*\s+=\s*["']`)
	// pair is what stands between a name and its value where each is a value: {"name": N, "value": V}.
	pair    = regexp.MustCompile(`^\s*,?\s*\\*["']?(?i:value)\\*["']?\s*[:=]\s*`)
	element = regexp.MustCompile(`^</\w+>\s*<\w+>\s*`)
	comma   = regexp.MustCompile(`^\s*,\s*`)
	opener  = regexp.MustCompile(`^(?:[bru]?(?:\w*\()?[\[{(]*\s*)`)
)

// look finds what stands behind the name, and masks it where it is a value.
func (n *named) look() {
	text, p := n.text, n.to
	quote := closing.FindString(text[p:])
	p += len(quote)
	if p < len(text) && (text[p] == ']' || text[p] == ')') && quote != "" {
		p++
	}
	rest := text[p:min(len(text), p+256)]
	upper := strings.ToUpper(text[n.from:n.to]) == text[n.from:n.to]
	inURL := n.from > 0 && strings.IndexByte("?&#;", text[n.from-1]) >= 0
	switch {
	case pair.MatchString(rest):
		n.value(p+len(pair.FindString(rest)), quotedValue, "")
	case element.MatchString(rest):
		n.value(p+len(element.FindString(rest)), quotedValue, "<")
	case n.from > 0 && text[n.from-1] == '<' && strings.HasPrefix(rest, ">"):
		n.value(p+1, quotedValue, "<")
	case typed.MatchString(rest):
		n.value(p+len(typed.FindString(rest))-1, quotedValue, "")
	case operator.MatchString(rest):
		op := operator.FindString(rest)
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
	case (quote != "" || n.option) && comma.MatchString(rest):
		next := p + len(comma.FindString(rest))
		if quote == "" || closing.MatchString(text[next:]) {
			at := quotedValue
			if n.option {
				at = option
			}
			n.value(next, at, ",")
		}
	case n.option && quote == "" && rest != "" && blanks[rest[0]]:
		n.value(p+1, option, "")
	case upper && n.to-n.from > 4 && quote == "" && rest != "" && blanks[rest[0]]:
		n.value(p+1, exported, "")
	default:
		n.spoken(p)
	}
}

// prosaic says that what stands behind a colon is a sentence: then only what looks like a value is one.
func (n *named) prosaic(p int) bool {
	rest := strings.TrimLeft(n.text[p:min(len(n.text), p+200)], " \t")
	if rest == "" || closing.MatchString(rest) {
		return false
	}
	fields := strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(fields) < 3 || mixed(fields[0]) || !lowersOnly(fields[0]) || !lowersOnly(strings.TrimRight(fields[1], ".,;:")) {
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
	p += len(opener.FindString(text[p:min(len(text), p+40)]))
	list := p > 0 && text[p-1] == '['
	for range 64 {
		quote := closing.FindString(text[p:])
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
		if !list || !comma.MatchString(text[p:]) {
			return
		}
		p += len(comma.FindString(text[p:]))
	}
}

// exception is one that is named like a secret: what follows is its message.
var exception = regexp.MustCompile(`^\w*(?:Error|Exception): `)

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

// unquoted masks a value that ends where a word does.
func (n *named) unquoted(p int, at place, ends string) {
	text := n.text
	stops := "\"'`,;&)}]<>|\\"
	loose := n.class == password && (at == assigned || at == setting || at == option || at == optionIs)
	if loose {
		stops = "\"'&[]()<>"
	}
	if at == option || at == optionIs {
		stops = "\"'`|<>"
	}
	if at == parameter {
		stops += "#"
	}
	stops += ends
	to := p
	for to < len(text) && !blanks[text[to]] && strings.IndexByte(stops, text[to]) < 0 {
		if text[to] == '[' && strings.HasPrefix(text[to:], masked) && to > p {
			break
		}
		to++
	}
	if loose || at == option || at == optionIs {
		to = p + len(strings.TrimRight(text[p:to], ",;"))
	}
	if at == colon || at == prose {
		to = p + len(strings.TrimRight(text[p:to], ".:!?"))
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

var kubelet = regexp.MustCompile(`^" : (?:secrets?|configmaps?|object|references|failed|error|open|stat|mount\w*|fetching|couldn|timed|exit|unable|kubernetes\.io/\S+)\b`)

// fillers stand between a name and a value in a sentence.
var fillers = words("is was are for user username of the to as with a an at by on in from your my his her new old value changed set now account key")

// spoken masks what stands in a sentence behind a name: near it, what looks like such a value; farther
// away only what is long and random.
func (n *named) spoken(p int) {
	text := n.text
	near, anyWord := true, false
	for range 12 {
		start := p
		for p < len(text) && (blanks[text[p]] || strings.IndexByte("({[:,;=", text[p]) >= 0) {
			p++
		}
		if start == p && start > n.to {
			if p >= len(text) {
				return
			}
		}
		quote := closing.FindString(text[p:])
		from := p + len(quote)
		to := from
		for to < len(text) && !blanks[text[to]] && strings.IndexByte("\"'`,;()[]{}<>", text[to]) < 0 {
			to++
		}
		if to == from {
			return
		}
		w := strings.TrimRight(text[from:to], ".:!?")
		switch {
		case near && n.class != key && n.class.fits(w, prose),
			n.class != password && n.class != key && len(w) >= 32 && random(w, 32) && alnum.only(w) && !strings.Contains(text[start:from], "sha"):
			n.mask(from, from+len(w))
			return
		case near && anyWord, near && fillers[strings.ToLower(w)]:
			anyWord = strings.EqualFold(w, "user") || strings.EqualFold(w, "username") || strings.EqualFold(w, "for")
		default:
			near = false
		}
		p = to + len(closing.FindString(text[to:]))
	}
}

// inWords are names of secrets in other languages, and what they are of.
var inWords = map[string]class{
	"密码": password, "口令": password, "密碼": password, "パスワード": password, "비밀번호": password, "пароль": password,
	"密钥": secret, "私钥": secret, "令牌": secret, "密鑰": secret, "凭证": secret,
}

var verbs = regexp.MustCompile(`^["'”’]?\s*(?:是|为|為|：|:|=|＝|は|는|\s)?\s*(?:[:：=]\s*)?["'“‘「]?`)

func byWord(s *scan, at int) int {
	for w, c := range inWords {
		if !strings.HasPrefix(s.text[at:], w) {
			continue
		}
		from := at + len(w)
		from += len(verbs.FindString(s.text[from:]))
		to := from
		for to < len(s.text) && s.text[to] > ' ' && s.text[to] < 0x80 && strings.IndexByte("\"'`,;<>", s.text[to]) < 0 {
			to++
		}
		v := s.text[from:to]
		if v == "" || placeholder(v) {
			return from
		}
		if c == password && len(v) >= 6 && letters.has(v) && (digits.has(v) || uppers.has(v)) || c == secret && random(v, 16) {
			s.mask(from, to)
		}
		return to
	}
	return at
}

func wordGates() (out []string) {
	for w := range inWords {
		out = append(out, strings.ToLower(w))
	}
	return out
}

// invisible are the runes that nobody sees: zero-width and direction marks, soft hyphens, variation
// selectors and the tag characters of U+E0000.
func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || r >= 0xFE00 && r <= 0xFE0F
}
