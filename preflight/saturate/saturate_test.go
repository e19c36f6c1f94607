package saturate_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// FuzzAgainstBigIntegers: every result is the true one, or the end of the range that lies
// nearest to it.
func FuzzAgainstBigIntegers(f *testing.F) {
	edges := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 32, -2, -1, 0, 1, 2, 1 << 30, 1 << 32, math.MaxInt64 / 2, math.MaxInt64 - 1, math.MaxInt64}
	for _, a := range edges {
		for _, b := range edges {
			f.Add(a, b)
		}
	}
	f.Fuzz(func(t *testing.T, a, b int64) {
		x, y := big.NewInt(a), big.NewInt(b)
		if got, want := saturate.Add(a, b), clamped(new(big.Int).Add(x, y)); got != want {
			t.Errorf("Add(%d, %d) = %d; want %d", a, b, got, want)
		}
		if got, want := saturate.Mul(a, b), clamped(new(big.Int).Mul(x, y)); got != want {
			t.Errorf("Mul(%d, %d) = %d; want %d", a, b, got, want)
		}
		if got, want := saturate.Mul(int(a), int(b)), int(clamped(new(big.Int).Mul(x, y))); got != want {
			t.Errorf("Mul of int (%d, %d) = %d; want %d", a, b, got, want)
		}
	})
}

func clamped(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func TestText(t *testing.T) {
	for n, want := range map[int64]string{
		7: "7", -7: "-7", math.MaxInt64: "more than 9 × 10¹⁸", math.MinInt64: "less than -9 × 10¹⁸",
	} {
		if got := saturate.Text(n); got != want {
			t.Errorf("Text(%d) = %q; want %q", n, got, want)
		}
		if got := saturate.Full(n); got != (n != 7 && n != -7) {
			t.Errorf("Full(%d) = %t", n, got)
		}
	}
}
