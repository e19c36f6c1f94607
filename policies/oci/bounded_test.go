package oci

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAnErrorInAnAnnotationIsBounded: one byte above the bound it is cut, and stays text.
func TestAnErrorInAnAnnotationIsBounded(t *testing.T) {
	if whole := strings.Repeat("x", mostBytes); bounded(whole) != whole {
		t.Error("what is as long as the bound is cut")
	}
	if got := bounded(strings.Repeat("ü", mostBytes/2) + "x"); len(got) > mostBytes || !utf8.ValidString(got) || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
