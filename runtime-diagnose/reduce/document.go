package reduce

import (
	"hash/maphash"
	"strings"
)

// Document tells a text about errors from the output of a program: a page of documentation, a template for
// reports and source code name errors that did not happen. What a line says cannot tell, but how the whole is made
// can: a page is sentences below headings, with samples between fences, source is definitions at the margin, and
// neither carries times. The zero value is ready.
type Document struct {
	lines, stamped, headings, fences, definitions, indented int
	sentences, sentenceBytes, bytes, code                   int
	logged                                                  [leastLogged]int // the last lines with a time at the margin, outside of a fence; 0: there are fewer
	block, longestBlock                                     int              // lines between two fences
	fenced, over                                            bool
	seen                                                    map[uint64]struct{}
	shapes                                                  map[uint64]int // of sentences without their digits → how many
}

// What a text has to have. A log of a launcher that explains itself at length has sentences and no
// headings; the longest help text of Open MPI is 2 KB
// (https://github.com/open-mpi/ompi/blob/v4.1.x/orte/tools/orterun/help-orterun.txt).
const (
	leastOfDocument  = 24   // lines with text
	leastOfProse     = 12   // of a text of which more than half is sentences
	longSentence     = 100  // bytes of a sentence: programs that explain themselves wrap their lines
	leastHeadings    = 3    // of a page with marks
	leastSentences   = 6    // of one
	leastProse       = 4096 // bytes of sentences, of a page without marks
	leastDefinitions = 4    // of a source
	linesInBodies    = 64   // of one that is nearly all bodies of classes and functions
	leastLogged      = 3    // lines with a time among the last of a log behind one
	linesLogged      = 128  // how many are the last
	linesUntilSure   = 256  // of a text that has shown nothing of a document: it is none
	mostSentences    = 4096 // that are told apart
	mostOfShape      = 8    // sentences that count and differ in numbers alone
)

// sentenceSeed is the same for a process: what is hashed never leaves it.
var sentenceSeed = maphash.MakeSeed()

// See is told of every line, without its prefixes; stamped says that they held a time.
func (d *Document) See(body string, stamped bool) {
	if d.over {
		return
	}
	text := strings.TrimSpace(body)
	if text == "" {
		return
	}
	d.lines++
	d.bytes += len(text)
	if d.lines%linesUntilSure == 0 && !d.promises() {
		d.over, d.seen, d.shapes = true, nil, nil
		return
	}
	margin := body[0] != ' ' && body[0] != '\t'
	switch {
	case strings.HasPrefix(text, "```"):
		d.fence()
	case stamped || hasTime(text):
		if d.stamped++; margin && !d.fenced {
			copy(d.logged[:], d.logged[1:])
			d.logged[leastLogged-1] = d.lines
		}
	case d.fenced:
		d.block++
	case margin && heading(text):
		d.headings++
	case !margin:
		if d.indented++; isCode(text) {
			d.code++
		}
		if text[len(text)-1] == ':' && strings.HasPrefix(strings.TrimPrefix(text, "async "), "def ") {
			d.definitions++
		}
		d.sentence(text)
	case definition(text):
		if text[0] == '}' || d.isNew(text) { // a source defines a name once
			d.definitions++
		}
	default:
		d.sentence(text)
	}
}

// fence opens or closes a block.
func (d *Document) fence() {
	d.fences++
	if d.fenced = !d.fenced; !d.fenced {
		d.longestBlock = max(d.longestBlock, d.block)
	}
	d.block = 0
}

func (d *Document) sentence(text string) {
	if !isSentence(text) {
		return
	}
	if !d.isNew(text) { // every rank prints it
		if _, known := d.seen[maphash.String(sentenceSeed, text)]; !known {
			d.bytes -= len(text) // what cannot be told apart speaks neither for a document nor against it
		}
		return
	}
	if d.shapes == nil {
		d.shapes = map[uint64]int{}
	}
	shape := maphash.String(sentenceSeed, strings.Map(withoutDigits, text))
	if d.shapes[shape]++; d.shapes[shape] > mostOfShape {
		return // a loop prints it, with other numbers
	}
	d.sentences++
	d.sentenceBytes += len(text)
}

// isNew says that a line is among those that are told apart, and was not there before.
func (d *Document) isNew(text string) bool {
	key := maphash.String(sentenceSeed, text)
	if _, known := d.seen[key]; known || len(d.seen) >= mostSentences {
		return false
	}
	if d.seen == nil {
		d.seen = map[uint64]struct{}{}
	}
	d.seen[key] = struct{}{}
	return true
}

