package diagnose

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// prose follows texts that speak of errors and report none: documentation, help, changelogs, samples of
// the data. They are known by their form, never by their words alone: a section, a block or a mark that
// texts have and reports of programs do not. What begins with the heading of a traceback is always a
// report, except between two marks of a sample.
type prose struct {
	sec      section
	block    block
	document document
	lines    [announcedBefore + 1]said // the last ones; a ring
	newest   int
	heard    []int // sightings of the last line that has any
	heardAt  int   // its number
	spoken   []int // sightings that are only spoken of, and that nobody was told of yet
	announced
}

// said is a line with text.
type said struct {
	lane, text string
	number     int
}

// section is a part of a text that goes on as long as its lines are indented further than its first one.
type section struct {
	kind   sectionKind
	lane   string
	indent int // spaces before its first line
	line   int // number of its first line
	filled bool
}

type sectionKind int

const (
	noSection sectionKind = iota
	raises                // "Raises:" of a docstring
	option                // "  --strict" in a help text
	literal               // ".. code::" of reStructuredText
	listed                // "Exceptions:" of a docstring, or of a report
)

// block is text between two marks; where it is not closed, nothing follows from the first.
type block struct {
	end       string
	lane      string
	line      int
	sample    bool // of the data: people put reports between the marks of Markdown
	sightings []int
	closed    bool
}

// document is a text with a title such as "Changelog" or "Known issues".
type document struct {
	lane  string
	line  int // 0: none
	plain int // lines since, one after the other, that have no mark
}

// How many lines such texts may have: what is not closed ends there.
const (
	longestSection  = 40
	longestBlock    = 80
	longestDocument = 200
	mostHead        = 16 // bytes of a word that begins a section
	mostPlain       = 3  // lines without a mark that a document has between two with one
)

// pairs are the marks around what a model is asked (https://github.com/tatsu-lab/stanford_alpaca,
// https://huggingface.co/docs/transformers/chat_templating), and those around code in Markdown.
var pairs = []struct{ begin, end string }{
	{"### Instruction:", "### Response:"},
	{"<|im_start|>", "<|im_end|>"},
	{"<|start_header_id|>", "<|eot_id|>"},
	{"<|user|>", "<|assistant|>"},
	{"[INST]", "[/INST]"},
	{"<s>[INST]", "[/INST]"},
	{fence, fence},
}

const fence = "```"

