package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// say writes the three texts people read.
func (d *draft) say(r *Report) {
	switch r.Verdict {
	case Healthy:
		r.Error, r.Analysis = "", d.whyHealthy(r)
	case Unknown:
		r.Error, r.Analysis = "", d.whyUnknown(r)
	default:
		d.sayCause(r)
	}
}

func (d *draft) sayCause(r *Report) {
	if r.Root != nil {
		d.sayRoot(r)
		return
	}
	if !d.Failed && len(d.Answer.Effects) == 0 {
		if t := d.Read.BadEnd; t != nil {
			d.sayBadEnd(r, t)
			return
		}
		if lacks := d.lacking(); lacks != "" {
			d.sayLacking(r, lacks)
			return
		}
	}
	d.sayNoCause(r)
}

// sayNoCause is about a failure of which nothing that was read names the cause.
func (d *draft) sayNoCause(r *Report) {
	failed := d.subject() + " failed"
	if d.State.Phase == kinds.Restarting {
		failed += " and is started again"
	}
	r.Error = failed + ", and nothing that was read says why"
	r.Analysis = "What was seen names no cause."
	switch {
	case d.State.Phase == kinds.Succeeded && len(d.Answer.Effects) > 0:
		r.Error = d.subject() + " succeeded by its operator's word, but " + lowerFirst(d.Answer.Effects[0].Signature.Title)
	case d.State.Phase == kinds.Succeeded:
		r.Error = d.subject() + " succeeded by its operator's word, and its log says otherwise"
	case d.State.Message != "":
		r.Error = failed + ": " + words.OneLine(d.State.Message, 200)
		r.Analysis = "That is the operator's word; nothing else that was read names a cause."
	}
	r.Analysis += d.howTheyEnded() + d.whatDecides(r)
	r.Solution = []string{d.logToRead()}
}

// sayRoot is about a cause that is known.
func (d *draft) sayRoot(r *Report) {
	root := d.root
	r.Error = d.sentence(root)
	var b strings.Builder
	also := func(sentence string) {
		if sentence != "" {
			b.WriteString(" " + sentence)
		}
	}
	b.WriteString(fill(root.Signature.Proves, root.Facts))
	fmt.Fprintf(&b, " [%s]", root.Item.ID)
	if item := d.lastGaveWay(); item != nil {
		fmt.Fprintf(&b, " [%s]", item.ID)
	}
	if n := len(d.End.Lines); n > 0 {
		last := d.End.Lines[n-1]
		fmt.Fprintf(&b, " Its log ends with: %q [%s]", cut(strings.TrimSpace(d.End.Shown(last.Text))), d.End.Item(n-1).ID)
		r.Ending = d.End
	}
	also(d.alsoSaid(*root))
	if root.Signature != timeline.Awaited && root.Signature != timeline.Desync {
		also(d.whatBehind())
	}
	also(d.attempts.sentence())
	also(d.Compared)
	also(d.followed(r))
	if r.Order != nil {
		b.WriteString(" " + r.Order.Why)
	}
	if len(d.Answer.Rivals) > 0 {
		other := d.Answer.Rivals[0]
		fmt.Fprintf(&b, " As likely: %s [%s]; nothing sets the two apart.", other.Signature.Title, other.Item.ID)
	}
	if root.Signature.DoesNotProve != "" && !d.shown(root) {
		b.WriteString(" Not shown: " + lowerFirst(root.Signature.DoesNotProve))
	}
	switch heard := d.notHeard(root); {
	case heard != "":
		b.WriteString(" Open: " + heard)
	case r.Verdict == Inconclusive || r.Order != nil && r.Order.Decide != "":
		b.WriteString(d.whatDecides(r))
	}
	r.Solution = d.stepsFor(root)
	if node := d.onlyNode(root); node != "" {
		fmt.Fprintf(&b, " Pods of the same job on other nodes do not say it: the difference is node %s.", node)
		r.Solution = append([]string{"Tell the administrators node " + node + ", and start the job on other nodes."}, r.Solution...)
	}
	if d.Job != nil && root.Signature.Category == "container-config" {
		operator := kinds.Of(d.Job.Ref)
		if program := operator.SSHD.Program; program != "" && operator.Parts[root.Item.Source.Role] == kinds.Worker { // what runs in place of the worker's command
			r.Solution = append([]string{fmt.Sprintf("Write in %s where sshd is in the worker's image, and use one that has openssh-server.", program)}, r.Solution...)
		}
	}
	if control.NoRejoin(&d.Bundle) && root.Item.Source.Attempt > 0 {
		b.WriteString(" The container was started again, but a restarted worker of a ColossalAIJob does not rejoin the training.")
		r.Solution = append(r.Solution, "Create the job again: it does not recover by itself.")
	}
	r.Plain = b.String()
	r.Analysis = b.String() + followersSentence(r.Followers)
	if r.Waiting != "" && root.Item.Kind != evidence.Log {
		waits := strings.TrimRight(d.unsaid(r.Waiting, r.Error), ".") + ". "
		r.Analysis, r.Plain = waits+r.Analysis, waits+r.Plain
	}
}

