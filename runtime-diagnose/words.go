package diagnose

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Where no signature knows an error, what it speaks of is known all the same: whoever wrote its message named a
// file, a shape, a device, an option. Signatures of that kind are asked about the message behind these words, and
// about nothing else; what they say is a hypothesis.
const (
	inItsWords      = "said in words of its own: "
	fromInterpreter = "raised by the interpreter: "
)

// unknownErrors are the signatures of errors that no other one knows.
var unknownErrors = []string{"python-exception", "said-exception", "said-error"}

// interpreters are exceptions that Python itself raises, in words of its own that name what the program did, not what
// it wanted (https://docs.python.org/3/library/exceptions.html).
var interpreters = []string{
	"AttributeError", "TypeError", "NameError", "UnboundLocalError", "IndexError", "KeyError", "ZeroDivisionError",
	"RecursionError", "StopIteration", "UnicodeDecodeError", "UnpicklingError", "PicklingError",
}

// raisedAs is an exception in a line, by its type and its message.
var raisedAs = regexp.MustCompile(`\b(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning))(?: \(see above for traceback\))?: (.*)`)

// readWords gives the cause that no signature knows the category of what its words speak of. It stays the cause.
func (d *diagnosis) readWords() {
	root := d.root
	if root == nil || root.Item.Kind != evidence.Log || d.catalog == nil || !d.options.uses(ownWords) || !slices.Contains(unknownErrors, root.Signature.ID) {
		return
	}
	text := inItsWords + root.Line
	if m := raisedAs.FindStringSubmatch(root.Line); m != nil {
		text = cmp.Or(prefixOf(m[1]), inItsWords) + m[1] + ": " + m[2]
	}
	text = strings.ReplaceAll(text, "invalid argument", "") // a code of the operating system and of CUDA, of no option
	if s := wordsOf(d.catalog.Match(text, evidence.Log)); s != nil {
		root.Signature = s
		d.answer.Cause.Category = s.Category
		d.answer.Confidence.Standing = attribute.Hypothesis
	}
}

func prefixOf(exception string) string {
	if slices.Contains(interpreters, exception) {
		return fromInterpreter
	}
	return ""
}

// wordsOf is the signature that a message speaks for: of several the one that the others give way to.
func wordsOf(matches []signature.Match) *signature.Signature {
	matches = slices.DeleteFunc(matches, func(m signature.Match) bool { return !strings.HasPrefix(m.Signature.Pattern, "^"+inItsWords) })
	for _, m := range matches {
		if !slices.ContainsFunc(matches, func(other signature.Match) bool { return slices.Contains(other.Signature.Hides, m.Signature.ID) }) {
			return m.Signature
		}
	}
	return nil
}