var (
	raisesHead  = regexp.MustCompile(`^\s*(?:Raises|Warns|Throws)(?::\s*|\s*)$`)
	optionHead  = regexp.MustCompile(`^\s{1,12}--?[A-Za-z][\w-]*(?:$|[ ,=])`)
	listedHead  = regexp.MustCompile(`^\s*(?:Exceptions|Errors):\s*$`)
	literalHead = regexp.MustCompile(`^\s*\.\. (?:code|code-block|sourcecode|parsed-literal)::`)

	// raisesEntry is an entry that is not indented: a type alone, or when it is raised.
	raisesEntry = regexp.MustCompile(`^\s*(?:\w+\.)*[A-Z]\w*(?:(?:Error|Exception|Warning|Exit)$|\s*(?::|–|--?)\s*(?i:if|when|whenever|unless|in case|on|for|raised|thrown)\b)`)

	// title is what texts about errors are called.
	title = regexp.MustCompile(`(?i)^[#*\s\[]{0,8}(?:change ?log|release notes|what'?s (?:new|changed)|known (?:issues|problems)|trouble ?shooting|faq|frequently asked questions|bug ?fix(?:es)?|bugs squashed|fixed|common (?:errors|problems|issues))\b[^:.]{0,24}$`)

	heading = regexp.MustCompile(`^#{1,6} `)

	// marked is a line with a mark of Markdown or reStructuredText: a heading, an item, a quotation, a row
	// of a table.
	marked = regexp.MustCompile(`^\s*(?:#{1,6} |[-*+•] |\d{1,2}[.)] |>+ ?|\*\*[^*\s]|\|.*\|.*\|\s*$)`)

	// conditional is an exception and when it is raised.
	conditional = regexp.MustCompile(`^\s*(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt)\s*(?::|–)\s*(?i:if|when|whenever|unless)\b`)

	// raisedNow speaks of what has changed in the raising, raisedWhen of the raising.
	raisedNow  = regexp.MustCompile(`\b(?:is|are) (?:now|only|no longer) (?:raised|thrown)\b`)
	raisedWhen = regexp.MustCompile(`\b(?:is|are|gets?) (?:raised|thrown) (?:when|if|unless)\b`)

	// repaired are words before an error that was mended, as changelogs and commits begin with them.
	repaired = regexp.MustCompile(`(?i)^[\s#*•-]*(?:HEAD is now at |commit )?(?:[0-9a-f]{7,40} )?(?:\([^)]{1,80}\) )?(?:fix|fixe[sd]|bug ?fix|revert(?:s|ed)?)\b[^.;]{0,60}$`)
	toRepair = regexp.MustCompile(`(?i): (?:fix|fixe[sd]|bug ?fix|revert(?:s|ed)?)\b[^.;]{0,60}$`)

	// setting is a name in a configuration that says what to do about errors or how to know them.
	setting = regexp.MustCompile(`(?i)^[\s"'-]*(?:[\w.-]*_)?(?:ignored?|retry_on|skip|tolerated?|patterns?|polic(?:y|ies)|allowed_\w+|expected_\w+)(?:_[\w.-]*)?["']?\s*[:=]`)

	// report is a name under which programs log what went wrong.
	report = regexp.MustCompile(`(?i)\b(?:err|error|exc|exception|msg|message|cause|reason|detail)["']?\s*[:=]`)

	// reaction is an exception and what to do about it, in a configuration, or an item of a list that is
	// a type and nothing else.
	reaction = regexp.MustCompile(`^\s+- ["']?(?:\w+\.)*[A-Z]\w*["']?,?\s*$|^\s+["']?(?:\w+\.)*[A-Z]\w*["']?: ["']?(?:skip|retry|abort|raise|ignore|warn|log|exit|fail|stop|continue|checkpoint|requeue)["']?,?\s*$`)

	// member is a key of a sample of the data in JSON.
	member = regexp.MustCompile(`["'](?:role["']: ?["'](?:user|assistant|system|human|tool)\b|(?:instruction|question)["']: ?["'])`)
)

// see is told of every line, before it is looked at. It gives the sightings that turned out to be only
// spoken of.
func (p *prose) see(l *reduce.Line) []int {
	var spoken []int
	if p.block.closed || len(p.spoken) > 0 {
		spoken = p.settle()
	}
	body := l.Body()
	if p.newest++; p.newest == len(p.lines) {
		p.newest = 0
	}
	p.lines[p.newest] = said{l.Lane, body, l.Number}
	if body != "" && p.idle() && !mayOpen[body[0]] {
		return spoken // as nearly every line of a log
	}
	p.read(l, body)
	return spoken
}

// idle says that no text is being read.
func (p *prose) idle() bool {
	return p.sec.kind == noSection && p.block.line == 0 && p.document.line == 0
}

// mayOpen are the bytes with which a line begins that a text may begin with.
var mayOpen = func() (may [256]bool) {
	for _, c := range []byte(" \tRWTEF-=~#.<[`") {
		may[c] = true
	}
	return may
}()

// above is the line so many lines above the one that was read last.
func (p *prose) above(n int) said { return p.lines[(p.newest+len(p.lines)-n)%len(p.lines)] }

func (p *prose) read(l *reduce.Line, body string) {
	trimmed := strings.TrimLeft(body, " \t")
	if trimmed == "" {
		p.blank(l.Lane)
		return
	}
	indent := len(body) - len(trimmed)
	if reports(trimmed) {
		p.sec.kind, p.document.line = noSection, 0
		p.announced.head(l, p.above(1), p.above(2))
		return
	}
	p.follow(l, trimmed, indent)
	switch trimmed[0] {
	case 'R', 'W', 'T':
		if len(trimmed) <= mostHead && raisesHead.MatchString(body) {
			p.sec = section{kind: raises, lane: l.Lane, indent: indent, line: l.Number}
		}
	case 'E':
		if len(trimmed) <= mostHead && listedHead.MatchString(body) {
			p.sec = section{kind: listed, lane: l.Lane, indent: indent, line: l.Number}
		}
	case '-':
		if indent > 0 && optionHead.MatchString(body) {
			p.sec = section{kind: option, lane: l.Lane, indent: indent, line: l.Number}
			return
		}
		p.underline(l, trimmed)
	case '=', '~':
		p.underline(l, trimmed)
	case '#':
		switch {
		case title.MatchString(body):
			p.document = document{lane: l.Lane, line: l.Number}
		case heading.MatchString(trimmed):
			p.document.line = 0
		}
		p.underline(l, trimmed)
		p.begin(l, trimmed)
	case '.':
		if literalHead.MatchString(body) {
			p.sec = section{kind: literal, lane: l.Lane, indent: indent, line: l.Number}
		}
	case '<', '[', '`':
		p.begin(l, trimmed)
	}
	p.end(l, trimmed)
}

