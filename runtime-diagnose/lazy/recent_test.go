package lazy

import (
	"strconv"
	"sync"
	"testing"
)

// TestRecentTextsAreBounded: the latest are remembered, and one more than the bound forgets the oldest.
func TestRecentTextsAreBounded(t *testing.T) {
	asked := 0
	r := Remember(func(text string) string {
		asked++
		return text + "!"
	})
	for range 2 {
		for n := range mostRecent / 2 {
			if got, want := r.Of(strconv.Itoa(n)), strconv.Itoa(n)+"!"; got != want {
				t.Errorf("of %d it says %q, want %q", n, got, want)
			}
		}
	}
	if asked != mostRecent/2 {
		t.Errorf("asked %d times of %d texts", asked, mostRecent/2)
	}
	for n := range mostRecent + 1 {
		r.Of(strconv.Itoa(n))
		if kept := len(r.now) + len(r.before); kept > mostRecent {
			t.Fatalf("%d texts are remembered, want at most %d", kept, mostRecent)
		}
	}
	before := asked
	r.Of(strconv.Itoa(mostRecent))
	if r.Of("0"); asked != before+1 {
		t.Errorf("asked %d times of the latest and the oldest text, want once, of the oldest", asked-before)
	}
}

// TestRecentTextsOfManyAtOnce: each of several callers at the same time is told of its own text.
func TestRecentTextsOfManyAtOnce(t *testing.T) {
	r := Remember(func(text string) string { return text + "!" })
	var all sync.WaitGroup
	for from := range 4 {
		all.Go(func() {
			for n := range 4 * mostRecent {
				if text := strconv.Itoa(n % (from + 2) * n); r.Of(text) != text+"!" {
					t.Errorf("of %s it says %q", text, r.Of(text))
				}
			}
		})
	}
	all.Wait()
}
