package ground

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// digits are the numbers of a claim that count or measure something.
var digits = regexp.MustCompile(`\d+(?:\.\d+)?`)

// mutations are claims that differ from a faithful one in one number, one member, one "not" or the order of its two
// halves, and say what its evidence does not.
func mutations(s scenario, claim string) map[string]string {
	out := map[string]string{}
	body, cites := claim, ""
	if i := strings.Index(claim, " ["); i > 0 && strings.Contains(claim[i:], "/") {
		body, cites = strings.TrimRight(claim[:i], "."), claim[i:]
	}
	var texts strings.Builder
	for _, i := range s.Items {
		if cites == "" || strings.Contains(cites, i.ID) {
			texts.WriteString(i.Text + "\n")
		}
	}
	has := digits.FindAllString(texts.String(), -1)
	for _, at := range digits.FindAllStringIndex(body, -1) {
		if at[0] > 0 && !strings.ContainsRune(" ([", rune(body[at[0]-1])) || at[1] < len(body) && !strings.ContainsRune(" ,.)]", rune(body[at[1]])) {
			continue // of a name
		}
		for _, n := range has {
			if value(n) != value(body[at[0]:at[1]]) {
				out["number "+body[at[0]:at[1]]+" to "+n] = body[:at[0]] + n + body[at[1]:] + cites
			}
		}
	}
	for _, name := range s.Names[2:] {
		if !strings.Contains(body, name) {
			continue
		}
		for _, other := range s.Names[2:] {
			if at := slices.IndexFunc(s.Items, func(i item) bool { return i.Pod == name && i.Node == other }); at >= 0 {
				continue // who is on a node did it there
			}
			if other != name && strings.Contains(name, "-") == strings.Contains(other, "-") && !strings.Contains(body, other) {
				out["member "+name+" to "+other] = strings.ReplaceAll(body, name, other) + cites
			}
		}
	}
	if m := regexp.MustCompile(`(?i)\brank (\d+)\b`).FindStringSubmatchIndex(body); m != nil {
		for _, i := range s.Items {
			if i.Rank != nil && *i.Rank >= 0 && strconv.Itoa(*i.Rank) != body[m[2]:m[3]] && !strings.Contains(body, "ank "+strconv.Itoa(*i.Rank)) {
				out["rank to "+strconv.Itoa(*i.Rank)] = body[:m[2]] + strconv.Itoa(*i.Rank) + body[m[3]:] + cites
			}
		}
	}
	for _, be := range []string{" was ", " is ", " has ", " were ", " had ", " are "} {
		if n := strings.Count(body, be); n == 1 && !negation.MatchString(body) {
			out["not after"+be] = strings.Replace(body, be, be+"not ", 1) + cites
		}
	}
	for _, not := range []string{" not", "cannot ", " could not "} {
		if strings.Contains(body, not) {
			out["without"+not] = strings.Replace(body, not, map[string]string{" not": "", "cannot ": "can ", " could not ": " could "}[not], 1) + cites
		}
	}
	for _, by := range []string{" because ", " after ", " when ", " since "} {
		if one, other, ok := strings.Cut(body, by); ok && strings.Count(cites, "/") > 3 {
			out["order of"+by] = other + by + one + cites
		}
	}
	return out
}

// A faithful claim with another number, another member, a "not" more or less, or its halves in the other order is never shown
// as supported, and hardly ever apart.
func TestMutations(t *testing.T) {
	_, wrong := judgedInParallel(t, scenarios(t), func(s scenario, _, wrong board, notef func(string, ...any)) {
		judge := NewJudge(s.shown())
		for _, claim := range s.Faithful {
			if strings.ContainsAny(claim, `"“`) || outcomeOf(judge.Keep(Answer{Analysis: claim})) != published {
				continue
			}
			made := mutations(s, claim)
			for _, kind := range slices.Sorted(keysOf(made)) {
				if strings.Contains(made[kind], "timed out after 600000 milliseconds") {
					wrong.note("true as well", dropped)
					continue // the limit
				}
				k := judge.Keep(Answer{Analysis: made[kind]})
				switch wrong.note("edited", outcomeOf(k)); outcomeOf(k) {
				case published:
					t.Errorf("%s: %s: %s", s.Name, kind, k.Analysis)
				case dropped:
				case apart:
					notef("%s: %s: %s", s.Name, kind, k.Unsupported)
				}
			}
		}
	})
	all, told := wrong.sum()
	t.Logf("of %d: %d published, %d shown as unsupported", all, told[published], told[apart])
	if told[apart]*20 > all {
		t.Errorf("%d of %d are shown as unsupported: more than one in twenty", told[apart], all)
	}
}

func keysOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// BenchmarkKeep judges an answer of as many sentences as are looked at, about items of the size of a whole tail.
func BenchmarkKeep(b *testing.B) {
	s := scenarios(b)[0]
	for i := range s.Items {
		s.Items[i].Text += strings.Repeat(" step 1800 loss 2.114 not saved of shard 17/31 to /data, exit code 7;", 60)
	}
	shown := s.shown()
	a := Answer{Analysis: strings.Repeat(strings.Join(s.Faithful, " ")+" ", 12)}
	b.ReportAllocs()
	for b.Loop() {
		Keep(a, shown)
	}
}
