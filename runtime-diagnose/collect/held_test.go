package collect

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

func readHeld(t *testing.T, h held) string {
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
	room := newRoom(Limits{}.withDefaults(), 1000)
	text := strings.Repeat("step 1 loss 2.0\n", 4000)
	h := room.hold(t.Context(), []byte(text), room.end)
	if readHeld(t, h) != text || h.empty() {
		t.Error("the text has changed")
	}
	if h.packed.Held() > len(text)/10 {
		t.Errorf("%d bytes are held in %d", len(text), h.packed.Held())
	}
	if !room.hold(t.Context(), nil, room.end).empty() {
		t.Error("no text is something")
	}
}

func TestOfATextWithoutRoomTheEndIsHeld(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var noise strings.Builder
	for range 20_000 {
		for range 60 {
			noise.WriteByte(byte(' ' + r.IntN(90)))
		}
		noise.WriteByte('\n')
	}
	noise.WriteString("the last words\n")
	room := newRoom(Limits{}.withDefaults(), 0)
	h := room.hold(t.Context(), []byte(noise.String()), room.whole)
	got := readHeld(t, h)
	if h.packed.Held() > room.whole {
		t.Errorf("%d bytes are held; the most is %d", h.packed.Held(), room.whole)
	}
	rest, said := strings.CutPrefix(got, gapBefore)
	if !said || !strings.HasSuffix(noise.String(), "\n"+rest) || len(rest) < room.whole/4 {
		t.Errorf("it begins with %q and has %d bytes", got[:min(len(got), 60)], len(got))
	}
}

func TestWhatAllLogsOfAJobMayTake(t *testing.T) {
	l := Limits{}.withDefaults()
	for _, ends := range []int{0, 1, 1000, 10_000} {
		room := newRoom(l, ends)
		whole := int(l.TotalBytes / (l.HeadBytes + l.TailBytes))
		if most := whole*room.whole + ends*min(room.end, endBytes); most > 2*roomToHold {
			t.Errorf("%d ends: %d bytes", ends, most)
		}
	}
	for _, odd := range []Limits{{HeadBytes: 1 << 40, TailBytes: 1, TotalBytes: 1}, {HeadBytes: 1, TailBytes: 1, TotalBytes: 1}} {
		room := newRoom(odd.withDefaults(), 1)
		done, err := room.enter(t.Context())
		if err != nil {
			t.Fatalf("limits %+v let nobody in: %v", odd, err)
		}
		done()
	}
}

func TestNobodyWaitsForRoomWhenTheContextEnds(t *testing.T) {
	room := newRoom(Limits{}.withDefaults(), 1)
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
