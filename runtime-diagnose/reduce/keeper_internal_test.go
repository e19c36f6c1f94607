package reduce

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// A line longer than what is left is kept where it is short enough without its secrets, down to the last byte.
func TestKeptWithoutItsSecrets(t *testing.T) {
	secret := "hf_" + strings.Repeat("aB3dE5fG7h", 4)
	if got := Mask(secret); got != redact.Masked {
		t.Fatalf("%q is masked as %q", secret, got)
	}
	for left, want := range map[int]bool{len(redact.Masked): true, len(redact.Masked) - 1: false, 0: false, len(secret): true} {
		k, share := newKeeper(Options{}), left
		if got := k.take(Kept{Number: 1, Text: secret}, &share); got != want {
			t.Errorf("with %d bytes left it is kept: %t, want %t", left, got, want)
		}
		if want && share != left-len(redact.Masked) {
			t.Errorf("of %d bytes %d are left", left, share)
		}
	}
}