// reports says that a line begins a traceback.
func reports(trimmed string) bool {
	return trimmed[0] == 'T' && strings.HasPrefix(trimmed, "Traceback (most") || trimmed[0] == 'F' && strings.HasPrefix(trimmed, `File "`)
}

// blank is a line without text. It ends what a docstring says of exceptions once it has said something,
// and a help text.
func (p *prose) blank(lane string) {
	if p.sec.lane == lane && (p.sec.kind == option || p.sec.kind != literal && p.sec.filled) {
		p.sec.kind = noSection
	}
	if p.document.lane == lane {
		p.document.plain = 0
	}
}

// stamp is a part of a time or a date.
var stamp = regexp.MustCompile(`\d[:/-]\d`)

// stamped says that the program put the time before the line.
func stamped(l *reduce.Line) bool {
	written := l.Written()
	return stamp.MatchString(written[:max(0, len(written)-len(l.Body()))])
}

// isMarked says that a line has a mark of a text. Behind a time, a dash only separates.
func isMarked(l *reduce.Line) bool { return marked.MatchString(l.Body()) && !stamped(l) }

// follow ends what the line is no part of any more.
func (p *prose) follow(l *reduce.Line, trimmed string, indent int) {
	if s := &p.sec; s.kind != noSection && s.lane == l.Lane {
		entry := indent > s.indent || s.kind == raises && (strings.Trim(trimmed, "-") == "" || raisesEntry.MatchString(trimmed))
		if !entry || l.Number-s.line > longestSection {
			s.kind = noSection
		}
		s.filled = s.filled || strings.Trim(trimmed, "-") != ""
	}
	if d := &p.document; d.line > 0 && d.lane == l.Lane {
		if d.plain++; indent >= 4 || isMarked(l) {
			d.plain = 0
		}
		if d.plain >= mostPlain || l.Number-d.line > longestDocument || stamped(l) {
			d.line = 0
		}
	}
	if b := &p.block; b.line > 0 && l.Number-b.line > longestBlock {
		*b = block{}
	}
}

// begin opens a block at its first mark.
func (p *prose) begin(l *reduce.Line, trimmed string) {
	if p.block.line > 0 {
		return
	}
	for _, pair := range pairs {
		if !strings.HasPrefix(trimmed, pair.begin) || pair.begin == fence && strings.Count(trimmed, fence) > 1 {
			continue
		}
		p.block = block{end: pair.end, lane: l.Lane, line: l.Number, sample: pair.end != fence}
	}
}

// end closes a block at its second mark.
func (p *prose) end(l *reduce.Line, trimmed string) {
	b := &p.block
	if b.line == 0 || b.closed || b.lane != l.Lane || b.end == fence && b.line == l.Number {
		return
	}
	if b.end == fence {
		b.closed = strings.HasPrefix(trimmed, fence)
		return
	}
	b.closed = strings.Contains(trimmed, b.end)
}

// underline makes the line before a heading.
func (p *prose) underline(l *reduce.Line, trimmed string) {
	trimmed = strings.TrimRight(trimmed, " \t")
	before := p.above(1)
	if len(trimmed) < 4 || strings.Trim(trimmed, trimmed[:1]) != "" || before.lane != l.Lane || before.number != l.Number-1 {
		return
	}
	if n := utf8.RuneCountInString(strings.TrimSpace(before.text)) - len(trimmed); n < -1 || n > 1 {
		return
	}
	if title.MatchString(before.text) {
		p.document = document{lane: l.Lane, line: l.Number}
	} else if p.document.line > 0 {
		p.document.plain = 0
		if p.heardAt == before.number {
			p.spoken = append(p.spoken, p.heard...)
		}
	}
}

