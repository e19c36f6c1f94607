package controller

import (
	"iter"
	"strings"
)

// wordTable holds words that many have, each once, as long as one has it. A word is known by its number.
type wordTable struct {
	ids  map[string]uint32
	all  []word
	free []uint32
}

type word struct {
	text  string
	users int32
}

// take is the number of a word, which one more has.
func (w *wordTable) take(text string) uint32 {
	id, known := w.ids[text]
	if !known {
		if n := len(w.free); n > 0 {
			id, w.free = w.free[n-1], w.free[:n-1]
		} else {
			id = uint32(len(w.all))
			w.all = append(w.all, word{})
		}
		text = strings.Clone(text) // not the object that it is a piece of
		w.all[id].text, w.ids[text] = text, id
	}
	w.all[id].users++
	return id
}

// leave says that one has the word no more.
func (w *wordTable) leave(id uint32) {
	of := &w.all[id]
	if of.users--; of.users == 0 {
		delete(w.ids, of.text)
		*of = word{}
		w.free = append(w.free, id)
	}
}

func (w *wordTable) text(id uint32) string { return w.all[id].text }

// labelOf parts a word of labelWord.
func labelOf(word string) (key, value string) {
	key, value, _ = strings.Cut(word, "=")
	return key, value
}

// textTable holds texts in large chunks. The zero value is ready.
type textTable struct {
	chunks [][]byte
	live   int // bytes that are in use
	held   int // bytes of all chunks that are written
}

// piece is where a text is.
type piece struct{ chunk, at, size uint32 }

const (
	// chunkSize is how large a chunk is; a text that is longer has one alone.
	chunkSize = 64 << 10
	// leastHeld is how many bytes are held before it is worth while to part with those that are in use no more.
	leastHeld = 16 * chunkSize
)

func (t *textTable) add(text []byte) piece {
	last := len(t.chunks) - 1
	if last < 0 || len(t.chunks[last])+len(text) > cap(t.chunks[last]) {
		t.chunks = append(t.chunks, make([]byte, 0, max(chunkSize, len(text))))
		last++
	}
	at := len(t.chunks[last])
	t.chunks[last] = append(t.chunks[last], text...)
	t.live += len(text)
	t.held += len(text)
	return piece{uint32(last), uint32(at), uint32(len(text))}
}

func (t *textTable) of(s piece) []byte { return t.chunks[s.chunk][s.at:][:s.size] }

func (t *textTable) drop(s piece) { t.live -= int(s.size) }

// compact writes all texts anew where a third of what is held is in use no more: each byte that is dropped has two moved.
func (t *textTable) compact(all iter.Seq[*piece]) {
	if t.held < leastHeld || t.held-t.live < t.held/3 {
		return
	}
	before := *t
	*t = textTable{}
	for s := range all {
		*s = t.add(before.of(*s))
	}
}
