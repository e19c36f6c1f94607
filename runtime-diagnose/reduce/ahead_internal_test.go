package reduce

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLinesBeyondABatchAreReadInOrder(t *testing.T) {
	const many = (batchesAhead+2)*batchLines + 1
	var text strings.Builder
	var want []string
	for i := range many {
		want = append(want, fmt.Sprintf("%d line %d", i+1, i))
		fmt.Fprintf(&text, "line %d\n", i)
	}
	var watched, visited []string
	told := func(l *Line) string { return fmt.Sprintf("%d %s", l.Number, l.Text) }
	d, err := Read(strings.NewReader(text.String()), Options{
		Mark:  func(text string, room []int32) []int32 { return append(room, int32(len(text))) },
		Watch: func(l *Line) { watched = append(watched, told(l)) },
		Suspect: func(l *Line) bool {
			if !slices.Equal(l.Marks, []int32{int32(len(l.Text))}) {
				t.Errorf("line %d is marked %v; want the mark of its own text %q", l.Number, l.Marks, l.Text)
			}
			return true
		},
		Visit: func(l Line) bool {
			visited = append(visited, told(&l))
			return false
		},
	})
	if err != nil || !slices.Equal(watched, want) || !slices.Equal(visited, want) {
		t.Errorf("watched %d and visited %d of %d lines in order (%v)", len(watched), len(visited), many, err)
	}
	if d.LinesRead != many || d.Last.Number != many || d.Last.Text != fmt.Sprint("line ", many-1) {
		t.Errorf("%d lines, the last is %d %q", d.LinesRead, d.Last.Number, d.Last.Text)
	}
}

// A bar that writes over itself may have more segments than a batch has room for: it is watched once, and what was put
// over is visited.
func TestOneLineMayFillSeveralBatches(t *testing.T) {
	const segments = 3 * batchLines
	watched, visited := 0, 0
	_, err := Read(strings.NewReader(strings.Repeat("50%\r", segments)+"done\nnext\n"), Options{
		Watch: func(l *Line) { watched++ },
		Visit: func(l Line) bool {
			if l.Overwritten {
				visited++
			}
			return false
		},
	})
	if want := 3; err != nil || watched != want || visited != segments {
		t.Errorf("watched %d times, want %d; visited %d segments, want %d (%v)", watched, want, visited, segments, err)
	}
}

func TestABatchOfLongLinesIsBounded(t *testing.T) {
	for length, want := range map[int]int{batchBytes/2 - 1: 3, batchBytes / 2: 2} {
		s := newScanner(strings.NewReader(strings.Repeat(strings.Repeat("x", length)+"\n", 8)), nil)
		b := batches.Get().(*batch)
		if more := s.fill(b); !more || b.n != want {
			t.Errorf("%d lines of %d bytes are read ahead (more: %t), want %d", b.n, length, more, want)
		}
		b.release()
		s.close()
	}
}

// The log is read by another goroutine: what goes wrong there belongs to who asked for it.
func TestAReaderThatFailsFailsWhoReads(t *testing.T) {
	long := strings.Repeat("a line\n", 4*batchLines)
	broken := errors.New("broken")
	if d, err := Read(io.MultiReader(strings.NewReader(long), iotest.ErrReader(broken)), Options{}); !errors.Is(err, broken) || d.LinesRead != 4*batchLines {
		t.Errorf("%d lines and %v; want all that came before the error, and it", d.LinesRead, err)
	}
	defer func() {
		if p := recover(); p != "the reader's own" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, _ = Read(io.MultiReader(strings.NewReader(strings.Repeat(long, 100)), panicking{}), Options{})
	t.Error("nothing panicked")
}

type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("the reader's own") }

// Who is told of the lines may fail, too; the goroutine that reads ends then.
func TestAVisitorMayPanic(t *testing.T) {
	ended := make(chan struct{})
	in := io.MultiReader(strings.NewReader(strings.Repeat("a line\n", 100*batchLines)), endOf(ended))
	func() {
		defer func() { _ = recover() }()
		n := 0
		_, _ = Read(in, Options{Visit: func(Line) bool {
			if n++; n > batchLines {
				panic("enough")
			}
			return false
		}})
	}()
	select {
	case <-ended:
		t.Error("the log was read to its end for nobody")
	default:
	}
}

type endOf chan struct{}

func (e endOf) Read([]byte) (int, error) {
	close(e)
	return 0, io.EOF
}
