package redact

import "testing"

func TestText(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":                    {"", ""},
		"what needs nothing":         {"line one\n\n  line\ttwo\n", "line one\n\n  line\ttwo\n"},
		"a secret on every line":     {"DB_PASSWORD=hunter22\nthen https://me:hunter22@host/x", "DB_PASSWORD=[masked]\nthen https://[masked]@host/x"},
		"a key over several lines":   {"reads\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----\ndone", "reads\n[masked]\n[masked]\n[masked]\n[masked]\ndone"},
		"what a terminal would obey": {"\x1b[31mred\x1b[0m \x1b]0;title\atext\x00", "red text"},
		"half a character":           {"caf\xc3", "caf�"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Text(tc.text)
			if got != tc.want {
				t.Errorf("Text is %q, want %q", got, tc.want)
			}
			if again := Text(got); again != got {
				t.Errorf("Text of that is %q", again)
			}
		})
	}
}
