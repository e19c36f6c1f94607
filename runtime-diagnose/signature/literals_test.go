package signature

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// occurring is what a finder must find, by the plainest means.
func occurring(literals []string, text string) []int32 {
	var found []int32
	folded := folded7(text)
	for i, l := range literals {
		if hasCapital(l) && strings.Contains(text, l) || !hasCapital(l) && strings.Contains(folded, l) {
			found = append(found, int32(i))
		}
	}
	return found
}

func found(f *finder, text string) []int32 {
	var out []int32
	f.find(text, func(l int32) bool {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
		return true
	})
	slices.Sort(out)
	return out
}

func TestLiteralsAreFoundWhereverTheyStand(t *testing.T) {
	literals := []string{"boom", "Error", "out of memory", "NVRM: Xid", "it/s", "abcdefg", "bcdefgh"}
	f := newFinder(literals, func(int32) bool { return false })
	for _, text := range []string{
		"", "a", "boo", "boom", "BOOM", "xboom", "error", "an Error", "CUDA Out Of Memory", "nvrm: xid", "[1] NVRM: Xid (PCI", "9 it/s]", "abcdefgh", "it/sboomError",
	} {
		for pad := range 9 {
			for _, at := range []string{strings.Repeat("-", pad) + text, strings.Repeat("-", pad) + text + strings.Repeat("+", pad/2)} {
				if diff := cmp.Diff(occurring(literals, at), found(f, at)); diff != "" {
					t.Errorf("%q (-want +got):\n%s", at, diff)
				}
			}
		}
	}
}

// Texts are cut out of literals and put together at random, so that most of them nearly hold one.
func FuzzFinder(f *testing.F) {
	c, err := Builtin()
	if err != nil {
		f.Fatal(err)
	}
	literals := c.literals.literals
	f.Add(uint64(1), "loss: nan")
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		r := rand.New(rand.NewPCG(seed, 1))
		some := []string{text}
		var texts strings.Builder
		for range 40 {
			l := literals[r.IntN(len(literals))]
			some = append(some, l)
			from := r.IntN(len(l))
			texts.WriteString(l[from : from+r.IntN(len(l)-from)+1])
			texts.WriteString(text[:r.IntN(len(text)+1)])
			if r.IntN(3) == 0 {
				texts.WriteString(strings.ToUpper(l))
			}
			if r.IntN(3) == 0 {
				texts.WriteString(l)
			}
		}
		some = slices.DeleteFunc(some, func(l string) bool { return len(l) < LeastLiteral })
		for i, l := range some {
			if !hasCapital(l) {
				some[i] = folded7(l)
			}
		}
		if diff := cmp.Diff(occurring(some, texts.String()), found(newFinder(some, func(int32) bool { return false }), texts.String())); diff != "" {
			t.Errorf("%q of %q (-want +got):\n%s", texts.String(), some, diff)
		}
	})
}
