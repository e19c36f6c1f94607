package diagnose

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/gang"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// judge sets the verdict, the root and its effects.
func (d *diagnosis) judge(r *Result) {
	if d.queued() {
		r.Verdict, r.Category = Healthy, signature.HealthyCategory
		r.Waiting = strings.TrimRight(r.Waiting, ".") + ": " + d.root.Line
		return
	}
	if d.atRest() {
		if s := d.root; s != nil && !d.State.Stopped() {
			d.remark("Before that: %s.", d.sentence(s))
		}
		r.Verdict, r.Category = Healthy, signature.HealthyCategory
		return
	}
	if d.root != nil {
		root := d.cause(*d.root)
		root.Standing = d.answer.Confidence.Standing
		if d.onlyNode(d.root) != "" {
			root.Owner, root.Retry = signature.Platform, signature.Helps
		}
		if d.schedulerOf(d.root) != nil && d.neverFits() {
			root.Retry = signature.Useless
		}
		root.Category = d.answer.Cause.Category
		r.Root, r.Category, r.Verdict = &root, root.Category, Diagnosed
		if gang.NamesMissing(d.root.Signature) {
			r.Missing = []string{gang.PlaceOf(root.Source)}
		}
		if saysLittle(d.root) {
			r.Verdict = Inconclusive
		}
		for _, s := range append(slices.Clone(d.answer.Effects), d.answer.Rivals...) {
			effect := d.cause(s)
			effect.Standing = Hypothesis
			r.Effects = append(r.Effects, effect)
		}
		return
	}
	switch {
	case d.failed || len(d.answer.Effects) > 0:
		r.Verdict = Inconclusive
	case d.healthy():
		r.Verdict, r.Category = Healthy, signature.HealthyCategory
	case d.badEnd() != nil:
		r.Verdict = Inconclusive
	default:
		r.Verdict = Unknown
	}
}

// python is what a container's command says that starts a Python program.
var python = regexp.MustCompile(`\bpython[\d.]*\b|\.py\b|\b(?:torchrun|accelerate|deepspeed|colossalai|ipython|pytest)\b`)

// isPython says that there is evidence of Python where an exit code is all that is known: its command, or a
// traceback in its log or in that of another pod of the same image, which runs the same program. A shell
// script's exit code is no exception.
func (d *diagnosis) isPython(s evidence.Source) bool {
	if d.pythons == nil {
		d.pythons = d.findPython()
	}
	return d.pythons[s.Pod+"/"+s.Container] || d.pythons[s.Pod+"/*"]
}

// findPython are the containers that run Python, as pod/container, where one does pod/, where all do pod/*.
func (d *diagnosis) findPython() map[string]bool {
	out, images := map[string]bool{}, map[string]bool{}
	raised := map[string]bool{}
	for i := range d.sightings {
		if o := &d.sightings[i]; o.Raised {
			raised[o.Item.Source.Pod] = true
		}
	}
	for pod := range raised {
		out[pod+"/*"] = true
	}
	only := func(p *corev1.Pod) string { // the image of a pod of one container
		if len(p.Spec.Containers) != 1 {
			return ""
		}
		return p.Spec.Containers[0].Image
	}
	for i := range d.Pods {
		if p := &d.Pods[i]; raised[p.Name] {
			images[only(p)] = true
		}
	}
	delete(images, "")
	for i := range d.Pods {
		p := &d.Pods[i]
		if images[only(p)] {
			out[p.Name+"/*"] = true
		}
		for k := range p.Spec.Containers {
			c := &p.Spec.Containers[k]
			if slices.ContainsFunc(c.Command, python.MatchString) || slices.ContainsFunc(c.Args, python.MatchString) {
				out[p.Name+"/"+c.Name], out[p.Name+"/"] = true, true
			}
		}
	}
	return out
}

// atRest is a job that somebody stopped, paused or suspended: that is a state, not a failure. What a queue
// says of why it holds a job is another matter.
func (d *diagnosis) atRest() bool {
	root := d.root
	switch {
	case d.State.Stopped():
		return true
	case d.State.Phase != kinds.Suspended:
		return false
	}
	return root == nil || root.Item.Source.Pod != "" || root.Item.Kind == evidence.Log
}

