// Package saturate is integer arithmetic that stops at the end of the range instead of
// wrapping around. What users write (replicas, sizes, quantities) is multiplied and summed
// up before anything has said that it is sensible; a sum that wraps around is a small
// number, and a wrong answer.
//
// A result at the end of the range stands for anything beyond it: Full says so, and such a
// number must not be divided or compared for equality with another of its kind.
package saturate

import (
	"math"
	"math/bits"
	"strconv"
)

// Integer are the types of counts and amounts: both are 64 bits wide on all platforms that
// the project is built for.
type Integer interface{ int | int64 }

// Add is a + b.
func Add[T Integer](a, b T) T {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}

// Mul is a × b.
func Mul[T Integer](a, b T) T {
	high, low := bits.Mul64(magnitude(int64(a)), magnitude(int64(b)))
	switch negative := (a < 0) != (b < 0); {
	case !negative && (high > 0 || low > math.MaxInt64):
		return math.MaxInt64
	case negative && (high > 0 || low > 1<<63):
		return math.MinInt64
	}
	return a * b
}

// Full says whether a result is at the end of its range: the true one may lie beyond it.
func Full[T Integer](n T) bool { return n == math.MaxInt64 || n == math.MinInt64 }

// Text is a result as people read it: at the end of the range only a bound is known, and is
// said in words that may stand before what is counted.
func Text[T Integer](n T) string {
	switch n {
	case math.MaxInt64:
		return "more than 9 × 10¹⁸"
	case math.MinInt64:
		return "less than -9 × 10¹⁸"
	}
	return strconv.FormatInt(int64(n), 10)
}

// magnitude is |n|, which of the smallest number only an unsigned one can hold.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
