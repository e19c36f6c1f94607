package logscan

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// genericException is the signature for exceptions that no other signature knows.
const genericException = subject.Exception

// quotedException is the signature for exceptions that a line only quotes: what is raised is none.
const quotedException = "said-exception"

// leastOfAll are last resorts that say less of what is raised than its type does.
func leastOfAll(m signature.Match) bool {
	return m.Signature.LastResort && (m.Signature.Role != signature.Root || m.Signature.ID == quotedException)
}

// notFiniteCategory is that of numbers that are none.
const notFiniteCategory = "nan-loss"

// autoscaler is the signature for what the cluster autoscaler says of a pod.
const autoscaler = "autoscaler-no-scale-up"

// mostPerSignature bounds how often one log can say one thing: a log that repeats one error a million times has said it
// after the first few. Of what it says more often the first ones are kept, and the last: what was survived a dozen times
// may end a program at last.
const (
	mostSightings     = 400 // while a log is read
	mostPerSignature  = 12
	mostLineInResults = 2000
)

// said is what there was in a log before a sighting.
type said struct {
	lane  string // the prefix that tells processes apart
	steps int    // lines that had counted steps
	grown int    // steps of counters that no rule knows by name
	work  int    // requests that had been answered
	top   bool   // it is an exception that nothing was left to handle
	shape uint64 // of a line with a number that is none; 0: it is none
	well  bool   // the loss in that line is a number, only the gradient is not
	// informed says that it is of a record of a logger below a warning; named that it is if a frame follows.
	informed, named bool
	proven          bool   // steps, or an end that went well, show that it was survived
	debugs          bool   // it is for those who debug the program
	instead         bool   // a line close below says what is done instead
	logged          string // the stamp's form of its record, or of the one that its traceback is printed in; empty: of none
	beside          bool   // it was raised in a thread beside the main one, or in a task that nothing waits for
}

// saidBy notes it for the next sighting.
func (r *logReader) saidBy(lane string) {
	r.said = append(r.said, said{lane: lane, steps: r.steps.Lines(), grown: r.counters.Steps(), work: r.counters.Work()})
}

// logReader turns the lines of one log into sightings.
type logReader struct {
	log          *evidence.ContainerLog
	options      *Options
	share        share
	catalog      *signature.Catalog
	view         *signature.View
	sightings    []evidence.Observation
	texts        texts
	room         []signature.Match // of the line that is read
	perSignature map[string]int
	latest       map[string]bool // signatures of which the last sighting stands behind the first ones
	bursts       map[string]burst
	scheduling   reduce.Line    // where the last scheduler's message began
	wrapped      string         // that message, as far as it was read
	cut          bool           // it ends where no message ends
	rootCause    int            // line of torchrun's heading "Root Cause"
	generic      map[string]int // lane → the sighting of its last exception that no signature knows
	wrapper      map[string]int // lane → the line of an exception that only hands on another one, which is printed below it
	said         []said         // of the sightings
	success      map[string]int // lane → its last line that says that the run ended well
	failed       bool           // the platform says that the container ended badly
	progress     int            // lines that show training
	progressAt   [2]int         // numbers of the last two of them
	course       Course
	callsLeft    int // lines of watchdogs that are not kept
	calledAt     int // step lines before the last of them
	steps        progress.Tracker
	series       progress.Series // what they say, when all is read
	curve        bool            // the loss over the whole run is wanted
	remember     bool            // what is printed is
	elastic      timeline.ElasticReader
	worst        worst
	inRecord     logRecord // that the line which is read is of
	belows       []below   // by kept line
	launches     launches
	counters     progress.Counters
	sound        progress.Recoveries // of lines that say that a number is none
	document     reduce.Document
	ended        int  // the last line so far that is an exception which ended its process, whether or not it is kept
	endsRaised   bool // it is the last of all
	calm         int  // where its end begins, if it ends without complaint, with what was done or found
}

func (r *logReader) suspect(text string) bool {
	text = unquoted(text)
	return r.view.Matters(text) || r.cut
}

// search is what suspect asks a text for, by whatever goroutine; found is suspect of a text that was searched.
func (r *logReader) search(found []int32, text string) []int32 {
	return r.catalog.Search(found, unquoted(text))
}

func (r *logReader) found(text string, literals []int32) bool {
	return r.view.Found(unquoted(text), literals) || r.cut
}