// queued is a job that a queue holds back: it waits, and nothing is wrong with it.
func (d *diagnosis) queued() bool {
	root := d.root
	return d.State.Phase == kinds.Suspended && root != nil && root.Platform &&
		(root.Signature.ID == "queue-quota" || root.Signature.ID == "kueue-preempted")
}

// nodesMayDiffer are causes that a node can bring about which differs from the others: its
// driver, its disks, its mounts, its network, an image it pulled earlier under the same tag.
// Memory, data and the program's own exceptions are not among them: there the log says otherwise.
var nodesMayDiffer = []string{
	"cuda-driver-mismatch", "no-gpu-visible", "nccl-init-network", "nccl-version-mismatch", "network-dns", "missing-module",
	"import-version-conflict", "file-not-found", "permission-denied", "disk-full", "storage-io", "image-pull", "mount-failed", "shm-exhausted",
}

// onlyNode is the node on which every pod ran that says what the root says, where they are
// two or more, all of that node that failed by themselves, and other nodes ran the same job
// without it: then the node is the difference. Empty otherwise.
func (d *diagnosis) onlyNode(s *rank.Sighting) string {
	node := s.Item.Source.Node
	if node == "" || !slices.Contains(nodesMayDiffer, s.Signature.Category) {
		return ""
	}
	says := map[string]bool{}
	for _, item := range append([]evidence.Item{s.Item}, s.Also...) {
		if item.Source.Pod == "" || item.Source.Node != node {
			return ""
		}
		says[item.Source.Pod] = true
	}
	for i := range d.echoing {
		for _, e := range d.echoing[i].echoes {
			if d.echoing[i].says(s, says) && d.sourceAt(e.place).Node != node {
				return ""
			}
		}
	}
	elsewhere := false
	for _, m := range d.all {
		if m.Source.Node == node && !says[m.Place] && d.marks.States[m.Place].Own {
			return ""
		}
		elsewhere = elsewhere || m.Source.Node != "" && m.Source.Node != node
	}
	if len(says) < 2 || !elsewhere {
		return ""
	}
	return node
}

// saysLittle is a root that names how it ended, not why: a bare exit code, and what was new before it.
func saysLittle(s *rank.Sighting) bool {
	return s.Signature.ID == unfamiliarLine || s.Signature == control.AgainAndAgain || s.Signature == control.ReplicaLost || s.Item.Kind == evidence.Exit && s.Signature.DepthOf() == signature.Symptom
}

// healthy needs evidence: the operator's or the pods' word and no log that says otherwise,
// or a log that shows training.
func (d *diagnosis) healthy() bool {
	switch d.State.Phase {
	case kinds.Succeeded:
		return !d.unverifiedSuccess()
	case kinds.Suspended:
		return true
	case kinds.Running:
		return d.allRunning()
	case kinds.PhaseUnknown:
		if d.State.Message != "" {
			return false // the operator says itself that it does not know
		}
	default:
		return false
	}
	if d.Job != nil {
		return d.allRunning()
	}
	if len(d.seen.Pods) > 0 {
		return d.podsWell()
	}
	return d.logs.broken == "" && (d.logs.ended > 0 || d.logs.advance > 0 || d.scheduledWell())
}

// unverifiedSuccess is a success that only the launcher's exit code claims: the launcher
// of a ColossalAIJob ends with 0 even when training failed, and so does that of T9k's MPIJob
// (t9k ColossalAIJob manual, "launcher"; MPIJob manual, "status").
func (d *diagnosis) unverifiedSuccess() bool {
	if d.Job == nil || d.Job.Ref.Kind != colossalAI && (d.Job.Ref.Kind != "MPIJob" || !strings.HasPrefix(d.Job.Ref.APIVersion, t9kGroup)) {
		return false
	}
	return d.logs.pods == 0
}

func (d *diagnosis) allRunning() bool {
	if len(d.seen.Pods) == 0 {
		return false
	}
	if d.Job != nil && d.present() < d.Job.MinPods() {
		return false
	}
	return d.podsWell()
}

// present counts the pods that have a place in the job now.
func (d *diagnosis) present() int {
	n := 0
	for i := range d.seen.Pods {
		if !d.seen.Pods[i].Past {
			n++
		}
	}
	return n
}

