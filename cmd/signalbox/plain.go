package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// plain is evidence as UTF-8 text. A kubelet compresses the logs it rotated, and PowerShell
// writes UTF-16 when it redirects (https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_character_encoding).
func plain(raw []byte) ([]byte, error) {
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("is gzip that does not begin well (%w)", err)
		}
		raw, err = io.ReadAll(io.LimitReader(z, maxEvidence+1))
		switch {
		case len(raw) > maxEvidence:
			return nil, errors.New("holds more than 1 GiB")
		case err != nil && len(raw) == 0: // of a cut file, what is there is read
			return nil, fmt.Errorf("is gzip that cannot be read (%w)", err)
		}
	}
	const magic = 257 // where a tar archive says what it is
	switch {
	case len(raw) > magic+5 && string(raw[magic:magic+5]) == "ustar":
		return nil, errors.New("is a tar archive (bundles go to --bundle)")
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return fromUTF16(raw[2:], 0), nil
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return fromUTF16(raw[2:], 1), nil
	case binary(raw):
		return nil, errors.New("is not text")
	}
	return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), nil
}

// fromUTF16 turns UTF-16 into UTF-8. low is the place of the low byte in each pair.
func fromUTF16(raw []byte, low int) []byte {
	out := make([]byte, 0, len(raw)/2)
	unit := func(i int) rune { return rune(raw[i+low]) | rune(raw[i+1-low])<<8 }
	for i := 0; i+1 < len(raw); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 < len(raw) {
				r = utf16.DecodeRune(r, unit(i+2))
			}
			i += 2
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// binary says that a file is no text: in its first part more than three in ten characters
// are none. Logs may hold some odd bytes, and runs of zeros where a node lost power.
func binary(raw []byte) bool {
	const enough = 32 << 10
	odd, all := 0, 0
	for part := raw[:min(enough, len(raw))]; len(part) > 0; {
		r, size := utf8.DecodeRune(part)
		part = part[size:]
		if r == 0 {
			continue
		}
		all++
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != 0x1b && r != '\b' {
			odd++
		}
	}
	return odd*10 > all*3
}
