package redact_test

import (
	"strings"
	"testing"
)

// attacks are texts made to carry a secret past the rules: beside another one, within one, cut by one, or written so that only what is masked
// before brings its name beside it. What stands in «» must not leave.
var attacks = map[string]string{
	"an option behind a key":                   "AKIAIOSFODNN7EXAMPLE--token «hunter22»",
	"an option behind an option":               "--token «hunter22x1» --password --secret «s3cr3tword»",
	"two tokens that touch":                    "«ghp_abcdefghijklmnopqrst0123»«ghp_zyxwvutsrqponmlkjihg9876»",
	"two tokens with a sign between":           "«ghp_abcdefghijklmnopqrst0123»,«glpat-zyxwvutsrqponmlk»",
	"a token within a password":                "password=«pre-ghp_abcdefghijklmnopqrst0123-behind9»",
	"a password within a token's address":      "https://«ghp_abcdefghijklmnopqrst0123:hunter22xyz»@git.local/x",
	"an address within a password":             "PASSWORD=«https://me:hunter22@host/pa7h»",
	"an address within an address":             "https://gate.example.com/?to=https://«me:hunter22x»@host/x&token=«abcdef0123456789ABCDEF»",
	"an encoded address within an address":     "https://gate.example.com/?to=https%3A%2F%2Fhost%2F%3Ftoken%3D«abcdef0123456789ABCDEF»",
	"JSON within an address":                   `https://host/x?q={"password":"«hunter22xy»","n":1}`,
	"escaped JSON within an address":           `https://host/x?q={\"password\":\"«hunter22xy»\",\"n\":1}`,
	"encoded JSON within an address":           `https://host/x?q=%7B%22password%22%3A%22«hunter22xy»%22%7D`,
	"escaped JSON within JSON within a log":    `{"log":"{\"env\":\"{\\\"db_password\\\":\\\"«hunter22xy»\\\"}\"}\n","stream":"stderr"}`,
	"a header within JSON":                     `{"headers":{"Authorization":"Bearer «abcdef0123456789»","Cookie":"sid=«q1w2e3r4t5»"}}`,
	"a header behind a header":                 "Authorization: Bearer «abcdef0123456789», Authorization: Basic «bWU6aHVudGVyMjI=»",
	"a header without a blank":                 "Authorization:Bearer «abcdef0123456789»,Bearer «zyxwvu9876543210»",
	"a token of another kind that touches":     "«shpat_abcdef0123456789abcdef0123456789»«ghp_zyxwvutsrqponmlkjihg9876»",
	"a name that is the value of another name": "password=token: «abcdef0123456789ABCDEF»",
	"many names and one value":                 "token=secret=password=«hunter22xy»",
	"a value cut by a mask":                    "password=«AKIAIOSFODNN7EXAMPLEhunter22»",
	"a value behind a mask in its quotation":   `password="«AKIAIOSFODNN7EXAMPLE hunter22»"`,
	"a quotation that a mask opens":            `token sk-abcdefghij0123456789" password="«hunter22xy»"`,
	"a name split by what nobody sees":         "pass\u200bword=«hunter22xy»",
	"a name split by a colour":                 "pass\x1b[0mword=«hunter22xy»",
	"a name in half-masked brackets":           "[mask password=«hunter22xy» ked]",
	"a mask that was written by hand":          "[masked] password=«hunter22xy» [masked]",
	"a name that touches a mask":               "[masked]password=«hunter22xy»",
	"an option that touches a mask":            "[masked]--password «hunter22xy»",
	"a cookie behind a token":                  "sk-abcdefghij0123456789 Cookie: a=«hunter22xy»; sid=«q1w2e3r4t5»",
	"a command behind a token":                 "sk-abcdefghij0123456789; curl -u me:«hunter22xy» https://h",
	"a key behind a secret of its own kind":    "AccountKey=«abc+/0123456789==»;SharedAccessKey=«zyx+/9876543210==»",
	"a signature behind a signature":           "https://h/c?sig=«ab%2Fcd%3D»&X-Amz-Signature=«deadbeef01»&sig=«ef%2Fgh%3D»",
	"a secret in a list behind a secret":       `passwords=["«hunter22xy»","«hunter33xy»"], tokens: ["x"]`,
	"a key on one line with a password":        "password=«hunter22xy» -----BEGIN PRIVATE KEY-----«MIIEvQIBADANBgkqhkiG»-----END PRIVATE KEY----- token=«abcdef0123456789ABCDEF»",
	"Chinese between names":                    "密码：«hunter22xy»，令牌：«abcdef0123456789ABCDEF»",
	"a name in capitals behind a mask":         "TOKEN=«abcdef0123456789ABCDEF»DB_PASSWORD=«hunter22xy»",
	"an exported name behind a mask":           "sk-abcdefghij0123456789 DB_PASSWORD «hunter22xy»",
	"a sentence behind a mask":                 "token «abcdef0123456789ABCDEF», the password for me is «hunter22xy»",
	"a carriage return between":                "token=«abcdef0123456789ABCDEF»\rpassword=«hunter22xy»",
	"a value that ends with half a mask":       "password=«hunter22xy[mask»",
	"a value that begins with half a mask":     `password="«ked]hunter22xy»"`,
	"a name behind very many":                  strings.Repeat("key ", 1500) + "AKIAIOSFODNN7EXAMPLE--token «hunter22»",
	"a name behind very much":                  strings.Repeat("x ", 40_000) + "password=«hunter22xy»",
	"a user and a token beside a DSN":          "me:«hunter22xy»@tcp(db:3306)/x?token=«abcdef0123456789ABCDEF»",
}

func TestNoAttackCarriesASecretOut(t *testing.T) {
	for name, text := range attacks {
		var secrets []string
		for rest := text; ; {
			_, behind, ok := strings.Cut(rest, "«")
			if !ok {
				break
			}
			secret, behind, _ := strings.Cut(behind, "»")
			secrets, rest = append(secrets, secret), behind
		}
		text = strings.NewReplacer("«", "", "»", "").Replace(text)
		for way, mask := range ways {
			got := mask(text)
			for _, secret := range secrets {
				if part := leaked(got, secret); part != "" {
					t.Errorf("%s, %s: %q shows %q: %s", name, way, secret, part, got[max(0, len(got)-200):])
				}
			}
			if again := mask(got); again != got {
				t.Errorf("%s, %s: masked twice: %s", name, way, again[max(0, len(again)-200):])
			}
		}
	}
}