// unquoted is a line with the quotes inside quotes as they were: a message that a program quotes
// within a string of its own, in JSON or by Go's %q, says the same as one that it prints.
func unquoted(text string) string {
	const quote, strong = `\"`, "**"
	if strings.IndexByte(text, strong[0]) >= 0 && strings.Contains(text, strong) && !strings.Contains(text, "***") && strings.Count(text, strong)%2 == 0 {
		text = strings.ReplaceAll(text, strong, "") // Markdown's, around a part of a quoted line
	}
	if strings.IndexByte(text, quote[0]) < 0 {
		return text
	}
	return strings.ReplaceAll(text, quote, `"`)
}

// wrap keeps a scheduler's message, or none, for the line after it: one that was cut goes on there.
func (r *logReader) wrap(message string) {
	r.wrapped = message
	r.cut = message != "" && (strings.HasSuffix(message, ",") || !strings.Contains(message, "preemption:") && cutWithin.MatchString(message))
}

// cutWithin is a scheduler's message that ends where none of its reasons can end.
var cutWithin = regexp.MustCompile(`\b(?:available:|Insufficient|node\(s\)|had|untolerated|didn't|match|unbound|immediate)$`)

// rootCauseBlock is how far below torchrun's "Root Cause" heading its lines go.
const rootCauseBlock = 8

func (r *logReader) visit(l reduce.Line) bool {
	if l.Code || (l.Trace != nil && l.Trace.Ignored) {
		return false
	}
	if l.Trace != nil && l.Trace.Top {
		r.ended = l.Number
	}
	if _, known := slices.BinarySearch(r.log.Understood, l.Number); known {
		return false
	}
	// Just below an exception without a name, of which there were many, what is known matters only if it is new.
	onlyNew := r.full(genericException) && r.saidAbove(genericException, l.Number) && (l.Trace == nil || l.Trace.Chain != reduce.CausedBy)
	if onlyNew && l.Trace != nil && !r.view.Suspects(l.Body()) {
		return false
	}
	text := strings.Clone(unquoted(reduce.Mask(l.Body()))) // facts are parts of it, and a line holds on to its neighbours
	r.readCalls(l, text)
	if strings.Contains(text, "Root Cause (first observed failure)") {
		r.rootCause = l.Number
	}
	if matters, done := r.visitScheduling(l, text); done {
		return matters
	}
	r.unwrap(l)
	matches := r.setAside(l, r.matchesOf(&l, text, onlyNew))
	precise := slices.ContainsFunc(matches, explainsMore)
	r.translated(l, matches)
	matters := false
	for _, m := range matches {
		if isGeneric(m) && precise {
			continue
		}
		kept := r.record(l, m)
		if kept && isGeneric(m) && len(r.generic) < mostSightings {
			r.generic[strings.Clone(l.Lane)] = len(r.sightings) - 1
		}
		matters = kept || matters
	}
	r.listen()
	return matters
}

// onlyNamed says that a match is an exception's type and no more: as an item of a list, settings name what is
// to be tried again or passed over. One whose message is a traceback hands on what is raised below.
func onlyNamed(m signature.Match) bool {
	message := m.Facts["message"]
	return isGeneric(m) && (message == "" || strings.HasPrefix(message, "Traceback (most recent call last)"))
}

// listen stops listening for signs of health where there were enough of them, and begins again
// where something has to be survived.
func (r *logReader) listen() {
	r.view.Calm(r.progress >= enoughProgress && !r.worst.open && !r.steps.Seeks())
}

// full says that for a further sighting of a signature another one has to go.
func (r *logReader) full(id string) bool {
	return len(r.sightings) >= mostSightings || r.perSignature[id] >= mostPerSignature
}

// mostOfBurst is how many lines close below each other say the same before not every one of them is looked at: of a few, the
// last one may say more than the first, as an exception does below the warnings of what it was raised for.
const mostOfBurst = 8

// burst is lines close below each other with one signature.
type burst struct{ last, lines int }

// enough passes over the next lines in the search for signatures of which the first sightings are kept, where they are said on
// and on. Cascades are looked for on: what watchdogs say of other ranks counts however often they say it.
func (r *logReader) enough(s *signature.Signature, line int) {
	if s.Role == signature.Cascade || !r.full(s.ID) {
		return
	}
	b := r.bursts[s.ID]
	if line-b.last > 2*signature.SaidAbove {
		b.lines = 0
	}
	if r.bursts == nil {
		r.bursts = map[string]burst{}
	}
	b.last, b.lines = line, b.lines+1
	if r.bursts[s.ID] = b; b.lines > mostOfBurst {
		r.view.Enough(s)
	}
}

