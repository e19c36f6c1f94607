package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// mostGuesses is how many are told; the others are counted.
const mostGuesses = 3

// hypotheses are the best candidates, the best first, where the answer is not sure, and how many more there are.
func (d *draft) hypotheses(r *Report) (out []Guess, more int) {
	switch {
	case r.Verdict == Unknown && r.Waiting == "":
		return d.suspectLines()
	case r.Verdict != Inconclusive && (r.Root == nil || r.Root.Standing != Hypothesis):
		return nil, 0
	}
	told := map[string]bool{}
	for i := range d.Answer.Candidates {
		c := &d.Answer.Candidates[i]
		key := c.Signature.Title + "\x00" + c.Item.Source.Place()
		if c.Veto != "" || c.Line == "" || told[key] {
			continue
		}
		told[key] = true
		if len(out) == mostGuesses {
			more++
			continue
		}
		g := Guess{Cause: d.cause(c.Observation), Points: c.Score}
		g.Category, g.Standing = c.Category, Hypothesis
		g.Decides, g.Command = d.decidesOn(c)
		out = append(out, g)
	}
	if len(out) == 0 {
		out, more = d.suspectLines()
	}
	return onlyNew(out), more
}

// decidesOn says what would tell whether a candidate is the cause, and the command that shows it.
func (d *draft) decidesOn(c *attribute.Candidate) (what, command string) {
	s := c.Item.Source
	pod := s.Pod != "" && d.hasPod(s.Pod)
	switch {
	case c.Signature == timeline.Vanished:
		if s.Pod != "" {
			return "how its container ended: 137 is a kill, 139 a crash, 143 an order to stop", d.kubectl("get pod", s.Pod) + " -o jsonpath='{.status.containerStatuses[*].state}'"
		}
		return "whether the kernel killed it for memory, on its machine", "dmesg -T | grep -iE 'killed process|out of memory'"
	case c.Signature == timeline.Silent, c.Signature == timeline.Awaited, c.Signature.Category == "hang-no-progress":
		if pod {
			return "where it stands, while it lives", d.kubectl("exec", s.Pod) + " -- py-spy dump --pid 1"
		}
		return "where it stands, while it lives, on its machine", "py-spy dump --pid PID"
	case attribute.BareExit(&c.Observation) && c.Category == timeline.Vanished.Category && s.Node != "":
		return "whether the kernel of its node killed it for memory", "kubectl debug " + words.ShellWord("node/"+s.Node) + " -it --image=busybox -- chroot /host dmesg -T | grep -iE 'killed process|out of memory'"
	case attribute.BareExit(&c.Observation) && s.Pod != "" && !pod && d.Job != nil:
		return "what its log said above its end, where the cluster keeps the logs of pods that are gone", "" // kubectl has none of it
	case attribute.BareExit(&c.Observation) && s.Pod != "":
		return "what its log says above its end", d.logCommand(s) + " --tail=200"
	case c.Signature.Role == signature.Cascade:
		if first := d.endedFirst(); len(first) > 0 && first[0].Name != s.Pod {
			return "what the pod that ended first says", d.kubectl("logs", first[0].Name) + " --tail=200"
		}
		return "what the others say from that time on: one of them went first", d.around(s)
	}
	for i := range d.Answer.Candidates {
		o := &d.Answer.Candidates[i]
		if o == c || o.Veto != "" || o.Item.Source.Place() == s.Place() || o.Item.Source.Place() == "" || d.when(c.Item, o.Item) != 0 {
			continue
		}
		if pod && o.Item.Source.Pod != "" {
			return "which was first: times do not show whether " + o.Item.Source.Pod + " failed before it", d.kubectl("logs", s.Pod) + " --timestamps --tail=50; " + d.kubectl("logs", o.Item.Source.Pod) + " --timestamps --tail=50"
		}
		return "which was first: times do not show whether " + o.Item.Source.Place() + " failed before it", d.around(s)
	}
	return "what stands around it", d.around(s)
}

// linesAround is how many lines before and after a line are worth reading.
const linesAround = 20

// around is the command that shows a line with those around it; empty: none does.
func (d *draft) around(s evidence.Source) string {
	switch {
	case s.Pod != "" && d.hasPod(s.Pod):
		return d.logCommand(s) + " --tail=200"
	case s.File != "" && s.Line > 0 && s.Pod == "":
		return fmt.Sprintf("sed -n '%d,%dp' %s", max(1, s.Line-linesAround), s.Line+linesAround, words.ShellWord(s.File))
	}
	return ""
}

// suspectLines are the last lines of logs that say that something is wrong, in words that no signature knows.
func (d *draft) suspectLines() (out []Guess, more int) {
	for _, e := range d.Read.Excerpts {
		at := d.Read.Suspect(e)
		if at < 0 {
			continue
		}
		if len(out) == mostGuesses {
			more++
			continue
		}
		item := e.Item(at)
		out = append(out, Guess{
			Cause: Cause{
				Title: "its program says that something is wrong, in words that no signature knows", Standing: Hypothesis, Owner: signature.Nobody, Retry: signature.RetryUnknown,
				Source: item.Source, Line: strings.TrimSpace(e.Shown(e.Lines[at].Text)), Cites: []evidence.ID{item.ID},
			},
			Decides: "what stands around it", Command: d.around(item.Source),
		})
	}
	return out, more
}

// guessesText is the hypotheses for people: the first one is the answer already, where there is one.
func guessesText(r Report) string {
	from := 0
	if r.Root != nil {
		from = 1
	}
	if len(r.Hypotheses) == 0 {
		return ""
	}
	var b strings.Builder
	if from == 1 && r.Hypotheses[0].Command != "" && !strings.Contains(strings.Join(r.Solution, "\n"), r.Hypotheses[0].Command) {
		fmt.Fprintf(&b, "\nwhat would decide: %s\n    %s\n", r.Hypotheses[0].Decides, r.Hypotheses[0].Command)
	}
	if len(r.Hypotheses) > from {
		b.WriteString("\nit may also be\n")
		if from == 0 {
			b.Reset()
			b.WriteString("\nit may be\n")
		}
	}
	for i, g := range r.Hypotheses[from:] {
		where := g.Source.Pod
		if where == "" && g.Source.File != "" {
			where = path.Base(g.Source.File)
		}
		if where != "" {
			where += ": "
		}
		fmt.Fprintf(&b, "  %d. %s%s [%s]\n     %s\n", i+1+from, where, g.Title, g.Cites[0], cutAround(g.Line, g.Said))
		if g.Command != "" {
			fmt.Fprintf(&b, "     decides: %s: %s\n", g.Decides, g.Command)
		}
	}
	if r.MoreGuesses > 0 {
		fmt.Fprintf(&b, "  and %d more\n", r.MoreGuesses)
	}
	return b.String()
}

// onlyNew leaves out commands that stand with a better guess already.
func onlyNew(all []Guess) []Guess {
	var seen []string
	for i := range all {
		if all[i].Command != "" && slices.Contains(seen, all[i].Command) {
			all[i].Command = ""
		}
		seen = append(seen, all[i].Command)
	}
	return all
}
