package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// aroundRoot is how many lines before and after the decisive one are shown.
const aroundRoot = 2

// widest is where a shown line is cut.
const widest = 200

// Text is the diagnosis for a tired person: one sentence, who has to act and how, then what
// shows it: the decisive line in its context, what followed, why. No colours; the caller may add
// them. Nothing in it is obeyed by a terminal: names may come from files of strangers.
func Text(r Report) string {
	return words.Visible(text(r))
}

func text(r Report) string {
	var b strings.Builder
	n := numbersOf(&r)
	b.WriteString(headline(r) + "\n" + missing(r))
	if head, _, _ := strings.Cut(r.Waiting, ": "); r.Waiting != "" && !strings.HasPrefix(r.Analysis, strings.TrimRight(head, ".")) {
		fmt.Fprintf(&b, "\nwaiting: %s\n", r.Waiting)
	}
	if len(r.Solution) > 0 {
		fmt.Fprintf(&b, "\nwhat to do%s\n", whoActs(r.Root))
		for i, step := range r.Solution {
			fmt.Fprintf(&b, "  %d. %s\n", i+1, step)
		}
	}
	for _, remark := range r.Remarks {
		fmt.Fprintf(&b, "\nnote: %s\n", n.short(remark))
	}
	if r.Root != nil {
		b.WriteString("\n" + aroundLine(r))
	} else if r.Verdict != Healthy {
		b.WriteString(ends(r))
	}
	b.WriteString(followersText(r.Followers, OthersHead(r)))
	if why := cmp.Or(r.Plain, r.Analysis); why != "" {
		if OfObject(r) { // it stands above, whole
			why = strings.Replace(why, strings.TrimRight(r.Root.Line, ".")+". ", "", 1)
		}
		if r.Root != nil {
			b.WriteString("\nwhy")
		}
		fmt.Fprintf(&b, "\n%s\n", n.short(why))
	}
	if told := r.Attempts.Told(); told != "" {
		b.WriteString("\nattempts that failed\n" + told)
	}
	b.WriteString(n.short(guessesText(r)))
	if r.Story != nil {
		b.WriteString(storyText(*r.Story, n.short))
	}
	if cited := n.resolved(); len(cited) > 0 {
		b.WriteString("\nevidence\n  " + strings.Join(cited, "\n  ") + "\n")
	}
	b.WriteString("\n" + footer(r) + "\n")
	return b.String()
}

// mostFollowers and namedFollowers bound what is said of the members that are not first.
const (
	mostFollowers  = 4
	namedFollowers = 2
)

// OthersHead stands above what became of the members that are not the root's.
func OthersHead(r Report) string {
	first := func(m timeline.Member) bool { return m.First }
	switch {
	case r.Order == nil && slices.ContainsFunc(r.Members, first): // of the others none ended, and none has a time
		return "the others"
	case r.Order != nil && !r.Order.Known:
		return "the others"
	}
	return "after it"
}

// followersText is what became of the other members: one line for all that ended alike.
func followersText(all []Followers, head string) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + head + "\n")
	for _, f := range all[:min(len(all), mostFollowers)] {
		fmt.Fprintf(&b, "  %4d × %s", len(f.Places), f.Says)
		switch {
		case f.Carried:
			fmt.Fprintf(&b, ", after %s", f.First.UTC().Format("15:04:05"))
		case !f.First.IsZero():
			fmt.Fprintf(&b, ", from %s on", f.First.UTC().Format("15:04:05"))
		}
		fmt.Fprintf(&b, " (%s", strings.Join(f.Places[:min(len(f.Places), namedFollowers)], ", "))
		if n := len(f.Places) - namedFollowers; n > 0 {
			fmt.Fprintf(&b, " and %d more", n)
		}
		b.WriteString(")\n")
	}
	if n := len(all) - mostFollowers; n > 0 {
		fmt.Fprintf(&b, "  and %s to end\n", words.Count(n, "more way", "more ways"))
	}
	return b.String()
}

// whoActs is who has to act, and whether a retry helps: it belongs to what to do.
func whoActs(root *Cause) string {
	if root == nil {
		return ""
	}
	return " (" + ownerWords(root.Owner) + "; " + retryWords(root) + ")"
}

// Subject is what a report is of: its job, or the files that it was made from.
func Subject(r Report) string {
	if r.Job.Name == "" {
		return "the files"
	}
	return words.VisibleLine(strings.TrimSpace(r.Job.String())) // of what was pasted the kind is not known
}