// translated ends an exception that no signature knows where the next one says to be its
// translation ("the direct cause of") and a signature knows that one: the library that
// raised it knows better than the words of the first what went wrong.
func (r *logReader) translated(l reduce.Line, matches []signature.Match) {
	if l.Trace == nil || !r.options.uses(translates) {
		return
	}
	i, ok := r.generic[l.Lane]
	if !ok || i >= len(r.sightings) {
		return
	}
	known := slices.ContainsFunc(matches, func(m signature.Match) bool {
		return !isGeneric(m) && m.Signature.Role == signature.Root
	})
	switch l.Trace.Chain {
	case reduce.Alone:
	case reduce.During:
		// An exception that a handler raises with words of its own says what the first one meant; and so does one that a
		// signature knows where the first one has no words, like that of a queue without a next item.
		raises := strings.HasPrefix(l.Trace.Source, "raise ") && strings.Contains(l.Trace.Source, "(") && slices.ContainsFunc(matches, says)
		if raises || known && !strings.ContainsAny(r.sightings[i].Line, " :") {
			r.sightings[i].Over = true
		}
	case reduce.CausedBy:
		if known {
			r.sightings[i].Over = true
		}
	}
}

// enoughProgress is after how many lines that show training the reader stops counting them.
const enoughProgress = 16

func (r *logReader) kinds() []evidence.Kind {
	if r.log.Pasted {
		return []evidence.Kind{evidence.Log, evidence.Event, evidence.Status, evidence.Node}
	}
	return []evidence.Kind{evidence.Log}
}

// visitScheduling reads a scheduler's message quoted in a text. A message may be wrapped:
// reasons on the next lines still belong to it.
func (r *logReader) visitScheduling(l reduce.Line, text string) (matters, done bool) {
	goesOn := r.cut && l.Number-r.scheduling.Number <= 3
	if !goesOn && !strings.Contains(text, signature.CountsNodes) {
		r.wrap("")
		return false, false
	}
	if goesOn {
		text = r.wrapped + " " + text
	}
	r.wrap("")
	u, ok := control.ParseUnschedulable(text)
	if !ok {
		return false, false
	}
	if n := len(r.sightings); goesOn && n > 0 && r.sightings[n-1].Item.Source.Line == r.scheduling.Number {
		r.sightings, r.said = r.sightings[:n-1], r.said[:n-1] // said by its first half alone
	}
	r.scheduled()
	r.scheduling = l
	r.wrap(strings.TrimSpace(text))
	rule, facts := control.Judge(u)
	return r.record(l, signature.Match{Signature: rule, Facts: facts}), true
}

// notScaled judges the reasons that the cluster autoscaler gives as if the scheduler had given
// them, as long as it has not.
func (r *logReader) notScaled(text string, matches []signature.Match) []signature.Match {
	for i, m := range matches {
		if m.Signature.ID != autoscaler || r.scheduling.Number > 0 {
			continue
		}
		if u, ok := control.ParseNoScaleUp(text); ok {
			matches[i].Signature, matches[i].Facts = control.Judge(u)
		}
	}
	return matches
}

// scheduled ends what only the autoscaler said: the scheduler counts the nodes that there are.
func (r *logReader) scheduled() {
	if r.scheduling.Number > 0 {
		return
	}
	for i := range r.sightings {
		if _, ok := control.ParseNoScaleUp(r.sightings[i].Line); ok {
			r.sightings[i].Over = true
		}
	}
}

// says tells signatures that explain a line from those that only count it.
func says(m signature.Match) bool { return m.Signature.Role != signature.Context }

// explainsMore tells signatures that say more of a line than that it is an exception.
func explainsMore(m signature.Match) bool { return !isGeneric(m) && says(m) }

// isGeneric says that a match is no more than that a line is an exception, whatever its subject.
func isGeneric(m signature.Match) bool { return isGenericSignature(m.Signature) }

func isGenericSignature(s *signature.Signature) bool { return subject.KnownAs(s) == genericException }

// namesCause tells signatures that name a cause from those that count a line, or that a process ended.
func namesCause(m signature.Match) bool {
	return explainsMore(m) && !m.Signature.LastResort && m.Signature.Role != signature.Confirmation
}

