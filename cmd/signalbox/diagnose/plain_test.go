package diagnose

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
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
		"UTF-16 without a mark":          {inUTF16(text, 0)[2:], text, ""},
		"the other way, without a mark":  {inUTF16(text, 1)[2:], text, ""},
		"Chinese, with a mark":           {inUTF16("显存不足 RuntimeError: x\n", 0), "显存不足 RuntimeError: x\n", ""},
		"Chinese":                        {[]byte("显存不足 RuntimeError: x\n"), "显存不足 RuntimeError: x\n", ""},
		"zeros where the node went down": {append([]byte(text), make([]byte, 4096)...), text, ""},
		"a bundle":                       {gzipped(string(tar)), "", "is a tar archive (bundles go to --bundle)"},
		"no text":                        {noise[:], "", "is not text"},
		"nothing":                        {nil, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := readPlain(bytes.NewReader(tc.raw))
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

// readPlain reads all; a cut file is what is there.
func readPlain(in io.Reader) ([]byte, error) {
	r, err := plain(in)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if errors.Is(err, io.ErrUnexpectedEOF) && strings.Contains(err.Error(), "ends in the middle") {
		err = nil
	}
	return text, err
}

// Whatever a file holds, reading it ends with a text or an error, the same however it comes.
func FuzzPlain(f *testing.F) {
	f.Add([]byte("step 1\n"), 1)
	f.Add(gzipped("step 1\nstep 2\n")[:20], 3)
	f.Add(gzipped(string(gzipped("a"))), 3)
	f.Add(inUTF16("ab😀", 0), 2)
	f.Add(inUTF16("a longer text without a mark", 1)[2:], 1)
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		whole, err := readPlain(bytes.NewReader(raw))
		pieces, perr := readPlain(iotest.OneByteReader(bytes.NewReader(raw)))
		if !bytes.Equal(whole, pieces) || (err == nil) != (perr == nil) {
			t.Fatalf("whole %q, %v; byte by byte %q, %v", whole, err, pieces, perr)
		}
	})
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
