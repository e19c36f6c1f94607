package progress

// Recoveries follows lines with a number that is none: the next one of the same shape may have numbers again.
// The zero value follows nothing.
type Recoveries struct {
	sound  map[uint64]int // shape → the last line in which all are numbers
	none   map[uint64]int // shape → lines in a row, to the last, in which one is none
	begins [4]uint64      // how the shapes begin, a bit each: most lines begin otherwise, and need not be read on
	firsts [256]bool      // the bytes that they begin with
}

// beginOf is how many letters tell how a shape begins.
const beginOf = 5

// Follow begins with a line of which it is said that a number in it is none.
func (r *Recoveries) Follow(body string) (key uint64) {
	if r.sound == nil {
		r.sound, r.none = map[uint64]int{}, map[uint64]int{}
	}
	if key = shape(body); len(r.sound) < mostSeries {
		r.sound[key], r.none[key] = 0, max(r.none[key], 1)
		begin := hashOf(body, beginOf) >> 56
		r.begins[begin>>6] |= 1 << (begin & 63)
		r.firsts[firstOf(body)] = true
	}
	return key
}

// See is told of every line.
func (r *Recoveries) See(line int, body string) {
	if len(r.sound) == 0 {
		return
	}
	if !r.firsts[firstOf(body)] {
		return
	}
	begin := hashOf(body, beginOf) >> 56
	if r.begins[begin>>6]>>(begin&63)&1 == 0 || !hasNumber(body) {
		return
	}
	key := shape(body)
	if _, followed := r.sound[key]; !followed {
		return
	}
	if hasNone(body) {
		r.sound[key] = 0
		r.none[key]++
	} else {
		r.sound[key], r.none[key] = line, 0
	}
}

// InARow is how many lines of a shape in a row, to the last, have had a number that is none.
func (r *Recoveries) InARow(key uint64) int { return r.none[key] }

// After says that the last line of a shape is a later one, in which all numbers are numbers.
func (r *Recoveries) After(line int, key uint64) bool { return r.sound[key] > line }

// firstOf is the first byte of a shape; 0: it has none.
func firstOf(body string) byte {
	for i := 0; i < len(body); i++ {
		if b := body[i]; shaping[b] {
			if none := noneWithin(body, i); none > 0 {
				i += none - 1
				continue
			}
			return b
		}
	}
	return 0
}

// noneWithin is the length of a number that is none and begins at a place of a line as a word does; 0: none does.
func noneWithin(body string, at int) int {
	if b := body[at] | 0x20; b != 'i' && b != 'n' || at > 0 && isWord(body[at-1]) {
		return 0
	}
	return noneAt(body[at:])
}

// shape hashes the letters of the beginning of a line (FNV-1a). A number that is none is no word.
func shape(body string) uint64 { return hashOf(body, shapeOf) }

// hashOf is shape of so many letters.
func hashOf(body string, letters int) uint64 {
	hash, n := uint64(14695981039346656037), 0
	for i := 0; i < len(body) && n < letters; i++ {
		b := body[i]
		if !shaping[b] {
			continue
		}
		if none := noneWithin(body, i); none > 0 {
			i += none - 1
			continue
		}
		hash = (hash ^ uint64(b)) * 1099511628211
		n++
	}
	return hash
}

// shaping are the bytes that a shape is made of: letters, what stands between them in ASCII, and all beyond it.
var shaping = func() (t [256]bool) {
	for b := range t {
		t[b] = b >= 'A' && b <= 'z' || b >= 0x80
	}
	return t
}()
