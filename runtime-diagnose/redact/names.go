package redact

import (
	"maps"
	"slices"
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

// nameWord is what is known of a word of a name, by the whole of it or by how it ends.
type nameWord struct {
	text               string // in small letters; empty: none of the lists has it
	is                 class
	end                string
	ends               class // what words are that end so
	key, token, public bool  // of such a thing it is a secret, a token is a secret, a key is none
}

var unknownWord nameWord

// lastWord is the last word of a name up to a place, and where it begins: of my_apiKey2 it is key, of what is before it api. ok is
// false where no letter stands.
func lastWord(name string, to int) (w *nameWord, from int, ok bool) {
	for to > 0 {
		from = beginOf(name, to)
		first, last := from, to
		for first < last && !letters[name[first]] {
			first++
		}
		for first < last && !letters[name[last-1]] {
			last--
		}
		if first < last {
			return wordOf(name[first:last]), from, true
		}
		to = from
	}
	return &unknownWord, 0, false
}

// wordOf is what is known of a word, which begins and ends with letters.
func wordOf(word string) *nameWord {
	if len(word) > longestName {
		word = strings.ToLower(word)
	}
	known := nameWords[lower[word[0]]-'a'][lower[word[len(word)-1]]-'a']
	for i := range known {
		if w := &known[i]; len(w.text) == len(word) && beginsWith(word, w.text) {
			return w
		}
	}
	return endOf(word)
}

// longestName is from where on capitals that are not ASCII count as well: a few have small letters that are.
const longestName = 24

// nameWords are all words of the lists above, by their first and their last letter.
var nameWords = func() (t [26][26][]nameWord) {
	is := map[string]class{}
	for c, list := range map[class]map[string]bool{password: passwordIs, secret: secretIs, token: tokenIs} {
		for w := range list {
			is[w] = c
		}
	}
	all := slices.Concat(passwordEnds, secretEnds, tokenEnds, []string{"key", "id", "data", "base", "client"})
	for _, list := range []map[string]bool{passwordIs, secretIs, tokenIs, keyOf, tokenOf, publicKey} {
		all = slices.AppendSeq(all, maps.Keys(list))
	}
	slices.Sort(all)
	for _, w := range slices.Compact(all) {
		known := *endOf(w)
		known.text, known.is, known.key, known.token, known.public = w, is[w], keyOf[w], tokenOf[w], publicKey[w]
		list := &t[w[0]-'a'][w[len(w)-1]-'a']
		*list = append(*list, known)
	}
	return t
}()

// endsWord are the letters that end them.
var endsWord = func() (t [256]bool) {
	for _, of := range nameWords {
		for i, words := range of {
			if len(words) > 0 {
				t['a'+i], t['A'+i] = true, true
			}
		}
	}
	return t
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
	last, at, ok := lastWord(name, len(name))
	if !ok {
		return none
	}
	before, first := &unknownWord, &unknownWord
	switch last.text {
	case "key", "id", "data", "base", "token":
		before, at, _ = lastWord(name, at)
		first, _, _ = lastWord(name, at)
	}
	switch is, ends := last.is, last.ends; {
	case ends == password || is == password:
		return password
	case ends == secret || is == secret,
		last.text == "key" && before.key,
		last.text == "id" && (before.text == "secret" || before.text == "key" && first.key || before.end == "accesskey"),
		last.text == "data" && before.text == "key" && first.text == "client",
		last.text == "base" && before.text == "key":
		return secret
	case last.text == "token" && before.token:
		return secret
	case ends == token || is == token, last.text == "id" && before.text == "session":
		return token
	case last.text == "key" && !before.public:
		return key
	}
	return none
}

// nameEnds are what names end with, by the last byte.
var nameEnds = func() (t [256][]nameWord) {
	for i, list := range [][]string{passwordEnds, secretEnds, tokenEnds} {
		for _, w := range list {
			last := w[len(w)-1]
			t[last] = append(t[last], nameWord{end: w, ends: []class{password, secret, token}[i]})
		}
	}
	return t
}()

// endOf is what is known of a word by how it ends.
func endOf(word string) *nameWord {
	known := nameEnds[lower[word[len(word)-1]]]
	for i := range known {
		if w := &known[i]; len(word) >= len(w.end) && beginsWith(word[len(word)-len(w.end):], w.end) {
			return w
		}
	}
	return &unknownWord
}
