package familiar

import (
	"bytes"
	"fmt"
	"testing"
)

func TestNew(t *testing.T) {
	var good Lines
	for _, line := range []string{
		"step=10, loss=2.1034, lr=0.0003", "Loading checkpoint from /data/run-17/step-900", "worker 3 of 8 is ready",
		"Training:  12%|█▏        | 120/1000 [01:20<09:10]", "[==>.......] 12 %: saving",
	} {
		good.Add(line)
	}
	cases := map[string]struct {
		line string
		want bool
	}{
		"the same with other numbers":        {"step=12000, loss=0.0001, lr=1e-05", false},
		"the same with another bar":          {"Training:  97%|█████████▋| 970/1000 [09:20<00:10]", false},
		"the same with more of it":           {"[=======>..] 80 %: saving", false},
		"another path with numbers":          {"Loading checkpoint from /data/run-18/step-12", false},
		"other words":                        {"cannot open the lock of worker 3", true},
		"the same words with another sign":   {"step=10, loss=nan, lr=0.0003", true},
		"no words":                           {"12 34 ---", false},
		"nothing":                            {"", false},
		"letters in another case are equal":  {"WORKER 5 of 8 is ready", false},
		"another word in the same place":     {"worker 3 of 8 is dead", true},
		"a word that is a number and letter": {"worker a3f of 8 is ready", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := good.New(tc.line); got != tc.want {
				t.Errorf("%q is new: %t, want %t", tc.line, got, tc.want)
			}
		})
	}
}

func TestWhatCannotBeToldIsNotNew(t *testing.T) {
	var none, over Lines
	for i := range Most + 1 {
		over.Add("word" + word(i))
	}
	if none.New("anything at all") || over.New("anything at all") || over.Len() != Most || !over.Over() {
		t.Errorf("new to nobody %t, to one that left lines out %t; %d forms", none.New("anything at all"), over.New("anything at all"), over.Len())
	}
	if !over.Has("word" + word(0)) {
		t.Error("what was printed is not known")
	}
	var joined Lines
	joined.Join(over)
	if joined.Tell() || joined.Len() != Most {
		t.Errorf("joined with too many it tells: %t", joined.Tell())
	}
}

// word is a different one for each number, without digits.
func word(n int) string {
	out := "x"
	for ; n > 0; n /= 26 {
		out += string(rune('a' + n%26))
	}
	return out
}

func FuzzDecode(f *testing.F) {
	var l Lines
	l.Add("one line")
	f.Add(l.Encode(), "one line")
	f.Add([]byte{1, 2, 3}, "\xff\x00█ step 1")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		l, err := Decode(data, false)
		if err != nil {
			return
		}
		again, err := Decode(l.Encode(), false)
		if err != nil || !bytes.Equal(l.Encode(), again.Encode()) {
			t.Errorf("%d forms do not come back: %v", l.Len(), err)
		}
		l.Add(text)
		if l.New(text) {
			t.Errorf("%q is new after it was added", text)
		}
		if fmt.Sprint(l.Has(text)) == "false" && l.Len() < Most {
			if _, ok := formOf(text); ok {
				t.Errorf("%q was added and is not there", text)
			}
		}
	})
}
