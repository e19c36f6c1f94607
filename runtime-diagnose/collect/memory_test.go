package collect

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func readHeld(t *testing.T, h heldLog) string {
	t.Helper()
	in, err := h.open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAHeldTextIsTheTextWhereThereIsRoom(t *testing.T) {
	room := newMemoryBudget(Limits{}.withDefaults())
	text := strings.Repeat("step 1 loss 2.0\n", 4000)
	h := room.hold(t.Context(), []byte(text))
	if readHeld(t, h) != text || h.empty() {
		t.Error("the text has changed")
	}
	if h.packed.Held() > len(text)/10 {
		t.Errorf("%d bytes are held in %d", len(text), h.packed.Held())
	}
	if !room.hold(t.Context(), nil).empty() {
		t.Error("no text is something")
	}
}

// noise are so many lines that do not shrink.
func noise(lines int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for range lines {
		for range 60 {
			text = append(text, byte(' '+r.IntN(90)))
		}
		text = append(text, '\n')
	}
	return text
}

func TestOfATextWithoutRoomTheEndIsHeld(t *testing.T) {
	text := append(noise(20_000), "the last words\n"...)
	room := newMemoryBudget(Limits{}.withDefaults())
	h := room.hold(t.Context(), text)
	got := readHeld(t, h)
	if h.packed.Held() > room.whole {
		t.Errorf("%d bytes are held; the most is %d", h.packed.Held(), room.whole)
	}
	rest, said := strings.CutPrefix(got, gapBefore)
	if !said || !strings.HasSuffix(string(text), "\n"+rest) || len(rest) < room.whole/4 {
		t.Errorf("it begins with %q and has %d bytes", got[:min(len(got), 60)], len(got))
	}
}

func TestWhatAllLogsOfAJobMayTake(t *testing.T) {
	l := Limits{}.withDefaults()
	if most := int(l.TotalBytes/(l.HeadBytes+l.TailBytes)) * newMemoryBudget(l).whole; most > roomToHold {
		t.Errorf("logs that are read whole: %d bytes", most)
	}
	for _, odd := range []Limits{{HeadBytes: 1 << 40, TailBytes: 1, TotalBytes: 1}, {HeadBytes: 1, TailBytes: 1, TotalBytes: 1}} {
		room := newMemoryBudget(odd.withDefaults())
		done, err := room.enter(t.Context())
		if err != nil {
			t.Fatalf("limits %+v let nobody in: %v", odd, err)
		}
		done()
	}
}

// Of more ends than there is room for, those without are read again when they are wanted.
func TestEndsWithoutRoomAreReadAgain(t *testing.T) {
	const ends = 40_000
	room := newMemoryBudget(Limits{}.withDefaults())
	text := noise(60)
	taken, again := 0, 0
	var last heldLog
	for range ends {
		h := room.holdEnd(t.Context(), text, func() ([]byte, error) { again++; return []byte("read again"), nil })
		if h.empty() {
			t.Fatal("an end is lost")
		}
		taken, last = taken+h.packed.Held(), h
	}
	if taken > roomForEnds || taken < roomForEnds*9/10 {
		t.Errorf("%d bytes are held; the most is %d", taken, roomForEnds)
	}
	if got := readHeld(t, last); got != "read again" || again != 1 {
		t.Errorf("the last one is %q, read %d times", got, again)
	}
	last.again = func() ([]byte, error) { return nil, errors.New("gone") }
	if _, err := last.open(); err == nil || err.Error() != "gone" {
		t.Errorf("error %v", err)
	}
}

// What came of an end before the kubelet stopped answering is held, and not asked for once more.
func TestAnEndThatBrokeOffIsHeld(t *testing.T) {
	room := newMemoryBudget(Limits{}.withDefaults())
	room.ends.Store(0)
	if got := readHeld(t, room.holdEnd(t.Context(), []byte("all there is"), nil)); got != "all there is" {
		t.Errorf("%q", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	asked := func() ([]byte, error) { t.Error("it is read again"); return nil, nil }
	if got := readHeld(t, room.holdEnd(over, []byte("all there is"), asked)); got != "all there is" {
		t.Errorf("%q", got)
	}
	if !room.holdEnd(over, nil, nil).empty() {
		t.Error("nothing is something")
	}
}

func TestNobodyWaitsForRoomWhenTheContextEnds(t *testing.T) {
	room := newMemoryBudget(Limits{}.withDefaults())
	ctx, cancel := context.WithCancel(t.Context())
	for {
		if room.reading.TryAcquire(room.each) {
			continue
		}
		break
	}
	cancel()
	if _, err := room.enter(ctx); err == nil {
		t.Error("it came in")
	}
}
