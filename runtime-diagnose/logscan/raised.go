package logscan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// raisedBy begins the text in which an exception is put together with the place that raised it.
const raisedBy = "raised by "

// byRaiser asks the signatures once more about an exception whose own words none of them knows: who
// raised it often says more. An assertion without a message says nothing, and its condition does; a
// function that checks arguments refuses arguments, however it words that. The text is
//
//	raised by File "arguments.py", line 7, in validate_args: assert args.tp > 0: AssertionError
func (r *logReader) byRaiser(l reduce.Line) []signature.Match {
	if found := r.byFrame(l, l.Trace.Frame); len(found) > 0 {
		return found
	}
	return r.byStatement(l)
}

// askedIn begins the text in which the signatures are asked about a key that is not there, and the statement that
// wanted it: the key alone says nothing, and what it was wanted of does.
const askedIn = "a key asked for in "

// byStatement asks about it.
func (r *logReader) byStatement(l reduce.Line) []signature.Match {
	if t := l.Trace; t.Type != "KeyError" || t.Source == "" || !r.options.uses(asksRaiser) {
		return nil
	}
	return slices.DeleteFunc(r.catalog.Match(askedIn+strings.Clone(reduce.Mask(l.Trace.Source)), r.kinds()...), func(m signature.Match) bool {
		return !strings.HasPrefix(m.Signature.Pattern, "^"+askedIn)
	})
}

// byFrame asks about an exception and one of its frames.
func (r *logReader) byFrame(l reduce.Line, frame string) []signature.Match {
	t := l.Trace
	if frame == "" || !r.options.uses(asksRaiser) {
		return nil
	}
	text := raisedBy + frame + ": "
	if strings.HasPrefix(t.Source, "assert ") {
		text += t.Source + ": "
	}
	text += t.Type
	if t.Message != "" {
		text += ": " + t.Message
	}
	return slices.DeleteFunc(r.catalog.Match(strings.Clone(reduce.Mask(text)), r.kinds()...), func(m signature.Match) bool {
		return !explainsMore(m) || m.Signature.LastResort || m.Signature.Category == signature.HealthyCategory
	})
}

// wrapped is an exception that only hands on another one, which is printed below it.
type wrapped struct {
	line  int
	first int // of the sightings that it gave
	count int
	loads bool // it is of a worker that loads data
}

// wraps are the words in which torch hands an exception of a worker on to the process that waits for
// it; the original traceback follows
// (https://github.com/pytorch/pytorch/blob/main/torch/_utils.py, ExceptionWrapper). torch.compile prints
// what its backend raised on the line below
// (https://github.com/pytorch/pytorch/blob/main/torch/_dynamo/exc.py, BackendCompilerFailed).
var wraps = regexp.MustCompile(`^Caught \w+ in (?:DataLoader worker process|replica|pin memory thread)\b|^backend=.{1,80} raised:$`)

// originalWithin is how far below a wrapper the original exception ends, in lines.
const originalWithin = 200

// unwrap puts the original exception in the place of the one that wraps it, and notes the next one. It says whether
// the original is of a worker that loads data.
func (r *logReader) unwrap(l reduce.Line) (loads bool) {
	if l.Trace == nil || !r.options.uses(unwraps) {
		return false
	}
	if w, ok := r.wrapper[l.Lane]; ok {
		delete(r.wrapper, l.Lane)
		if l.Number-w.line <= originalWithin {
			loads = w.loads
			for i := w.first; i < min(len(r.sightings), w.first+w.count); i++ {
				if r.sightings[i].Item.Source.Line == w.line {
					r.sightings[i].Over = true
				}
			}
		}
	}
	if wraps.MatchString(l.Trace.Message) && len(r.wrapper) < mostSightings {
		if r.wrapper == nil {
			r.wrapper = map[string]wrapped{}
		}
		r.wrapper[strings.Clone(l.Lane)] = wrapped{
			line: l.Number, first: len(r.sightings), count: mostPerLine, loads: strings.Contains(l.Trace.Message, inLoader),
		}
	}
	return loads
}

// inLoader is what a wrapper says of an exception of a worker that loads data.
const inLoader = "in DataLoader worker process"

// loadedBy begins the text in which the signatures are asked about such an exception: the file that cannot be read
// there is one of the data, and not a checkpoint, whatever library reads both.
const loadedBy = "raised while data was loaded: "

// byLoader asks about it.
func (r *logReader) byLoader(l reduce.Line) []signature.Match {
	if !r.loading || !r.options.uses(asksLoader) {
		return nil
	}
	return slices.DeleteFunc(r.catalog.Match(loadedBy+l.Trace.Type+": "+l.Trace.Message, r.kinds()...), func(m signature.Match) bool {
		return !strings.HasPrefix(m.Signature.Pattern, "^"+loadedBy)
	})
}

// guess is an exception of which only who raised it is known.
type guess struct {
	lane  string
	line  int
	first int // of the sightings that it gave
	count int
}

// mostBelow is how many lines of a message are read behind the first: libraries put what a device said there.
const mostBelow = 6

// below ends what was guessed of an exception where a line of its message, which goes on right below it, says more.
func (r *logReader) below(l reduce.Line, matches []signature.Match) {
	g := &r.guess
	if g.count == 0 || l.Lane != g.lane || l.Number-g.line > mostBelow {
		return
	}
	if l.Number == g.line {
		return
	}
	if body := l.Body(); l.Trace != nil || body == "" || body[0] == '[' || '0' <= body[0] && body[0] <= '9' { // a line of its own
		g.count = 0
		return
	}
	if !slices.ContainsFunc(matches, func(m signature.Match) bool {
		return explainsMore(m) && !m.Signature.LastResort && m.Signature.Role != signature.Confirmation
	}) {
		return
	}
	for i := g.first; i < min(len(r.sightings), g.first+g.count); i++ {
		r.sightings[i].Over = true
	}
	g.count = 0
}

// mostPerLine is more signatures than match one line.
const mostPerLine = 8
