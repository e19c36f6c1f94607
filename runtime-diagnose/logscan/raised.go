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

// byRaiser asks the signatures once more about an exception whose own words none of them knows: what
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

// wraps are the words in which torch hands an exception of a worker on to the process that waits for
// it; the original traceback follows
// (https://github.com/pytorch/pytorch/blob/main/torch/_utils.py, ExceptionWrapper). torch.compile prints
// what its backend raised on the line below
// (https://github.com/pytorch/pytorch/blob/main/torch/_dynamo/exc.py, BackendCompilerFailed).
var wraps = regexp.MustCompile(`^Caught \w+ in (?:DataLoader worker process|replica|pin memory thread)\b|^backend=.{1,80} raised:$`)

// originalWithin is how far below a wrapper the original exception ends, in lines.
const originalWithin = 200

// unwrap puts the original exception in the place of the one that wraps it, and notes the next one.
func (r *logReader) unwrap(l reduce.Line) {
	if l.Trace == nil || !r.options.uses(unwraps) {
		return
	}
	if line, ok := r.wrapper[l.Lane]; ok {
		delete(r.wrapper, l.Lane)
		if l.Number-line <= originalWithin {
			for i := range r.sightings {
				if r.sightings[i].Item.Source.Line == line {
					r.sightings[i].Over = true
				}
			}
		}
	}
	if wraps.MatchString(l.Trace.Message) && len(r.wrapper) < mostSightings {
		if r.wrapper == nil {
			r.wrapper = map[string]int{}
		}
		r.wrapper[strings.Clone(l.Lane)] = l.Number
	}
}