func headline(r Report) string {
	name := Subject(r)
	switch r.Verdict {
	case Healthy:
		switch rest, _, _ := strings.Cut(r.Waiting, ":"); {
		case rest == "stopped":
			return name + ": stopped, and nothing is wrong"
		case rest == "suspended" && (r.Coverage.PodsSeen > 0 || len(r.Coverage.Missing) > 0):
			return name + ": suspended" // pods may still run until they have ended
		case rest == "suspended": // whether it would run was not seen
			return name + ": suspended; nothing of it runs"
		}
		return name + ": healthy"
	case Unknown:
		return name + ": unknown; too little was seen to say"
	case Inconclusive:
		return name + ": not healthy, cause not shown\n" + r.Error
	default:
		return fmt.Sprintf("%s: not healthy (%s)\n%s", name, InWords(r), r.Error)
	}
}

// InWords is the category of a report with what it stands for, unless its error says that: a slug is for filters, and says
// little to somebody who meets it first.
func InWords(r Report) string {
	if c, ok := signature.CategoryOf(r.Category); ok && !strings.Contains(r.Error, c.Title) {
		return r.Category + ": " + c.Title
	}
	return r.Category
}

// FirstMissing is what was not read, below the verdict that it bounds: the first of several, all of which are named at the end;
// empty: nothing that may have held what decides.
func FirstMissing(r Report) string {
	sources := r.Coverage.Missing
	at := slices.IndexFunc(sources, bounds)
	switch {
	case at < 0:
		return ""
	case len(sources) == 1:
		return sources[at]
	}
	return fmt.Sprintf("%s, and %d more, named at the end", sources[at], len(sources)-1)
}

func missing(r Report) string {
	if first := FirstMissing(r); first != "" {
		return "missing: " + first + "\n"
	}
	return ""
}

// bounds says whether a source that was not read may have held what decides.
func bounds(source string) bool { return !strings.HasSuffix(source, evidence.NotALog) }

// After stands before a time that is only known to have been no earlier.
func After(carried bool) string {
	if carried {
		return "after "
	}
	return ""
}

// aroundLine is the decisive line with what stands around it, or the line alone.
func aroundLine(r Report) string {
	root := r.Root
	var b strings.Builder
	where := string(root.Cites[0])
	if root.Source.File != "" && root.Source.Line > 0 {
		where = fmt.Sprintf("%s:%d", root.Source.File, root.Source.Line)
	}
	if !root.At.IsZero() {
		where += root.At.UTC().Format(", " + After(root.Carried) + "15:04:05")
	}
	fmt.Fprintf(&b, "%s\n", where)
	if OfObject(r) {
		return b.String() + "  > " + whole(root.Line) + "\n" + endingText(r.Ending)
	}
	excerpt := excerptOf(r, root.Source)
	if excerpt == nil || root.Source.Line == 0 {
		return b.String() + "  > " + cutAround(root.Line, root.Said) + "\n" + endingText(r.Ending)
	}
	shown := false
	for _, l := range excerpt.Lines {
		switch {
		case l.Number == root.Source.Line:
			fmt.Fprintf(&b, "  > %s\n", cutAround(root.Line, root.Said))
			shown = true
		case l.Number >= root.Source.Line-aroundRoot && l.Number <= root.Source.Line+aroundRoot && strings.TrimSpace(l.Text) != "":
			fmt.Fprintf(&b, "    %s\n", cut(excerpt.Shown(l.Text)))
		}
	}
	if !shown {
		fmt.Fprintf(&b, "  > %s\n", cutAround(root.Line, root.Said))
	}
	return b.String()
}

// endingText is the end of a log that a bare exit code is the last word of.
func endingText(e evidence.Excerpt) string {
	if len(e.Lines) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the end of the log of %s\n", e.Source.Name())
	for _, l := range e.Lines {
		fmt.Fprintf(&b, "    %s\n", cut(e.Shown(l.Text)))
	}
	return b.String()
}

// mostEnds and endLines bound what is shown of logs in which nothing is known to be wrong.
const (
	mostEnds = 3
	endLines = 4
)

