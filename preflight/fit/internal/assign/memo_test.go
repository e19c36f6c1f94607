package assign

import (
	"testing"
)

func TestWhatIsNotRememberedIsWorkedOutAgain(t *testing.T) {
	forgot, rows := 0, 1<<18
	m := &Memo{}
	for i := range rows {
		if m.Has([]uint32{uint32(i), 1, 2, 3, 4, 5}, 0) {
			t.Fatalf("row %d is known, and was not there", i)
		}
	}
	for i := range rows {
		if !m.Has([]uint32{uint32(i), 1, 2, 3, 4, 5}, 0) {
			forgot++
		}
	}
	if forgot == 0 || forgot == rows || len(m.rows) > 1<<20 {
		t.Errorf("%d of %d rows are forgotten, %d numbers are kept", forgot, rows, len(m.rows))
	}
}
