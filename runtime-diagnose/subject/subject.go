// Package subject says what a message is about where no signature knows its words: which of a few dozen subjects it
// names first in their order. Messages about the same thing share its nouns, however they are worded; so the answer is a
// guess, and is given as one. Start reading at Of.
package subject

import (
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// prefix begins the identifiers of the rules.
const prefix = "subject-"

// Exception is the signature of exceptions that nothing is known of but their type. What explains one of those explains
// one whose subject is guessed.
const Exception = "python-exception"

// Guessed says that a rule is one of this package.
func Guessed(s *signature.Signature) bool { return strings.HasPrefix(s.ID, prefix) }

// KnownAs is the identifier under which other signatures know of a rule.
func KnownAs(s *signature.Signature) string {
	if Guessed(s) {
		return Exception
	}
	return s.ID
}

// Fails says that the subject is a failure in itself, so that a line that names it complains.
func Fails(s *signature.Signature) bool {
	switch strings.TrimPrefix(s.ID, prefix) {
	case "gpu-oom", "host-oom-killed", "disk-full", "port-in-use", "device-side-assert", "illegal-memory-access", "cuda-arch-no-kernel-image", "segfault":
		return Guessed(s)
	}
	return false
}

// ByCategory is the rule that guesses a category; nil: none does.
func ByCategory(category string) *signature.Signature {
	for i := range subjects {
		if subjects[i].rule.Category == category {
			return subjects[i].rule
		}
	}
	return nil
}

// Rules lists the subjects, for reference pages.
func Rules() []*signature.Signature {
	var out []*signature.Signature
	for _, s := range subjects {
		rule := *s.rule
		rule.Proves = strings.Replace(rule.Proves, "{{.subject|this}}", "…", 1)
		out = append(out, &rule)
	}
	return out
}

// defects are exceptions that Python raises about code, whatever the words in it are about
// (https://docs.python.org/3/library/exceptions.html#concrete-exceptions, https://docs.python.org/3/library/io.html#io.UnsupportedOperation).
var defects = regexp.MustCompile(`^(?:io\.UnsupportedOperation|AttributeError|TypeError|NameError|UnboundLocalError|ZeroDivisionError|RecursionError|StopIteration)\b`)

// OfCode says that a message, which begins with the type of an exception, is one that Python raises about code.
func OfCode(message string) bool { return defects.MatchString(message) }

// Of is the subject of a message and the words that name it; nil: it names none. An exception comes with its type:
// "ValueError: …".
func Of(message string) (rule *signature.Signature, words string) {
	if OfCode(message) {
		return nil, ""
	}
	if m := raised.FindStringSubmatch(message); m != nil {
		for _, s := range subjects {
			if s.modules != "" && slices.Contains(strings.Fields(s.modules), m[1]) {
				return s.rule, m[1]
			}
		}
	}
	message = places.ReplaceAllString(keys.ReplaceAllString(message, ""), "")
	text := signature.NewText(message)
	for i := range subjects {
		if words = subjects[i].named(message, text); words != "" {
			return subjects[i].rule, strings.ToLower(words)
		}
	}
	return nil, ""
}

// waited are words for time that ran out, which say nothing of what was waited for.
var waited = regexp.MustCompile(`^(?:timed out|time-?out(?:error|exception|expired)?|took too long|deadline exceeded)$`)

// Waited says that the words which name a subject are no more than that: a library that waits does so for another host,
// a program for anything.
func Waited(words string) bool { return waited.MatchString(words) }

// named are the first words of a message that name the subject; empty: none do. A failure that is counted, and did not
// happen once, is none: "oom=0".
func (s *subject) named(message string, text *signature.Text) string {
	at := s.tried.In(text)
	for at != nil && Fails(s.rule) && countsNone.MatchString(message[at[1]:]) {
		message = message[at[1]:]
		at = s.words.FindStringIndex(message)
	}
	if at == nil {
		return ""
	}
	return message[at[0]:at[1]]
}

// countsNone is the rest of a record behind the name of what it counts, of which there was none.
var countsNone = regexp.MustCompile(`^\w*['"]?\s*[=:]\s*0(?:\.0*)?%?(?:[^\w.]|\.?$)`)

// raised is the type of an exception with the package that it is of.
var raised = regexp.MustCompile(`^(\w+)(?:\.\w+)*\.\w+: `)

// places are those in source code: they name what speaks, not of what it speaks.
var places = lazy.MustCompile(`File "[^"]*", line \d+, in|\S+\.(?:py|rs|cc|cpp|cu|cuh|h|c|go|java|scala|jl|ts)\b[:(,]\s?(?:line )?\d+`)

// keys are those of a structure that is printed: they name what it holds, not what is wrong with it.
var keys = lazy.MustCompile(`['"]\w+['"] ?: `)

// subject is one, and what names it.
type subject struct {
	rule    *signature.Signature
	words   *lazy.Regexp
	tried   signature.Expression // the same, for texts that all of them are asked about
	modules string               // packages that do nothing else: what they raise is about it, whatever it says
}

// about makes a subject of a category. Words are looked for whatever their case.
func about(category, title, words, remedy string) subject {
	c, _ := signature.CategoryOf(category)
	return subject{
		rule: &signature.Signature{
			ID: prefix + category, Title: title, Since: "0.2", Category: category, Role: signature.Root,
			Depth: signature.General, Domain: c.Owner, Retry: signature.RetryUnknown,
			Proves:       `The last word of the program is about "{{.subject|this}}", in words that no signature knows.`,
			DoesNotProve: "That this is the cause: the category is guessed from what the message names.",
			Remedy:       remedy,
		},
		words: lazy.MustCompile(`(?i)` + words),
		tried: signature.NewExpression(`(?i)` + words),
	}
}

// or adds packages whose exceptions are about the subject.
func (s subject) or(modules string) subject {
	s.modules = modules
	return s
}
