package redact_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

func TestCopyLeavesALogAsItIsButForItsSecrets(t *testing.T) {
	const token = "hf_abcdefghijklmnopqrstuvwx"
	long := strings.Repeat("x ", 1<<20)
	cases := map[string]struct{ have, want string }{
		"nothing":                         {"", ""},
		"ordinary lines":                  {"a\r\nb\n\n c", "a\r\nb\n\n c"},
		"progress bars and colours":       {"\x1b[32m10%\x1b[0m\r20%\n", "\x1b[32m10%\x1b[0m\r20%\n"},
		"bytes that are no text":          {"\x00\xff\xfe\n", "\x00\xff\xfe\n"},
		"a token":                         {"using " + token + "\nnext\n", "using [masked]\nnext\n"},
		"a token behind a colour":         {"\x1b[33m" + token + "\x1b[0m\n", "[masked]\n"},
		"a private key":                   {"2026-11-20T08:00:00Z -----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----\ndone\n", "2026-11-20T08:00:00Z [masked]\n[masked]\n[masked]\n[masked]\ndone\n"},
		"a token in a line of megabytes":  {long + token + " " + long + "\n", long + "[masked] " + long + "\n"},
		"a line of megabytes in one word": {strings.Repeat("x", 3<<20), strings.Repeat("x", 3<<20)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			n, err := redact.Copy(&out, iotest.OneByteReader(strings.NewReader(tc.have)))
			if err != nil || n != int64(out.Len()) {
				t.Errorf("%d of %d bytes, error %v", n, out.Len(), err)
			}
			if out.String() != tc.want {
				t.Errorf("(-want +got):\n%s", cmp.Diff(short(tc.want), short(out.String())))
			}
		})
	}
}

func short(text string) string {
	if len(text) > 400 {
		return text[:200] + "…" + text[len(text)-200:]
	}
	return text
}

func TestCopyKeepsWhatWasReadBeforeAnError(t *testing.T) {
	broken := errors.New("the disk is gone")
	var out strings.Builder
	n, err := redact.Copy(&out, io.MultiReader(strings.NewReader("one\ntw"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || out.String() != "one\ntw" || n != 6 {
		t.Errorf("%q (%d bytes), error %v", out.String(), n, err)
	}
}

func FuzzCopy(f *testing.F) {
	f.Add("a\nhf_abcdefghijklmnopqrstuvwx\x1b[0m\r\n-----BEGIN PRIVATE KEY-----\nx\n")
	f.Fuzz(func(t *testing.T, text string) {
		var once, twice strings.Builder
		if _, err := redact.Copy(&once, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if strings.Count(once.String(), "\n") != strings.Count(text, "\n") {
			t.Errorf("%q has another number of lines: %q", text, once.String())
		}
		if _, err := redact.Copy(&twice, strings.NewReader(once.String())); err != nil {
			t.Fatal(err)
		}
	})
}
