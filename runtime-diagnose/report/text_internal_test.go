package report

import "testing"

func TestSizesAreReadByPeople(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 9_999: "9999 bytes", 10_000: "9.77 KiB", 149_330: "146 KiB", 1 << 20: "1 MiB", 10_122_667_272: "9.43 GiB", 1 << 60: "1 EiB", 1023 << 10: "0.999 MiB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