func withoutDigits(r rune) rune {
	if '0' <= r && r <= '9' {
		return -1
	}
	return r
}

// promises says that a text may still turn out to be a document.
func (d *Document) promises() bool {
	return !d.timed() && (d.headings > 0 || d.sentenceBytes*5 > d.bytes || d.definitions*linesInBodies > d.lines)
}

// timed says that more than one line of twenty carries a time, or some of the last do: a program that prints its own
// source, or what was changed in it, goes on with its log.
func (d *Document) timed() bool {
	return d.stamped*20 > d.lines || d.logged[0] > 0 && d.lines-d.logged[0] < linesLogged
}

// Is says that the text is no output of a program. A report about one run has its log in one block, longer
// than everything else.
func (d *Document) Is() bool {
	if d.over || d.lines < leastOfProse || d.timed() || max(d.block, d.longestBlock)*2 > d.lines {
		return false
	}
	marks := d.headings >= leastHeadings && d.sentences >= leastSentences && (d.fences > 1 || d.sentenceBytes*3 > d.bytes)
	prose := d.sentenceBytes >= leastProse && d.sentenceBytes*20 > d.bytes*9
	short := d.sentences >= leastSentences && d.sentenceBytes*2 > d.bytes && d.sentenceBytes > longSentence*d.sentences && d.longestBlock == 0
	return d.lines >= leastOfDocument && (marks || prose || d.isSource()) || short
}

// isSource says that the text is one that a program is made of: definitions and what is in them.
func (d *Document) isSource() bool {
	bodies := d.code*2 > d.lines || d.definitions*linesInBodies > d.lines && d.indented*5 > d.lines*3
	return d.definitions >= leastDefinitions && bodies
}

// hasTime finds a time of day where lines begin.
func hasTime(text string) bool {
	head := text[:min(len(text), earlyEnough)]
	for at := 0; ; at++ {
		next := strings.IndexByte(head[at:], ':')
		if next < 0 {
			return false
		}
		if at += next; at >= 2 && at+3 < len(head) && head[at+3] == ':' && number(head[at-2:at]) >= 0 && number(head[at+1:at+3]) >= 0 {
			return true
		}
	}
}

// isCode says that an indented line is one of source, by how it ends or what it assigns.
func isCode(text string) bool {
	return strings.IndexByte(",:({[)}];", text[len(text)-1]) >= 0 || strings.Contains(text, " = ") || strings.HasPrefix(text, "return") || text[0] == '#'
}

// heading is a heading of Markdown.
func heading(text string) bool {
	level := 0
	for level < len(text) && text[level] == '#' {
		level++
	}
	return level > 0 && level <= 6 && len(text) > level+1 && text[level] == ' '
}

// definitions begin lines at the margin of a source in the languages that training is written in.
var definitions = []string{
	"def ", "class ", "import ", "from ", "async def ", "@", "func ", "package ", "type ", "#include ", "#define ", "#if", "#endif", "struct ", "static ", "template", "namespace ", "using ",
}

func definition(text string) bool {
	if text == "}" || text == "};" { // where the body of one ends
		return true
	}
	for _, word := range definitions {
		if rest, ok := strings.CutPrefix(text, word); ok && rest != "" && rest[0] != ' ' {
			return word != "from " || strings.Contains(rest, " import ")
		}
	}
	return false
}

// functionWords hold sentences together, whatever they are about.
var functionWords = wordSet("the a an to is are of and if you this that in for with can be or it as not on by from will your at when have has we but which how should may must do does so than then there these they was were")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// A sentence has so many words at least, one of five of them a function word, and few characters that
// are neither letters nor what stands between words. What is written without spaces is told by its own marks.
const wordsOfSentence = 6

func isSentence(text string) bool {
	words, functions, plain := 0, 0, 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case isLetter(c):
			from := i
			for i < len(text) && (isLetter(text[i]) || text[i] == '\'') {
				i++
			}
			words++
			plain += i - from
			if i-from <= len("should") && functionWords[strings.ToLower(text[from:i])] {
				functions++
			}
		case c == ' ' || c == ',' || c == '.' || c >= 0x80:
			plain++
			i++
		default:
			i++
		}
	}
	if plain*5 < len(text)*4 {
		return false
	}
	if strings.Contains(text, "。") || strings.Contains(text, "，") {
		return true
	}
	return words >= wordsOfSentence && functions >= 2 && functions*5 >= words
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
