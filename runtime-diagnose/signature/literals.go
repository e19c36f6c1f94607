package signature

// automaton finds which of many literals occur in a line, in one pass over its bytes:
// Aho and Corasick's automaton with all failure steps folded into a dense table. Letters
// are compared without case (ASCII), so the gate never refuses what a case-blind pattern
// accepts. Time is O(line); memory is 4 KiB/8 per state and symbol class.
type automaton struct {
	class [256]uint8 // byte → column; bytes no literal uses share column 0
	width int
	next  []int32   // state*width + column → state
	hits  [][]int32 // state → literals that end here
}

func newAutomaton(literals []string) *automaton {
	a := &automaton{}
	a.assignColumns(literals)
	a.hits = append(a.hits, nil)
	a.next = make([]int32, a.width)
	for i, lit := range literals {
		state := int32(0)
		for j := range len(lit) {
			cell := int(state)*a.width + int(a.class[lit[j]])
			if a.next[cell] == 0 {
				a.next[cell] = int32(len(a.hits))
				a.hits = append(a.hits, nil)
				a.next = append(a.next, make([]int32, a.width)...)
			}
			state = a.next[cell]
		}
		a.hits[state] = append(a.hits[state], int32(i))
	}
	a.foldFailures()
	return a
}

func (a *automaton) assignColumns(literals []string) {
	used := 0
	for _, lit := range literals {
		for i := range len(lit) {
			b := foldASCII(lit[i])
			if a.class[b] == 0 {
				used++
				a.class[b] = uint8(used)
			}
		}
	}
	for b := 'A'; b <= 'Z'; b++ {
		a.class[b] = a.class[b+'a'-'A']
	}
	a.width = used + 1
}

// foldFailures walks the trie breadth first and replaces every missing edge by the edge
// of the longest proper suffix, which is complete by then.
func (a *automaton) foldFailures() {
	fail := make([]int32, len(a.hits))
	queue := make([]int32, 0, len(a.hits))
	for c := range a.width {
		if child := a.next[c]; child != 0 {
			queue = append(queue, child)
		}
	}
	for i := 0; i < len(queue); i++ {
		state := queue[i]
		a.hits[state] = append(a.hits[state], a.hits[fail[state]]...)
		for c := range a.width {
			cell := int(state)*a.width + c
			down := a.next[int(fail[state])*a.width+c]
			if child := a.next[cell]; child != 0 {
				fail[child] = down
				queue = append(queue, child)
			} else {
				a.next[cell] = down
			}
		}
	}
}

// find calls hit for every literal that ends anywhere in the line; a literal that occurs
// twice is reported twice.
func (a *automaton) find(line string, hit func(literal int32)) {
	state := int32(0)
	for i := range len(line) {
		state = a.next[int(state)*a.width+int(a.class[line[i]])]
		if a.hits[state] != nil {
			for _, l := range a.hits[state] {
				hit(l)
			}
		}
	}
}

func foldASCII(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
