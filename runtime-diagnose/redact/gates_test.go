package redact

import (
	"slices"
	"strings"
	"testing"
)

// A line in which no gate stands is not asked for the name of a secret. So one stands in every name there is.
func TestAGateStandsInEveryNameOfASecret(t *testing.T) {
	names := map[string]bool{}
	words := slices.Collect(func(yield func(string) bool) {
		for _, byLast := range nameWords {
			for _, w := range slices.Concat(byLast[:]...) {
				yield(w.text)
			}
		}
	})
	for _, w := range words {
		for _, before := range words {
			names[before+"_"+w] = true
		}
		names[w], names["client_key_"+w] = true, true
	}
	for w := range inWords {
		names[w] = true
	}
	long := strings.Repeat("x", 24)
	for _, ends := range [][]string{passwordEnds, secretEnds, tokenEnds} {
		for _, w := range ends {
			names[long+w], names[long+strings.ReplaceAll(w, "k", "\u212a")], names[long+strings.ReplaceAll(w, "i", "\u0130")] = true, true, true
		}
	}
	known := 0
	for name := range names {
		for _, text := range []string{name, strings.ToUpper(name)} {
			var l Lines
			l.ends(text + ":")
			l.names("- name: " + text)
			if l.class == none {
				continue
			}
			if known++; opening.next(text, 0) < 0 {
				t.Errorf("no gate stands in %q, which names a secret", text)
			}
		}
	}
	if known < 1000 {
		t.Errorf("%d names of secrets, want 1000 at least", known)
	}
	for _, g := range opening.all {
		if strings.ContainsAny(g.text, "\n") {
			t.Errorf("the gate %q goes over the end of a line", g.text)
		}
		// So no gate comes about where something is masked: those of the next round stood there before. A token of Twilio that began with
		// "ske" would begin within a word.
		if strings.ContainsAny(g.text, "[]") || g.text != "" && g.text != "ske" && strings.Contains(masked, g.text) {
			t.Errorf("the gate %q may stand in what is masked, or at its edge", g.text)
		}
	}
}

// A value with a digit is not looked up among the words for nothing.
func TestNoWordForNothingHasADigit(t *testing.T) {
	for w := range notValues {
		if digits.has(w) {
			t.Errorf("%q has a digit", w)
		}
	}
}