func (d *diagnosis) podsWell() bool {
	for _, p := range d.seen.Pods {
		if !p.Past && !p.Running() && p.Phase != corev1.PodSucceeded {
			return false
		}
	}
	return true
}

// scheduledWell is a story told by events alone that goes on: what failed is over.
func (d *diagnosis) scheduledWell() bool {
	return len(d.Events) > 0 && slices.ContainsFunc(d.Events, func(e corev1.Event) bool {
		return e.Reason == "Scheduled" || e.Reason == "Started" || e.Reason == "Pulled" || e.Reason == "Completed"
	})
}

func (d *diagnosis) cause(s rank.Sighting) Cause {
	c := Cause{
		Signature: s.Signature.ID, Title: s.Signature.Title, Category: s.Signature.Category,
		Owner: s.Signature.Domain, Retry: s.Signature.Retry, Source: s.Item.Source, At: s.Item.Told(),
		Line: s.Line, Said: s.Said, Facts: maps.Clone(s.Facts), Cites: []evidence.ID{s.Item.ID},
		Role: s.Item.Source.Role, Index: s.Item.Source.Rank,
	}
	if c.Role == "" { // a line that names its process
		c.Index = -1
		if k, ok := d.at[gang.PlaceOf(c.Source)]; ok && d.all[k].Source.Role != "" {
			c.Role, c.Index = d.all[k].Source.Role, d.all[k].Source.Rank
		}
	}
	if c.Owner == signature.Nobody {
		if category, ok := signature.CategoryOf(c.Category); ok {
			c.Owner = category.Owner
		}
	}
	for i, item := range s.Also {
		if i >= mostAlso {
			break
		}
		c.Cites = append(c.Cites, item.ID)
	}
	return c
}

// mostAlso is how many copies of one sighting are cited: enough to see who it was.
const mostAlso = 4

// collectEvidence puts every cited item, and the lines around the decisive one, in order.
func (d *diagnosis) collectEvidence(r *Result) {
	have := map[evidence.ID]bool{}
	add := func(item evidence.Item) {
		if len(r.Evidence) < d.options.Evidence && !have[item.ID] {
			have[item.ID], item.At = true, item.Told()
			r.Evidence = append(r.Evidence, item)
		}
	}
	sightings := append(slices.Clone(d.answer.Effects), d.answer.Rivals...)
	if r.Verdict == Healthy { // a job at rest has no cause, whatever it suffered before
		sightings = nil
	} else if d.root != nil {
		sightings = append([]rank.Sighting{*d.root}, sightings...)
	}
	for _, s := range sightings {
		add(s.Item)
		for i, item := range s.Also {
			if i < mostAlso && item.Text != "" { // an echo has no words
				add(item)
			}
		}
	}
	if n := len(d.end.Lines); n > 0 {
		add(d.end.Item(n - 1))
	}
	if d.attempts.other != nil {
		add(d.attempts.other.Item)
	}
	for _, u := range d.seen.Scheduling {
		add(u.Item)
	}
	trim := func(c *Cause) {
		c.Cites = slices.DeleteFunc(c.Cites, func(id evidence.ID) bool { return !have[id] })
	}
	if r.Root != nil {
		trim(r.Root)
	}
	r.Effects = slices.DeleteFunc(r.Effects, func(c Cause) bool { return !have[c.Cites[0]] })
	for i := range r.Effects {
		trim(&r.Effects[i])
	}
}