// shown says that what a signature leaves open is known: the line says it, or the room of the cluster answers what a
// scheduler's message about resources does not.
func (d *draft) shown(root *evidence.Observation) bool {
	if d.advice != nil && d.advice.shown {
		return true
	}
	u := d.schedulerOf(root)
	if u == nil || root.Facts["resource"] == "" {
		return false
	}
	answer, ok := d.fit()
	return ok && answer.Lacks(root.Facts["resource"]) != ""
}

// sentence is the one line that names who, where and what, with the numbers.
func (d *draft) sentence(s *evidence.Observation) string {
	who := s.Item.Source.Who()
	switch n := d.places(s); {
	case n > 1 && who != "":
		who += fmt.Sprintf(" and %d more", n-1)
	case n > 1: // the job's own word stands for its pods
		who = fmt.Sprintf("%d pod%s", n-1, words.S(n-1))
	}
	text := d.headline(s)
	if who = cmp.Or(who, d.ofNode(s, text)); who == "" {
		return text
	}
	return who + ": " + text
}

// headline says what happened, with the numbers.
func (d *draft) headline(s *evidence.Observation) string {
	text := s.Signature.Title
	own := s == d.root && d.advice != nil && d.advice.says != ""
	if own {
		text = d.advice.says
	}
	u := d.schedulerOf(s)
	switch {
	case u != nil:
		text += ": " + u.Sentence()
		if lacks := d.lacks(u); lacks != "" {
			text += "; " + lacks
		}
	case own:
	case s.Facts["nodes"] != "" && nodesText(s.Facts) != "":
		text += ": " + nodesText(s.Facts)
	default:
		if numbers := factList(s.Facts); numbers != "" {
			text += " (" + numbers + ")"
		}
	}
	return text
}

// lacking begins the facts of a scheduler's message that count the nodes which lack something.
const lacking = "insufficient "

