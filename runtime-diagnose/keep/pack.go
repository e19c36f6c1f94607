package keep

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"sync"
)

// packed is a text as a set holds it in memory. It is never changed, so sets share it.
type packed struct {
	data  []byte // flate
	bytes int    // of the text
}

// A writer of flate takes a megabyte and a reader 40 KiB: they are used again. Pools hold nothing
// that anybody could observe.
var (
	writers = sync.Pool{New: func() any {
		w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // the level is one there is
		return w
	}}
	readers = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}
)

// pack compresses a text for memory, as quickly as that goes: it is stored in another form.
func pack(text []byte) packed {
	if len(text) == 0 {
		return packed{}
	}
	var out bytes.Buffer
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	_, _ = w.Write(text) // memory does not fail
	_ = w.Close()
	return packed{bytes.Clone(out.Bytes()), len(text)}
}

// unpack is the text again; empty: there is none.
func (p packed) unpack() []byte {
	if len(p.data) == 0 {
		return nil
	}
	r := readers.Get().(io.ReadCloser)
	defer readers.Put(r)
	_ = r.(flate.Resetter).Reset(bytes.NewReader(p.data), nil) // it never fails
	text := make([]byte, p.bytes)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil
	}
	return text
}

// Text is a text held in memory, compressed.
type Text struct{ packed packed }

// NewText compresses a text.
func NewText(text []byte) Text { return Text{pack(text)} }

// Bytes is the text again: a new copy each time.
func (t Text) Bytes() []byte { return t.packed.unpack() }

// Held is how many bytes of memory it takes.
func (t Text) Held() int { return len(t.packed.data) }

// archive writes files as one gzip member each time it is asked. Members in a row are one gzip
// file (RFC 1952, 2.2).
type archive struct {
	out bytes.Buffer
	zip *gzip.Writer
}

// member appends files.
func (a *archive) member(write func(*tar.Writer)) {
	if a.zip == nil {
		a.zip = gzip.NewWriter(&a.out)
	} else {
		a.zip.Reset(&a.out)
	}
	write(tar.NewWriter(a.zip))
	_ = a.zip.Close() // writing to memory does not fail
}

// file is one file of a member. PAX takes names of any length.
func file(t *tar.Writer, name string, text []byte) {
	_ = t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Format: tar.FormatPAX})
	_, _ = t.Write(text)
	_ = t.Flush() // pads; the end of the archive is written once, by end
}

// end is the last member: the two empty blocks that end an archive.
func end(t *tar.Writer) { _ = t.Close() }
