package cluster

import (
	"strings"
	"testing"
)

func TestOnlyAmountsThatTakeLongToReadAreLookedAtTwice(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "8": false, "500m": false, "64Gi": false, "1e3": false, "1e30": false, "-1.5E+30": false, "2E": false, "12e": false,
		"3e4a8f21-5e6b-4f5e-9e6e-1e5e4e3e2e1e": false, "1e9b6c52-0000-4000-8000-1e0000000000": false, "4e5f": false,
		"1e31": true, "1e2147483647": true, "1e-2147483648": true, "9E+9999999": true, "1e00099": true,
		strings.Repeat("9", mostDigits): false, strings.Repeat("9", mostDigits+1): true, "0." + strings.Repeat("0", mostDigits): true,
		strings.Repeat("a", 100): false,
	} {
		if got := monstrous(text); got != want {
			t.Errorf("monstrous(%q) = %t; want %t", text, got, want)
		}
		// What the quick look lets through is read in no time, whatever it is.
		if readable(text) && monstrous(text) {
			t.Errorf("%q can be read, and is called monstrous", text)
		}
	}
}
