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

// parts are the last three words of a name, the last first: my_apiKey2 is key, api and my.
func parts(name string) (out [3]string) {
	n := 0
	for to := len(name); to > 0 && n < len(out); {
		from := beginOf(name, to)
		first, last := from, to
		for first < last && !letters[name[first]] {
			first++
		}
		for first < last && !letters[name[last-1]] {
			last--
		}
		if first < last {
			out[n] = small(name[first:last])
			n++
		}
		to = from
	}
	return out
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
	p := parts(name)
	last, before, first := p[0], p[1], p[2]
	switch {
	case last == "":
		return none
	case hasEnd(last, passwordEnds) || passwordIs[last]:
		return password
	case hasEnd(last, secretEnds) || secretIs[last],
		last == "key" && keyOf[before],
		last == "id" && (before == "secret" || before == "key" && keyOf[first] || strings.HasSuffix(before, "accesskey")),
		last == "data" && before == "key" && first == "client",
		last == "base" && before == "key":
		return secret
	case last == "token" && tokenOf[before]:
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