// waiting says why a job has not started, with numbers.
func (d *diagnosis) waiting() string {
	if d.State.Stopped() {
		return strings.TrimRight("stopped: somebody asked for it. "+d.State.Message, ". ") + "."
	}
	if d.Job != nil && d.Job.Suspended || d.State.Phase == kinds.Suspended {
		return strings.TrimRight("suspended: it asks for no pods now. "+d.State.Message, ". ") + "."
	}
	if d.State.Phase == kinds.Succeeded || d.State.Phase == kinds.Failed {
		return ""
	}
	var pending, starting, running []control.Pod
	for _, p := range d.seen.Pods {
		switch {
		case p.Phase == corev1.PodPending && !p.Placed:
			pending = append(pending, p)
		case p.Phase == corev1.PodPending:
			starting = append(starting, p)
		case p.Phase == corev1.PodRunning:
			running = append(running, p)
		}
	}
	if len(pending) == 0 && len(starting) > 0 {
		return fmt.Sprintf("%d of %d pod%s %s running; %d %s on %s node and not started.",
			len(running), d.podCount(), plural(d.podCount()), isAreOf(len(running), d.podCount()), len(starting), isAre(len(starting)), itsTheir(len(starting)))
	}
	if len(pending) == 0 {
		return d.waitingForPods()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d pod%s %s running, %d %s", len(running), d.podCount(), plural(d.podCount()), isAreOf(len(running), d.podCount()), len(pending), waitWord(len(pending)))
	if ask := d.askOf(pending[0].Source.Role); ask != "" {
		b.WriteString(" for " + ask)
		if len(pending) > 1 {
			b.WriteString(" each")
		}
	}
	fit, known := d.fit()
	if !known {
		if said := d.schedulerSays(pending); len(said) > 0 {
			b.WriteString(": " + strings.Join(said, "; "))
		}
	}
	if len(starting) > 0 {
		fmt.Fprintf(&b, "; %d %s a node and wait for the rest to start", len(starting), hasHave(len(starting)))
	}
	if known {
		return b.String() + unplaced(fit, len(running)+len(starting))
	}
	return b.String() + "."
}

func (d *diagnosis) podCount() int {
	if d.Job == nil {
		return len(d.seen.Pods)
	}
	return max(len(d.seen.Pods), d.Job.MaxPods())
}

func itsTheir(n int) string {
	if n == 1 {
		return "its"
	}
	return "their"
}

func hasHave(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// isAreOf is for n of all: "0 of 1 pod is", "0 of 2 pods are".
func isAreOf(n, all int) string {
	if all == 1 {
		return "is"
	}
	return isAre(n)
}

// verbOf ends a verb: "0 of 1 pod exists", "0 of 2 pods exist".
func verbOf(all int) string {
	if all == 1 {
		return "s"
	}
	return ""
}

func waitWord(n int) string {
	if n == 1 {
		return "waits"
	}
	return "wait"
}

// waitingForPods covers jobs whose pods are not all there.
func (d *diagnosis) waitingForPods() string {
	if d.Job == nil || d.State.Phase == kinds.Running && d.present() >= d.Job.MinPods() {
		return ""
	}
	want := d.Job.MinPods()
	if d.present() >= want {
		return ""
	}
	text := fmt.Sprintf("%d of %d pod%s exist%s.", d.present(), want, plural(want), verbOf(want))
	if d.State.Reason == "Resuming" {
		text = strings.TrimRight(d.State.Message, ".") + ": " + text
	}
	if len(d.seen.Transient) > 0 {
		return text + " " + d.seen.Transient[0] + "."
	}
	if d.root != nil && d.root.Item.Kind != evidence.Log {
		return text + " " + strings.TrimRight(d.root.Line, ".") + "."
	}
	if fit, ok := d.fit(); ok && len(d.seen.Pods) == 0 {
		return strings.TrimSuffix(text, ".") + "; " + fit.String() + "."
	}
	return text
}

// askOf is what one pod of a role asks for: its devices, else its CPU and memory.
func (d *diagnosis) askOf(role string) string {
	if d.Job == nil {
		return ""
	}
	found := d.Job.Role(role)
	if found == nil && len(d.Job.Roles) > 0 {
		found = &d.Job.Roles[0]
	}
	if found == nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(found.Pod.Requests)) {
		if n := found.Pod.Requests[name]; n > 0 && strings.Contains(string(name), "/") {
			return fmt.Sprintf("%d %s", n, name)
		}
	}
	return ""
}

// schedulerSays is one sentence per different message of the scheduler.
func (d *diagnosis) schedulerSays(pending []control.Pod) []string {
	var out []string
	waits := map[string]bool{}
	for i := range pending {
		waits[pending[i].Name] = true
	}
	for _, u := range d.seen.Scheduling {
		if len(out) == 2 {
			break
		}
		if s := u.Sentence(); waits[u.Pod] && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
