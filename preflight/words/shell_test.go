package words

import "testing"

func TestShellWord(t *testing.T) {
	for name, want := range map[string]string{
		"train-worker-0":    "train-worker-0",
		"logs/rank_0.log":   "logs/rank_0.log",
		"a b":               "'a b'",
		"$(touch it)":       "'$(touch it)'",
		"a';touch it;'":     `'a'\'';touch it;'\'''`,
		"a\nb":              "'a\nb'",
		"--kubeconfig=evil": "'./--kubeconfig=evil'",
		"-x;touch it":       "'./-x;touch it'",
		"":                  "''",
		"~root":             "'~root'",
		"nœud":              "'nœud'",
	} {
		if got := ShellWord(name); got != want {
			t.Errorf("%q is written %s; want %s", name, got, want)
		}
	}
}
