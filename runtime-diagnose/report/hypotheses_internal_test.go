package report

import "testing"

func TestACommandTakesANameAsItIs(t *testing.T) {
	for name, want := range map[string]string{
		"a/b-1.log": "a/b-1.log", "a b.log": "'a b.log'", "it's": `'it'\''s'`, "-n": "'./-n'", "$(reboot).log": "'$(reboot).log'", "ä.log": "'ä.log'",
	} {
		if got := shellWord(name); got != want {
			t.Errorf("%q is written as %s, want %s", name, got, want)
		}
	}
}