// record keeps one match. Signs of health are counted, not kept.
func (r *logReader) record(l reduce.Line, m signature.Match) bool {
	s := m.Signature
	if s.Category == signature.HealthyCategory {
		if s.DepthOf() == signature.Precise {
			if r.success == nil {
				r.success = map[string]int{}
			}
			if _, known := r.success[l.Lane]; known || len(r.success) < mostSightings {
				r.success[strings.Clone(l.Lane)] = l.Number
			}
		} else {
			r.progress++
			r.progressAt = [2]int{r.progressAt[1], l.Number}
			if r.steps.Seeks() && r.steps.Learn(l.Body()) { // this line is the first one
				r.steps.See(l.Number, l.Body(), l.At)
			}
			r.worst.advance()
		}
		return false
	}
	if s.Category == notFiniteCategory && progress.NotBegun(l.Body(), m.Start) {
		return false
	}
	if says(m) && s.Category != notFiniteCategory {
		r.counters.Failure(l.Body())
	}
	full := r.full(s.ID)
	r.perSignature[s.ID]++
	r.enough(s, l.Number)
	called := recovery.Mild(l.Body())
	mild := mild(l, called)
	if full && !r.makeRoom(s.ID, l.Number, l.Trace != nil, mild) {
		return false
	}
	source := r.log.Source
	source.Line = l.Number
	if l.Rank >= 0 {
		source.Rank, source.Role = l.Rank, "" // a rank of the whole job, not an index of a role
	}
	if rank := m.Facts["rank"]; rank != "" && source.Rank < 0 {
		if n, err := strconv.Atoi(rank); err == nil {
			source.Rank = n
		}
	}
	line := strings.TrimSpace(reduce.Mask(r.shown(l)))
	line, said := aroundMatch(line, len(line)-len(strings.TrimRight(reduce.Mask(l.Body()), " \t"))+m.Start, r.share.line)
	line = strings.Clone(line)
	facts := partsOf(line, m.Facts)
	if l.Trace != nil && l.Trace.Frame != "" {
		facts = with(facts, "frame", strings.Clone(reduce.Mask(l.Trace.Frame)))
	}
	r.saidBy(strings.Clone(l.Lane))
	last := &r.said[len(r.said)-1]
	last.top = l.Trace != nil && l.Trace.Top
	last.beside = l.Trace != nil && l.Trace.Thread
	if last.logged = stampForm(l.Body()); l.Trace != nil {
		last.logged = r.inRecord.tracedIn(l.Trace)
	}
	last.informed, last.named = r.informed(l, called)
	last.debugs = called && l.Trace == nil && recovery.Debugs(l.Body())
	if s.Category == notFiniteCategory {
		last.shape, last.well = r.sound.Follow(l.Body()), progress.OnlyGradient(l.Body())
	}
	r.sightings = append(r.sightings, evidence.Observation{
		Signature: s, Line: line, Said: said, Facts: facts, First: r.rootCause > 0 && l.Number-r.rootCause <= rootCauseBlock, Raised: l.Trace != nil, Mild: mild,
		Item: evidence.Item{ID: source.LineID(), Kind: evidence.Log, At: l.At, Carried: l.Carried, Source: source, Text: line, Times: 1},
	})
	return true
}

// mild says that a line is called less than an error, or that its program goes on after what it says.
func mild(l reduce.Line, called bool) bool {
	return called || l.Trace != nil && l.Trace.Thread || l.Trace == nil && (recovery.TriesAgain(l.Body()) || recovery.Warns(l.Body()))
}

// aroundMatch is a line in which a match begins at a byte, and where in the result it does. Of a line too
// long it is the beginning, or what stands around the match.
func aroundMatch(line string, at, most int) (string, int) {
	before := most / 10
	at = min(max(0, at), len(line))
	if len(line) <= most {
		return line, at
	}
	from := 0
	if at > most-2*before {
		from = min(at-before, len(line)-most)
	}
	part := strings.ToValidUTF8(line[from:from+most], "")
	return part, max(0, min(at-from, len(part)))
}

// partsOf are facts that hold on to no other text than the line that is kept.
func partsOf(line string, facts map[string]string) map[string]string {
	if facts == nil {
		return nil
	}
	parts := make(map[string]string, len(facts))
	for name, fact := range facts {
		if i := strings.Index(line, fact); i >= 0 {
			parts[name] = line[i : i+len(fact)]
		} else {
			parts[name] = strings.Clone(fact)
		}
	}
	return parts
}

// shown is a line as people see it: what the cluster puts before the lines it hands out, the
// time of the kubelet, is known apart. A file is shown as it is: people search it.
func (r *logReader) shown(l reduce.Line) string {
	if r.log.Source.Pod == "" {
		return l.Text
	}
	return l.Written()
}

func with(facts map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	maps.Copy(out, facts)
	return out
}
