package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
)

// rereadRoot gets the decisive line and those around it where the gang is so large that they were not
// kept whole.
func (d *diagnosis) rereadRoot(ctx context.Context) {
	root := d.root
	if root == nil || root.Item.Kind != evidence.Log {
		return
	}
	again, ok := d.excerptAgain(ctx, root.Item.Source)
	if !ok {
		return
	}
	if again.Words(root) {
		return
	}
	if root.Line == "" { // of one that is only counted, by a rule that looks at more than one line
		root.Line = strings.TrimSpace(again.Course.TextOf(root.Item.Source.Line))
		root.Item.Text = root.Line
	}
}

// excerptAgain reads the log that a source is in once more, all of it kept, where no more than a share
// of it was; ok is false if that was not so.
func (d *diagnosis) excerptAgain(ctx context.Context, s evidence.Source) (again logscan.Log, ok bool) {
	at := slices.IndexFunc(d.logs.Excerpts, func(e Excerpt) bool { return e.Of(s) })
	if at >= 0 && !d.logs.Excerpts[at].Short {
		return again, false
	}
	if again, ok = d.readAgain(ctx, s); !ok {
		return again, false
	}
	if at < 0 {
		again.Excerpt.Source.Node, again.Excerpt.Source.Role, again.Excerpt.Source.Rank = s.Node, s.Role, s.Rank
		d.logs.Excerpts = append(d.logs.Excerpts, again.Excerpt)
		return again, true
	}
	again.Excerpt.Source = d.logs.Excerpts[at].Source
	d.logs.Excerpts[at] = again.Excerpt
	return again, true
}

// readAgain reads the log that a source is in once more; ok is false if there is none any more.
func (d *diagnosis) readAgain(ctx context.Context, s evidence.Source) (again logscan.Log, ok bool) {
	from := slices.IndexFunc(d.Logs, func(l Log) bool { return Excerpt{Source: l.Source}.Of(s) })
	if d.catalog == nil || from < 0 {
		return again, false
	}
	one := d.Case
	one.Logs = d.Logs[from : from+1]
	again = logscan.ReadOne(ctx, one, d.catalog, d.options.scan())
	return again, again.Opened
}

// mostReadForWords bounds how many logs are read again for what follows from the cause.
const mostReadForWords = 4

// giveWords lets a log of which the words are kept speak where a summary would say what follows from
// the cause. Where all that say it are summaries, the first one's log is read again; what has no words then
// is left to the followers, who are counted, and it is said of how many logs.
func (d *diagnosis) giveWords(ctx context.Context) {
	left, wordless := mostReadForWords, 0
	for _, all := range []*[]evidence.Observation{&d.answer.Effects, &d.answer.Rivals} {
		for i := range *all {
			s := &(*all)[i]
			if s.Item.Kind != evidence.Log || s.Item.Text != "" {
				continue
			}
			if k := slices.IndexFunc(s.Also, func(item evidence.Item) bool { return item.Text != "" }); k >= 0 {
				s.Item, s.Also[k] = s.Also[k], s.Item
				s.Line = s.Item.Text
			} else if left > 0 {
				left--
				if again, ok := d.readAgain(ctx, s.Item.Source); ok {
					again.Words(s)
				}
			}
		}
		*all = slices.DeleteFunc(*all, func(s evidence.Observation) bool {
			lost := s.Item.Kind == evidence.Log && s.Item.Text == ""
			if lost {
				wordless++
			}
			return lost
		})
	}
	if wordless > 0 {
		d.logs.Missing = append(d.logs.Missing, fmt.Sprintf("the words of %s that say what followed were not kept", words.Count(wordless, "log", "logs")))
	}
}