// nodesText is what the scheduler counts, read from a text: "of 3 nodes 2 lack cpu, 2 lack nvidia.com/gpu".
func nodesText(facts map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if what, ok := strings.CutPrefix(name, lacking); ok {
			n, _ := strconv.Atoi(facts[name])
			verb := "lack"
			if n == 1 {
				verb = "lacks"
			}
			parts = append(parts, fmt.Sprintf("%d %s %s", n, verb, what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "of " + facts["nodes"] + " nodes " + strings.Join(parts, ", ")
}

func (d *draft) schedulerOf(s *evidence.Observation) *control.Unschedulable {
	for i := range d.Seen.Scheduling {
		if u := &d.Seen.Scheduling[i]; u.Item.ID == s.Item.ID {
			return u
		}
	}
	return nil
}

// places counts the different pods or ranks that said the same.
func (d *draft) places(s *evidence.Observation) int {
	type one struct {
		pod  string
		rank int
	}
	said, members := map[one]bool{}, map[string]bool{}
	for _, item := range append([]evidence.Item{s.Item}, s.Also...) {
		if item.Source.Place() == "" && s.Item.Source.Place() != "" {
			continue // the operator's word on a pod is not one more place
		}
		said[one{item.Source.Pod, max(-1, item.Source.Rank)}] = true
		members[item.Source.Place()] = true
	}
	n := len(said)
	for i := range d.Groups {
		if c := &d.Groups[i]; c.says(s, members) {
			n += c.Count
		}
	}
	return n
}

func (d *draft) alsoSaid(s evidence.Observation) string {
	places := d.places(&s)
	if places < 2 {
		return ""
	}
	node := s.Item.Source.Node
	sameNode := node != ""
	for _, item := range s.Also {
		sameNode = sameNode && item.Source.Node == node
	}
	for i := range d.Groups {
		for source := range d.Groups[i].Sources {
			sameNode = sameNode && (!d.Groups[i].told(s.Signature) || source.Node == node)
		}
	}
	text := fmt.Sprintf("%d others say the same.", places-1)
	if places == 2 {
		text = "One other says the same."
	}
	if sameNode {
		text += fmt.Sprintf(" All of them ran on node %s.", node)
	}
	return text
}

// followed sums up the effects: what they are and where the first of each is. What other
// members say is folded in Followers.
func (d *draft) followed(r *Report) string {
	var parts []string
	place := d.root.Item.Source.Place()
	effects := slices.DeleteFunc(slices.Clone(d.Answer.Effects), func(s evidence.Observation) bool {
		return s.Signature.Category == d.root.Signature.Category || // the same cause in other words
			s.Explained || len(r.Followers) > 0 && s.Item.Source.Place() != place
	})
	for _, s := range effects {
		if len(parts) == 3 {
			parts = append(parts, fmt.Sprintf("%d more", len(effects)-3))
			break
		}
		text := s.Signature.Title
		if n := d.places(&s); n > 1 {
			text += fmt.Sprintf(" (%d places)", n)
		}
		parts = append(parts, fmt.Sprintf("%s [%s]", text, s.Item.ID))
	}
	if len(parts) == 0 {
		return ""
	}
	return "It explains what else was seen: " + strings.Join(parts, "; ") + "."
}

func (d *draft) subject() string {
	if d.Job != nil {
		return words.VisibleLine(d.Job.Ref.String())
	}
	return "the job"
}

// whatDecides says what to look at where the evidence does not decide.
func (d *draft) whatDecides(r *Report) string {
	switch decides := d.decides(); {
	case r.Order != nil && r.Order.Decide != "":
		return " Open: " + r.Order.Decide + "."
	case len(d.Logs) > 0 && decides != "":
		return " Open: " + decides + "."
	case len(d.Logs) == 0:
		return " No log was read; the log of the container that ended first would decide."
	case d.Read.Broken != "":
		return " The end of " + d.Read.Broken + " was not read; what it says there would decide."
	case len(d.Missing) > 0:
		return " Missing: " + strings.Join(d.Missing, "; ") + "."
	default:
		return " The logs that were read hold no known failure."
	}
}

func (d *draft) whyHealthy(r *Report) string {
	var b strings.Builder
	switch {
	case d.State.Phase == kinds.Succeeded:
		fmt.Fprintf(&b, "The operator says %s succeeded", d.subject())
	case d.suspended(), d.State.Stopped():
		return r.Waiting
	case len(d.Seen.Pods) > 0:
		of := cmp.Or(d.present(), len(d.Seen.Pods)) // pods of earlier attempts count where no others are left
		fmt.Fprintf(&b, "%d of %d pod%s run%s or %s ended well", min(d.countWell(), of), of, words.S(of), words.Verb(of), words.Has(of))
		_, later := d.due()
		b.WriteString(later)
	case d.Read.Ended > 0:
		fmt.Fprintf(&b, "The log says that the run ended well")
	case d.Read.Advance > 0:
		fmt.Fprintf(&b, "The log shows training that advances")
	case d.Read.Done > 0:
		fmt.Fprintf(&b, "The log ends with what was done or found")
	default:
		fmt.Fprintf(&b, "What failed is over: later events show that it went on")
	}
	switch {
	case len(d.Logs) == 0, d.Read.BytesRead == 0 && len(d.Read.Missing) > 0:
		b.WriteString("; no log was read")
	case d.Read.BytesRead == 0:
		b.WriteString("; there is nothing in the logs")
	default:
		fmt.Fprintf(&b, "; %s no failure", logsHold(len(d.Logs)))
	}
	if n := len(d.Answer.Aside); n > 0 {
		fmt.Fprintf(&b, " (%d passing or harmless message%s)", n, words.S(n))
	}
	return b.String() + "."
}

func (d *draft) whyUnknown(r *Report) string {
	switch {
	case r.Waiting != "" && (d.State.Phase != kinds.PhaseUnknown || d.State.Message == ""):
		return r.Waiting
	case d.State.Phase == kinds.Succeeded && d.unverifiedSuccess():
		return "The operator says it succeeded, but a launcher ends with 0 even when training failed, and its log could not be read: not verified."
	case d.State.Phase == kinds.PhaseUnknown && d.State.Message != "":
		return strings.ToUpper(d.State.Message[:1]) + d.State.Message[1:] + "." + d.whatShowsHealth(r)
	case len(d.Seen.Pods) == 0 && len(d.Logs) == 0 && len(d.Events) == 0:
		return "Nothing was there to read: no pod, no event, no log."
	case len(r.Hypotheses) > 0:
		return fmt.Sprintf("What may be a failure is said, in words that no signature knows [%s], and nothing shows what became of it.", r.Hypotheses[0].Cites[0]) + d.whatShowsHealth(r)
	case len(d.Seen.Pods) == 0 && len(d.Nodes) > 0 && d.Job == nil:
		return d.nodesSay() + " That says nothing of a job: what its pods say is needed, too (kubectl describe pod, kubectl logs)."
	case d.State.Phase == kinds.Running && d.wordless():
		return fmt.Sprintf("All %d pods run for more than %s, and none has printed a line: programs that wait for each other without a word look so, and programs that print nothing, too.", len(d.Pods), words.Short(wordlessFor)) + " The stack of one of them would decide: kubectl exec POD -- py-spy dump --pid 1."
	case d.Unread:
		return "Nothing that was read shows a failure; what is missing may." + d.whatShowsHealth(r)
	default:
		return "Nothing that was read shows a failure, and nothing shows that the job is well." + d.whatShowsHealth(r)
	}
}

// mostNodes is how many nodes are told of, where nothing else was read; the others are counted.
const mostNodes = 3

// nodesSay is how the nodes are that were read, of which none is known to be in trouble.
func (d *draft) nodesSay() string {
	var out []string
	for i := range d.Nodes[:min(len(d.Nodes), mostNodes)] {
		n := &d.Nodes[i]
		text := []string{"node " + n.Name + " is ready, and none of its conditions tells of trouble"}
		if n.Spec.Unschedulable {
			text = append(text, "it is cordoned")
		}
		for _, taint := range n.Spec.Taints {
			text = append(text, "it has the taint "+taint.ToString())
		}
		out = append(out, strings.Join(text, "; "))
	}
	if more := len(d.Nodes) - len(out); more > 0 {
		out = append(out, words.Count(more, "more node was read", "more nodes were read"))
	}
	text := strings.Join(out, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// sayBadEnd says how a log ends where nothing else tells of a failure.
func (d *draft) sayBadEnd(r *Report, t *BadEnd) {
	name := t.Source.Name()
	r.Error = fmt.Sprintf("%s ends with %q", name, cut(t.Text))
	r.Analysis = "No signature knows the words, and programs that end well do not end with such; the lines above it would decide."
	if t.Torn {
		r.Error = name + " stops within a traceback"
		r.Analysis = "A program that prints one and nothing after it has failed; the last line of it, which names the exception, would decide."
	}
	r.Solution = []string{"Read what stands above the end of the log."}
	if command := d.around(t.Source); command != "" {
		r.Solution = []string{"Read what stands above the end of the log: " + command + "."}
	}
}

// sayLacking says how many pods a running job has, where nothing tells why there are no more.
func (d *draft) sayLacking(r *Report, lacks string) {
	due, _ := d.due()
	r.Error = fmt.Sprintf("%s runs with %d of %d pods: %s", d.subject(), d.present(), due, lacks)
	r.Analysis = fmt.Sprintf("The operator calls the job running since %s, and pods that it declares are not there. Nothing that was read says who took them away, or why none were made.", d.State.Since)
	r.Solution = []string{"See what the job's events and its operator's log say of the pods that are missing.", "Ask who deletes pods in this namespace; the audit log of the API server knows, where one is kept."}
}

// whatShowsHealth says what would decide where nothing known to be missing does: a log without a known
// failure may be that of a program that has only just begun.
func (d *draft) whatShowsHealth(r *Report) string {
	if d.Read.BytesRead == 0 || d.Read.Broken != "" || len(d.Missing) > 0 || d.decides() != "" {
		return d.whatDecides(r)
	}
	text := " A line that counts steps, prints a loss or says that the run ended well would show health"
	if len(d.Seen.Pods) == 0 {
		text += "; a container that ended, and its exit code, would show a failure"
	}
	return text + "."
}

func lowerFirst(s string) string {
	if len(s) > 1 && 'A' <= s[0] && s[0] <= 'Z' && (s[1] < 'A' || s[1] > 'Z') {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// WhoActs is the owner of a cause as it is told: the user is the author of the job, whoever reads.
func WhoActs(d signature.Domain) string { return strings.Replace(ownerWords(d), "for ", "", 1) }

// owners in words, for rendering.
func ownerWords(d signature.Domain) string {
	switch d {
	case signature.User:
		return "for the author of the job"
	case signature.Platform:
		return "for the administrators of the platform"
	case signature.Hardware:
		return "hardware: for the administrators"
	case signature.Network:
		return "network: for the administrators"
	case signature.Storage:
		return "storage: for the administrators"
	default:
		return "owner not clear"
	}
}