// settle gives the sightings that turned out to be only spoken of, once each.
func (p *prose) settle() []int {
	if p.block.closed {
		if p.block.sample {
			p.spoken = append(p.spoken, p.block.sightings...)
		}
		p.block = block{}
	}
	spoken := p.spoken
	p.spoken = nil
	return spoken
}

// quoted says that the line is part of a text in which nothing is reported.
func (p *prose) quoted(l reduce.Line) bool {
	if now := p.above(0); l.Trace != nil || l.Number != now.number || l.Lane != now.lane {
		return false
	}
	if p.sec.kind != noSection && p.sec.kind != listed && p.sec.lane == l.Lane {
		return true
	}
	body := l.Body()
	inDocument := p.document.line > 0 && p.document.lane == l.Lane && p.block.line == 0
	indented := strings.HasPrefix(body, " ") || strings.HasPrefix(body, "\t")
	return inDocument && (strings.HasPrefix(body, "    ") || isMarked(&l)) || indented && reaction.MatchString(body)
}

// speaksOf says that what was found at a byte of the line is spoken of and not reported.
func speaksOf(l reduce.Line, text string, at int) bool {
	before := text[:min(at, len(text))]
	if l.Trace != nil {
		before, _, _ = strings.Cut(text, "Traceback (most")
		return len(before) < len(text) && member.MatchString(before)
	}
	inSample := member.MatchString(before) && strings.Count(before, "{") > strings.Count(before, "}")
	inSetting := setting.MatchString(before) && !report.MatchString(before)
	return inSample || inSetting || raisedNow.MatchString(text[len(before):]) || repaired.MatchString(before)
}

// saysItGoesOn says that a line above an exception announced that the program goes on.
func (p *prose) saysItGoesOn(l reduce.Line) bool {
	if l.Trace != nil {
		return p.announced.covers(l)
	}
	above := p.above(1)
	return above.number > 0 && above.number == l.Number-1 && above.lane == l.Lane && introduces(above.text)
}

// mayBeProse says that the line has a form in which texts speak of errors; programs use it too, so that
// only training that goes on after it tells. What was found begins at a byte of the text.
func (p *prose) mayBeProse(l reduce.Line, text string, at int) bool {
	body := l.Body()
	if l.Trace != nil {
		return strings.HasPrefix(body, "> ") || quoted.MatchString(body)
	}
	inBlock := p.block.line > 0 && p.block.lane == l.Lane || p.sec.kind == listed && p.sec.lane == l.Lane
	inCode := strings.Count(text[:at], "`")%2 == 1 && strings.Contains(text[at:], "`")
	return inBlock || inCode || toRepair.MatchString(text[:at]) || raisedWhen.MatchString(text) || isMarked(&l) || conditional.MatchString(body)
}

// named is the byte of a text at which a match names what went wrong: a pattern may begin before it.
func named(text string, m signature.Match) int {
	at := min(m.Start, len(text))
	if name := m.Facts["type"]; name != "" {
		return at + max(0, strings.Index(text[at:], name))
	}
	return at
}

// sighted is told of every sighting before it is kept. It gives what training that goes on would prove.
func (p *prose) sighted(l reduce.Line, sighting int, m signature.Match) proof {
	if l.Number != p.heardAt {
		p.heard, p.heardAt = p.heard[:0], l.Number
	}
	p.heard = append(p.heard, sighting)
	if p.block.line > 0 && p.block.lane == l.Lane {
		p.block.sightings = append(p.block.sightings, sighting)
	}
	text := reduce.Mask(l.Body())
	switch goesOn := p.saysItGoesOn(l); {
	case p.mayBeProse(l, text, named(text, m)):
		return notReported
	case goesOn:
		return survived
	}
	return nothing
}

// onlySpokenOf takes back sightings that turned out to be no reports, as if nobody had counted them.
func (r *logReader) onlySpokenOf(sightings []int) {
	for _, i := range sightings {
		if i < len(r.sightings) && !r.sightings[i].Over {
			r.sightings[i].Over = true
			r.perSignature[r.sightings[i].Signature.ID]--
		}
	}
}
