package diagnose

import (
	"context"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// endOf is how many bytes of the end of a log are shown, in whole lines, where they are all that is left to
// read: as many as OpenPAI's page of a job shows (openpai-job-debugging, "the last 4096 bytes").
const endOf = 4096

// lastBytes are the last lines that take no more than so many bytes together; the last one is there in any case.
func lastBytes(lines []reduce.Kept, most int) []reduce.Kept {
	for i := range slices.Backward(lines) {
		if most -= len(lines[i].Text) + 1; most < 0 {
			return lines[min(i+1, len(lines)-1):]
		}
	}
	return lines
}

// ending is the end of the log of the container that an exit code is of; no lines: it was not read, or
// holds none. What is kept of it may be short where the gang is large: then it is read again.
func (d *diagnosis) ending(ctx context.Context, s evidence.Source) Excerpt {
	for _, l := range d.Logs {
		if l.Source.Pod != s.Pod || l.Source.Attempt != s.Attempt || s.Container != "" && l.Source.Container != s.Container || s.Pod == "" {
			continue
		}
		d.excerptAgain(ctx, l.Source)
		at := slices.IndexFunc(d.logs.Excerpts, func(e Excerpt) bool { return e.Of(l.Source) })
		if at < 0 {
			return Excerpt{}
		}
		e := d.logs.Excerpts[at]
		if end := withoutGap(e.Lines); len(end) < len(e.Lines) { // what is kept of a log begins with its head
			e.Lines = end
			if more := tail(ctx, l); len(more) > len(end) {
				e.Lines = more
			}
		}
		e.Lines = slices.DeleteFunc(slices.Clone(e.Lines), func(k reduce.Kept) bool { return strings.TrimSpace(e.Shown(k.Text)) == "" })
		e.Lines = lastBytes(e.Lines, endOf)
		return e
	}
	return Excerpt{}
}

// withoutGap are the last lines that follow each other.
func withoutGap(lines []reduce.Kept) []reduce.Kept {
	for i := len(lines) - 1; i > 0; i-- {
		if lines[i].Number > lines[i-1].Number+1 {
			return lines[i:]
		}
	}
	return lines
}

// tail is the end of a log, of which more lines are kept than of one that is judged.
func tail(ctx context.Context, l Log) []reduce.Kept {
	in, err := l.Open()
	if err != nil {
		return nil
	}
	digest, err := reduce.Read(reduce.Cancelable(ctx, in), reduce.Options{
		Budget: 8 * endOf, Head: 1, Tail: endOf, Numbers: l.Numbers, Suspect: func(string) bool { return false }, // the end gets a quarter, and lines cost more than their text
	})
	if cerr := in.Close(); err != nil || cerr != nil {
		return nil
	}
	return withoutGap(digest.Lines)
}

// readEnding keeps the end of the log that a bare exit code is the last word of.
func (d *diagnosis) readEnding(ctx context.Context) {
	if root := d.root; root != nil && attribute.BareExit(root) {
		d.end = d.ending(ctx, root.Item.Source)
	}
}
