package main

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestEvidenceAsPeopleSaveIt(t *testing.T) {
	const text = "step 1 loss 2.31 ✓ 😀\nModuleNotFoundError: No module named 'foo'\n"
	var noise [4096]byte
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(noise); i++ {
		noise[i] = byte(r.Uint32())
	}
	tar := make([]byte, 600)
	copy(tar[257:], "ustar")
	cases := map[string]struct {
		raw  []byte
		want string
		err  string
	}{
		"as it is":                       {[]byte(text), text, ""},
		"with a byte order mark":         {[]byte("\xef\xbb\xbf" + text), text, ""},
		"from PowerShell":                {inUTF16(text, 0), text, ""},
		"UTF-16 the other way round":     {inUTF16(text, 1), text, ""},
		"UTF-16 cut within a character":  {inUTF16("ab😀", 0)[:8], "ab\ufffd", ""},
		"rotated by a kubelet":           {gzipped(text), text, ""},
		"rotated, and cut":               {gzipped(strings.Repeat(text, 9999))[:400], "step 1", ""},
		"zeros where the node went down": {append([]byte(text), make([]byte, 4096)...), text, ""},
		"a bundle":                       {gzipped(string(tar)), "", "is a tar archive (bundles go to --bundle)"},
		"no text":                        {noise[:], "", "is not text"},
		"nothing":                        {nil, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := plain(tc.raw)
			if said := ""; err != nil {
				if said = err.Error(); said != tc.err {
					t.Errorf("plain says %q, want %q", said, tc.err)
				}
			} else if tc.err != "" || !strings.HasPrefix(string(got), tc.want) {
				t.Errorf("plain gives %.80q, want %q and error %q", got, tc.want, tc.err)
			}
		})
	}
}

func inUTF16(s string, low int) []byte {
	var out []byte
	for _, u := range append([]uint16{0xfeff}, utf16.Encode([]rune(s))...) {
		pair := []byte{byte(u), byte(u >> 8)}
		out = append(out, pair[low], pair[1-low])
	}
	return out
}

func gzipped(s string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s)) // a buffer takes everything
	_ = z.Close()
	return b.Bytes()
}
