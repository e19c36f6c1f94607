package redact

import (
	"strings"
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
	keyOf = words("api access private secret signing encryption master account auth session shared subscription storage ssh app application license hmac jwt webhook deploy admin consumer root wandb service project openai")
	// tokenOf are what a token is of that is a secret, whatever it is made of; of others a model has many.
	tokenOf   = words("access auth api bearer refresh")
	publicKey = words("public pub cache sort primary foreign partition query past attention state dict hash idempotency row object lock metric map registry group config hot turn mon don job")
)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// lastPart is the last word of a name up to a place, in small letters, and where it begins: of my_apiKey2 it is key, of what is before it api.
func lastPart(name string, to int) (part string, from int) {
	for to > 0 && part == "" {
		from = beginOf(name, to)
		first, last := from, to
		for first < last && !letters[name[first]] {
			first++
		}
		for first < last && !letters[name[last-1]] {
			last--
		}
		part, to = small(name[first:last]), from
	}
	return part, from
}

// small is a word in small letters. Those of nearly all names are found without making a new one.
func small(part string) string {
	if !uppers.has(part) {
		return part
	}
	var b [24]byte
	if len(part) > len(b) {
		return strings.ToLower(part)
	}
	for i := range len(part) {
		b[i] = lower[part[i]]
	}
	if known, ok := nameWords[string(b[:len(part)])]; ok {
		return known
	}
	return string(b[:len(part)])
}

// nameWords are all words of the lists above.
var nameWords = func() map[string]string {
	m := map[string]string{}
	for _, list := range []map[string]bool{passwordIs, secretIs, tokenIs, keyOf, publicKey, tokenOf} {
		for w := range list {
			m[w] = w
		}
	}
	for _, list := range [][]string{passwordEnds, secretEnds, tokenEnds, {"key", "id", "data", "base", "client"}} {
		for _, w := range list {
			m[w] = w
		}
	}
	return m
}()

// beginOf is where the word of a name begins that ends at a place: behind a separator, or where small letters or
// digits give way to capitals, the last of several capitals being the first letter of what follows.
func beginOf(name string, to int) int {
	for i := to - 1; i > 0; i-- {
		switch c, before := name[i], name[i-1]; {
		case before == '_' || before == '-' || before == '.':
			return i
		case uppers[c] && (lowers[before] || digits[before]),
			uppers[c] && uppers[before] && i+1 < to && lowers[name[i+1]]:
			return i
		}
	}
	return 0
}

// classOf says what a name says about its value. The last word decides: a password_file is a file.
func classOf(name string) class {
	if len(name) > 100 {
		return none
	}
	last, at := lastPart(name, len(name))
	if last == "" {
		return none
	}
	var before, first string
	switch last {
	case "key", "id", "data", "base", "token":
		before, at = lastPart(name, at)
		first, _ = lastPart(name, at)
	}
	is, end := wordIs[last], endsAs(last)
	switch {
	case end == password || is == password:
		return password
	case end == secret || is == secret,
		last == "key" && keyOf[before],
		last == "id" && (before == "secret" || before == "key" && keyOf[first] || strings.HasSuffix(before, "accesskey")),
		last == "data" && before == "key" && first == "client",
		last == "base" && before == "key":
		return secret
	case last == "token" && tokenOf[before]:
		return secret
	case end == token || is == token, last == "id" && before == "session":
		return token
	case last == "key" && !publicKey[before]:
		return key
	}
	return none
}

// wordIs are the classes of whole words.
var wordIs = func() map[string]class {
	m := map[string]class{}
	for c, of := range map[class]map[string]bool{password: passwordIs, secret: secretIs, token: tokenIs} {
		for w := range of {
			m[w] = c
		}
	}
	return m
}()

// wordEnd is what a word ends with.
type wordEnd struct {
	text string
	of   class
}

// wordEnds are those ends by their last byte.
var wordEnds = func() (t [256][]wordEnd) {
	for i, list := range [][]string{passwordEnds, secretEnds, tokenEnds} {
		for _, w := range list {
			last := w[len(w)-1]
			t[last] = append(t[last], wordEnd{w, []class{password, secret, token}[i]})
		}
	}
	return t
}()

// endsAs is the class by how a word ends.
func endsAs(word string) class {
	for _, end := range wordEnds[word[len(word)-1]] {
		if strings.HasSuffix(word, end.text) {
			return end.of
		}
	}
	return none
}
