package redact

import (
	"strings"
	"testing"
)

// A line is not passed over that ends with the name of a secret.
func FuzzEndsAsName(f *testing.F) {
	for _, of := range nameWords {
		for _, words := range of {
			for _, w := range words {
				f.Add("- name: " + w.text)
				f.Add(`{"name": "` + strings.ToUpper(w.text) + `_1",`)
				f.Add("<name>db." + w.text + "</name>")
			}
		}
	}
	for _, s := range []string{"", "name: ", "name: 12", "name: TOKEN\t\r", "name: my-password's", "name:\ttoken 1", "name: \u212aey"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name := strings.Trim(lastField(text), `"',`)
		if end, ok := strings.CutSuffix(name, "</name>"); ok {
			name = end[strings.LastIndexByte(end, '>')+1:]
		}
		if classOf(name) != none && !endsAsName(text) {
			t.Errorf("%q ends with a name and is passed over", text)
		}
	})
}
