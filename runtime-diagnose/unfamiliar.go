package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/familiar"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// good is the last good run of the job, if it is another one and can tell what is new.
func (d *diagnosis) good() (lines *familiar.Lines, ok bool) {
	if d.Good == nil || d.Job != nil && d.Good.UID == d.Job.Ref.UID {
		return nil, false
	}
	return &d.Good.Lines, d.Good.Lines.Tell()
}

// compareRuns holds the decisive line against the last good run.
func (d *diagnosis) compareRuns() {
	root := d.root
	if root == nil || d.State.Phase == kinds.Succeeded || decidedItself(root) {
		return
	}
	lines, ok := d.good()
	if !ok || root.Item.Kind != evidence.Log {
		return
	}
	l := bodyOf(root.Line)
	switch {
	case lines.Has(l):
		d.compared = fmt.Sprintf("The last good run (%s) printed this line too, and ended well.", d.goodTime())
	case d.Good.Whole && lines.New(l):
		d.compared = fmt.Sprintf("The last good run (%s) did not print this line.", d.goodTime())
	}
}

func (d *diagnosis) goodTime() string { return d.Good.At.UTC().Format("2006-01-02 15:04 UTC") }

// decidedItself is an end that only says that the program gave up for a reason of its own. Signals say
// more than a line that happens to be new.
func decidedItself(s *evidence.Observation) bool {
	return attribute.SaysLittle(s) && s.Signature.Category == "python-exception-user-code"
}

// The end of a log in which an unfamiliar line is looked for, in lines; how far apart lines of one
// message stand; and with how many other members a member is compared, at least and at most.
const (
	unfamiliarWithin = 60
	oneMessage       = 3
	fewestOthers     = 3
	mostOthers       = 16
)

// unfamiliar is the line that the log of a member with a bare exit code ends with and that neither the last
// good run nor any other member has printed: a program that gives up by itself says something that it does
// not say otherwise. It stays a hypothesis.
func (d *diagnosis) unfamiliar(ctx context.Context, root *evidence.Observation) (s evidence.Observation, found bool) {
	place := root.Item.Source.Place()
	from := slices.IndexFunc(d.logs.Order, func(i int32) bool {
		s := d.Logs[i].Source
		return s.Place() == place && s.Attempt == root.Item.Source.Attempt && (root.Item.Source.Container == "" || s.Container == root.Item.Source.Container)
	})
	if from < 0 {
		return s, false
	}
	source := d.Logs[d.logs.Order[from]].Source
	d.excerptAgain(ctx, source)
	at := slices.IndexFunc(d.logs.Excerpts, func(e Excerpt) bool { return e.Of(source) })
	if at < 0 {
		return s, false
	}
	e := d.logs.Excerpts[at]
	goodLines, haveGood := d.good()
	others, n := d.othersPrinted(ctx, place)
	if !haveGood && n < fewestOthers {
		return s, false
	}
	isNew := func(text string) bool {
		return (!haveGood || goodLines.New(text)) && (n < fewestOthers || others.New(text))
	}
	i, ok := lastMessage(e.Lines, isNew)
	if !ok {
		return s, false
	}
	var than []string
	switch {
	case haveGood && d.Good.Whole:
		than = append(than, "the last good run ("+d.goodTime()+")")
	case haveGood:
		than = append(than, "the last good run ("+d.goodTime()+"), as far as it was read")
	}
	if n >= fewestOthers {
		than = append(than, fmt.Sprintf("%d other pods", n))
	}
	rule := *root.Signature
	rule.ID, rule.Title = attribute.UnfamiliarLine, "its log ends with a line that it does not usually print"
	rule.Proves = "No signature knows the line, and none of these printed one like it: {{.than}}."
	rule.DoesNotProve = "That it is why it ended: it only is what was new."
	rule.Remedy = "Read the log around this line.\n" + root.Signature.Remedy
	item := e.Item(i)
	item.At, item.Clock = root.Item.At, root.Item.Clock
	return evidence.Observation{
		Signature: &rule, Item: item, Line: strings.TrimSpace(reduce.Written(e.Lines[i].Text)), Facts: map[string]string{"than": strings.Join(than, ", ")},
	}, true
}

// lastMessage is the line that speaks for the last message of new lines near the end of a log: the
// first that says that something is wrong, else its first.
func lastMessage(lines []reduce.Kept, isNew func(string) bool) (at int, ok bool) {
	var message []int
	for i := len(lines) - 1; i >= 0 && lines[len(lines)-1].Number-lines[i].Number < unfamiliarWithin; i-- {
		body := bodyOf(lines[i].Text)
		if step, counts := progress.Read(body); counts && step.Number >= 0 || !isNew(body) {
			continue
		}
		if n := len(message); n > 0 && lines[message[n-1]].Number-lines[i].Number > oneMessage {
			break
		}
		message = append(message, i)
	}
	if len(message) == 0 {
		return 0, false
	}
	slices.Reverse(message)
	for _, i := range message {
		if recovery.Wrong(lines[i].Text) {
			return i, true
		}
	}
	return message[0], true
}

// othersPrinted is what other members printed, and how many of them were read for it.
func (d *diagnosis) othersPrinted(ctx context.Context, place string) (familiar.Lines, int) {
	var lines familiar.Lines
	seen := map[string]bool{}
	for _, i := range d.logs.Order {
		if ctx.Err() != nil {
			break // and those read so far are too few, or enough
		}
		log := &d.Logs[i]
		other := log.Source.Place()
		if other == place || log.Pasted || log.Source.Attempt > 0 || log.Source.Pod == "" || !seen[other] && len(seen) >= mostOthers {
			continue
		}
		in, err := log.Open()
		if err != nil {
			continue
		}
		_, err = reduce.Read(reduce.Cancelable(ctx, in), reduce.Options{
			Budget: 1, Suspect: func(string) bool { return false }, Watch: func(l *reduce.Line) { lines.Add(reduce.Mask(l.Body())) },
		})
		if cerr := in.Close(); err == nil && cerr == nil {
			seen[other] = true
		}
	}
	return lines, len(seen)
}

// printed is what there is to remember; nil: nothing.
func (d *diagnosis) printed(r *Result) *Printed {
	if !logscan.WantsLines(&d.Case) || r.Verdict != Healthy {
		return nil
	}
	p := &Printed{Lines: d.logs.Lines, Pods: d.logs.Pods}
	p.Whole = r.Coverage.PodsRead == r.Coverage.PodsSeen && len(r.Coverage.Missing) == 0 && !d.logs.Gap
	if p.Lines.Len() == 0 {
		return nil
	}
	return p
}

// bodyOf is a line without what stands before its message: times and ranks.
func bodyOf(line string) string {
	body := ""
	// Text does not fail to be read.
	_, _ = reduce.Read(strings.NewReader(line), reduce.Options{
		Budget: 1, Suspect: func(string) bool { return false }, Watch: func(l *reduce.Line) { body = l.Body() },
	})
	return body
}