// ends are the last lines of the first few logs: where no cause is known, a person looks
// there next.
func ends(r Report) string {
	var b strings.Builder
	shown, more := 0, 0
	for _, e := range r.Excerpts {
		lines := slices.DeleteFunc(slices.Clone(e.Lines), func(l reduce.Kept) bool { return strings.TrimSpace(l.Text) == "" })
		if len(lines) == 0 {
			continue
		}
		if shown == mostEnds {
			more++
			continue
		}
		shown++
		fmt.Fprintf(&b, "\nthe end of %s\n", e.Source.Name())
		for _, l := range lines[max(0, len(lines)-endLines):] {
			fmt.Fprintf(&b, "    %s\n", cut(e.Shown(l.Text)))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nthe ends of %s are not shown\n", words.Count(more, "more log", "more logs"))
	}
	return b.String()
}

func excerptOf(r Report, s evidence.Source) *evidence.Excerpt {
	for i := range r.Excerpts {
		if e := &r.Excerpts[i]; e.Of(s) {
			return e
		}
	}
	return nil
}

// OfObject says whether the decisive line is what an event or a status says, and no line of a log.
func OfObject(r Report) bool {
	if r.Root == nil || len(r.Root.Cites) == 0 {
		return false
	}
	at := slices.IndexFunc(r.Evidence, func(i evidence.Item) bool { return i.ID == r.Root.Cites[0] })
	return at >= 0 && r.Evidence[at].Kind != evidence.Log
}

// longest bounds what is shown of what an object says: the message of an Event ends there
// (https://github.com/kubernetes/kubernetes/blob/v1.36.0/pkg/apis/core/validation/events.go, NoteLengthLimit), that of a
// condition may be much longer.
const longest = 1024

// whole is what an object says, on one line: the API server, the operators and the kubelet put the reason at the end.
func whole(text string) string {
	text = strings.ReplaceAll(text, "\n", " ")
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "…"
}

// cutAround is a line cut so that what decides can be read: structured logs and progress bars put much
// before it.
func cutAround(line string, said int) string {
	const before, decisive = 40, 80
	if len(line) <= widest || said+decisive <= widest || said > len(line) {
		return cut(line)
	}
	from := min(max(0, said-before), max(0, len(line)-widest))
	return "…" + cut(strings.ToValidUTF8(line[from:], ""))
}

func cut(line string) string {
	if len(line) <= widest {
		return line
	}
	return strings.ToValidUTF8(line[:widest], "") + "…"
}

// footer says how sure the answer is, how much was read, and what was not, unless that is one source and stands above.
func footer(r Report) string {
	text := r.Coverage.Sentence()
	if r.Root != nil {
		text = fmt.Sprintf("%s (%s) · %s", r.Root.Standing, r.Root.Signature, text)
	}
	if all := r.Coverage.Missing; len(all) > 1 || len(all) == 1 && !bounds(all[0]) {
		text = strings.Join(append([]string{text}, r.Coverage.Missing...), "\nmissing: ")
	}
	return text
}

// Sentence says how much was looked at: "4 of 4 pods seen, 4 read · 1.2 MiB of logs".
func (c Coverage) Sentence() string {
	var parts []string
	switch {
	case c.PodsSeen > c.PodsExpected && c.PodsExpected > 0: // those before, and those that took their place
		parts = append(parts, fmt.Sprintf("%d pods seen where %d run%s at a time, %d read", c.PodsSeen, c.PodsExpected, words.Verb(c.PodsExpected), c.PodsRead))
	case c.PodsExpected > 0:
		parts = append(parts, fmt.Sprintf("%d of %d pod%s seen, %d read", c.PodsSeen, c.PodsExpected, words.S(c.PodsExpected), c.PodsRead))
	case c.PodsSeen > 0:
		parts = append(parts, fmt.Sprintf("%d pod%s seen, %d read", c.PodsSeen, words.S(c.PodsSeen), c.PodsRead))
	}
	logs := size(c.BytesRead) + " of logs"
	if c.PodsSeen == 0 && c.PodsExpected == 0 && c.BytesRead > 0 {
		logs = size(c.BytesRead) + " read" // files: events and descriptions may be among them
	}
	if c.PodsSeen > 0 && c.PodsRead > c.PodsSeen {
		logs += ", those kept of pods that are gone included"
	}
	return strings.Join(append(parts, logs), " · ")
}

// size is a number of bytes as people read it; few are counted.
func size(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d byte%s", n, words.S(int(n)))
	}
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, i := float64(n)/1024, 0
	for ; v >= 999.5 && i < len(units)-1; i++ {
		v /= 1024
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}

func retryWords(c *Cause) string { return "trying again " + TryingAgain(c) }

// TryingAgain is what trying again does of a cause: it helps, may help, or unchanged is useless.
func TryingAgain(c *Cause) string {
	switch c.Retry {
	case signature.Helps:
		return "helps"
	case signature.Useless:
		return "unchanged is useless"
	default:
		return "may help"
	}
}

// storyText is what a model says: what the evidence supports, and apart from it what nothing supports.
func storyText(s Story, short func(string) string) string {
	var b strings.Builder
	left := ""
	if s.LeftOut != "" {
		left = " (" + s.LeftOut + ")"
	}
	if s.Text != "" {
		fmt.Fprintf(&b, "\nthe model %s says%s\n  %s\n", s.Model, left, strings.ReplaceAll(short(strings.TrimSpace(s.Text)), "\n", "\n  "))
		left = ""
	}
	if len(s.Unsupported) > 0 {
		fmt.Fprintf(&b, "\nthe model %s says, not supported by what was read%s\n  %s\n", s.Model, left, strings.Join(s.Unsupported, "\n  "))
	}
	return b.String()
}
