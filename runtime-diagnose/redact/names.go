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
