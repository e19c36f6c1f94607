package redact

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// anew is settle, with all gates looked for in every round, and how many rounds it takes.
func anew(text string) (settled string, rounds int) {
	for {
		s := newScan()
		s.begin(text)
		s.look(0)
		spans := merged(s.spans)
		if len(spans) == 0 {
			return text, rounds
		}
		text = s.without(spans)
		rounds++
	}
}

// Each round of masking may bring one more secret to light: there are as many rounds as it takes.
func TestThereAreAsManyRoundsAsItTakes(t *testing.T) {
	const heaped = "--token [Authorization: Bearer  ?sig=is Authorization: Bearer https://Cookie: sid=?sig=token: Cookie: sid=Authorization: Bearer password: ;x"
	for text, want := range map[string]int{
		"step 7": 0, "password=hunter22": 1, "AKIAIOSFODNN7EXAMPLE--token hunter22": 2, heaped: 3,
	} {
		settled, rounds := anew(text)
		if got := Line(text); rounds != want || got != settled || Text(text+"\n"+text) != got+"\n"+got {
			t.Errorf("%q takes %d rounds, want %d; it is %q, want %q", text, rounds, want, got, settled)
		}
	}
}

// The gates that stood in a text before something in it was masked are those that stand in it now: a round that asks only them, and of them
// only those whose surroundings changed, finds what one over all would.
func TestARoundOverWhatIsLeftFindsTheSame(t *testing.T) {
	parts := []string{
		"password=", "password: ", "token: ", "--token ", "api key ", "authorization", "Authorization: Bearer ", "Cookie: sid=", "https://", "@host/x", "?sig=", "&key=", "secret ", "is ", "keyboard", "tokenizer", "monkey_",
		"hunter22", "abcdef0123456789ABCDEF", "sk-abcdefghij0123456789", "AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJI.eyJzdWIi.abc", "ghp_abcdefghijklmnopqrst0123", "密码是", "curl -u me:", "mysql -p", "-----BEGIN PRIVATE KEY-----",
		" ", " ", ",", ";", "\"", "\\\"", "'", "=", ":", "[", "]", "[masked]", "[mask", "ked]", "{", "}", "%22", "\\", "&", ".",
	}
	r := rand.New(rand.NewPCG(6, 6))
	again := 0
	for range 200_000 {
		var b strings.Builder
		for range 2 + r.IntN(9) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.String()
		got := settle(text)
		want, _ := anew(text)
		if got != want {
			t.Fatalf("%q is %q, want %q", text, got, want)
		}
		if got != text {
			again++
		}
	}
	if again < 10_000 {
		t.Errorf("of %d texts something is masked, want 10,000 at least", again)
	}
}

// A text with more gates than are noted is masked like any other.
func TestMoreGatesThanAreNoted(t *testing.T) {
	for _, n := range []int{mostHits - 1, mostHits, mostHits + 1, 3 * mostHits} {
		text := strings.Repeat("key ", n-2) + "AKIAIOSFODNN7EXAMPLE--token hunter22" // which the second round finds
		s := newScan()
		s.begin(text)
		s.look(0)
		if len(s.hits) != min(n, mostHits) || s.more != (n > mostHits) {
			t.Errorf("of %d gates %d are noted, more: %t", n, len(s.hits), s.more)
		}
		if got, want := settle(text), strings.Repeat("key ", n-2)+"[masked]--token [masked]"; got != want {
			t.Errorf("behind %d gates is left: %q", n, got[4*n-8:])
		}
	}
}

// What a log's lines are masked into is used again; what Line gives is kept by its caller.
func TestWhatLineGivesStays(t *testing.T) {
	var lines []string
	for range 100 {
		lines = append(lines, Line("password=hunter22 "+strings.Repeat("x", len(lines))))
	}
	for i, line := range lines {
		if want := "password=[masked] " + strings.Repeat("x", i); line != want {
			t.Errorf("line %d is %q, want %q", i, line, want)
		}
	}
}

// A secret's name may be of any length: its last words decide.
func TestALongNameHidesItsSecret(t *testing.T) {
	for _, n := range []int{1, 90, 91, 92, 300, 5000} {
		name := strings.Repeat("x", n) + "_PASSWORD"
		if got, want := Line("export "+name+"=hunter22"), "export "+name+"=[masked]"; got != want {
			t.Errorf("behind a name of %d bytes stands %s", len(name), got[len("export ")+len(name):])
		}
	}
}
