package words

import (
	"fmt"
	"strings"
	"time"
)

// S ends a noun: "1 pod", "2 pods".
func S(n int) string { return oneOrMore(n, "", "s") }

// Verb ends a verb: "0 of 1 pod exists", "0 of 2 pods exist".
func Verb(n int) string { return oneOrMore(n, "s", "") }

// Its is whose it is: "its" of one, "their" of more.
func Its(n int) string { return oneOrMore(n, "its", "their") }

// Has is "has" of one, "have" of more.
func Has(n int) string { return oneOrMore(n, "has", "have") }

// Is is "is" of one, "are" of more.
func Is(n int) string { return oneOrMore(n, "is", "are") }

// Was is "was" of one, "were" of more.
func Was(n int) string { return oneOrMore(n, "was", "were") }

func oneOrMore(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// IsOf is for n of all: "0 of 1 pod is", "0 of 2 pods are".
func IsOf(n, all int) string {
	if all == 1 {
		return "is"
	}
	return Is(n)
}

// Short is a duration with the digits that count.
func Short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	default:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
}

// OneLine is a text in one line of so many bytes at most.
func OneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
