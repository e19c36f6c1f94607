package plan

// arena is memory for the parts of inputs. What was taken from it is taken again after it was
// freed.
type arena struct {
	values blocksOf[Value]
	mores  blocksOf[more]
}

// The sizes of blocks, and how many of them are kept: some hundred kilobytes.
const valuesInBlock, moresInBlock, keptBlocks = 1024, 256, 8

// blocksOf are blocks of memory, the last of which is being filled.
type blocksOf[T any] struct {
	all  [][]T
	at   int // the block that is being filled
	used int // of it
}

// take is so many empty values.
func (b *blocksOf[T]) take(n, size int) []T {
	for ; b.at < len(b.all); b.at, b.used = b.at+1, 0 {
		if b.used+n <= len(b.all[b.at]) {
			b.used += n
			return b.all[b.at][b.used-n : b.used : b.used]
		}
	}
	if n > size || len(b.all) == keptBlocks {
		return make([]T, n)
	}
	b.all = append(b.all, make([]T, size))
	b.used = n
	return b.all[b.at][:n:n]
}

// free empties what was taken.
func (b *blocksOf[T]) free() {
	for i := range b.all[:min(b.at, len(b.all))] {
		clear(b.all[i])
	}
	if b.at < len(b.all) {
		clear(b.all[b.at][:b.used])
	}
	b.at, b.used = 0, 0
}

func (a *arena) free() {
	a.values.free()
	a.mores.free()
}

func (a *arena) parts(n int) []Value { return a.values.take(n, valuesInBlock) }

func (a *arena) more(m more) *more {
	out := &a.mores.take(1, moresInBlock)[0]
	*out = m
	out.arena = a
	return out
}
