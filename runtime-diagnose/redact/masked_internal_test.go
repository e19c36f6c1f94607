package redact

import "testing"

// A value that is masked as a whole is not looked at again; one of which a part is masked, or another beside it, is.
func TestWhatIsMaskedAlready(t *testing.T) {
	for text, already := range map[string]bool{
		"=[masked]": true, "=[masked] and more": true, ": [masked], token=x": true, ":[masked];": true,
		"=[masked]hunter2": false, "=": false, ": [mask": false, " [masked]": false, "=x[masked]": false, "==[masked]": false, "=\"[masked]\"": false,
	} {
		if got := isMasked(text, false); got != already {
			t.Errorf("%q is masked already: %t, want %t", text, got, already)
		}
	}
	for text, want := range map[string]string{
		"--token=[masked],hunter2":                         "--token=[masked][masked]",
		"--password=[masked]hunter2":                       "--password=[masked][masked]",
		"password=[masked], token=abcdef0123456789ABCDEF":  "password=[masked], token=[masked]",
		"db_password: [masked] api_key=abcdef0123456789AB": "db_password: [masked] api_key=[masked]",
	} {
		if got := Line(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
