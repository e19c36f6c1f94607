package words

import "testing"

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		most int
		want int
	}{
		{"command", "command", 3, 0},
		{"commnad", "command", 3, 1}, // two letters swapped are one slip, wherever names are compared
		{"Tianjob", "TrainJob", 3, 3},
		{"", "abc", 3, 3},
		{"abcd", "", 3, 4},
		{"größe", "große", 3, 1}, // letters, not bytes
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3}, // one above what is asked about
		{"abcdef", "uvwxyz", 2, 3},
	} {
		if got := Distance(tc.a, tc.b, tc.most); got != tc.want {
			t.Errorf("Distance(%q, %q, %d) = %d; want %d", tc.a, tc.b, tc.most, got, tc.want)
		}
	}
}
