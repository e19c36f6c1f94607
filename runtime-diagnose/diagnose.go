package diagnose

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/attribute"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/recovery"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
)

// Diagnose finds out what a job suffers from. It reads the case's logs once, and stops reading when ctx
// ends; what it could not read is in Coverage. A nil catalog knows no signatures: the platform's side is
// still read.
//
// Each stage adds to what the ones before it found, and changes nothing of it.
func Diagnose(ctx context.Context, c Case, catalog *signature.Catalog, o Options) Result {
	d := observe(ctx, c, catalog, o.withDefaults()) // what the platform, the logs and the objects say
	d.align()                                       // the members, by which clocks, in which order
	d.lookAtRunning()                               // what is wrong with a job that runs
	d.correlate()                                   // which member followed which
	d.attribute(ctx)                                // the cause, by points
	d.compareRuns()                                 // its line in the last good run
	d.quote(ctx)                                    // the words of what is told, where they were not kept
	return d.result(ctx)
}

// observe reads everything that was collected.
func observe(ctx context.Context, c Case, catalog *signature.Catalog, o Options) *diagnosis {
	c.State.Message = reduce.Plain(c.State.Message) // operators quote what their pods said
	c = c.Own()
	c.Logs = c.Joined()
	if unread := control.UnreadStatus(&c); unread != "" {
		c.Missing = append(slices.Clone(c.Missing), unread)
	}
	seen := control.Read(control.Input{
		Job: c.JobName(), Pods: c.Pods, Gone: c.Gone, Events: c.Events, Nodes: c.Nodes, Absent: c.Absent, Objects: c.Objects, Catalog: catalog,
		Source: c.Place, NoRejoin: control.NoRejoin(&c), Complete: complete(c), Wanted: wanted(c), Now: c.Now,
		Least:    least(c),
		Updating: updating(c.State),
		FailedAt: since(c, kinds.Failed), DoneAt: since(c, kinds.Succeeded),
	})
	logs := logscan.Read(ctx, c, catalog, seen.Pods, o.scan())
	logs.Restore(c.Logs, seen.Pods)
	d := &diagnosis{Case: c, catalog: catalog, options: o, seen: seen, logs: logs}
	d.sightings = slices.Concat(seen.Sightings, c.Watched, logs.Sightings, control.ReadStatuses(&c, seen.Pods, catalog))
	d.logs.Sightings, d.seen.Sightings = nil, nil // they are many
	d.readSilence()
	dateSightings(d.sightings)
	d.logs.TrainedOn(d.sightings, seen.Pods)
	d.nodesTrainedOn()
	d.failed = d.jobFailed()
	return d
}

// readSilence adds what nothing reports: that nothing acts on the job, that it does not go though it was
// deleted, that somebody deleted a pod of it.
func (d *diagnosis) readSilence() {
	if stuck, ok := control.ReadStuck(&d.Case); ok {
		// What a job on its way out suffers is of no interest any more.
		d.sightings, d.State = []evidence.Observation{stuck}, kinds.State{}
		return
	}
	d.sightings = append(d.sightings, control.ReadDeleted(&d.Case)...)
	if cause := slices.ContainsFunc(d.sightings, func(s evidence.Observation) bool {
		return !s.Over && !s.Signature.Weak && s.Signature.Role == signature.Root
	}); !cause && len(d.seen.Transient) == 0 {
		d.sightings = slices.Concat(d.sightings, control.ReadSilent(&d.Case), control.ReadUnlooked(&d.Case))
	}
}

// dateSightings names the clock of what the platform dated: how containers ended comes from
// the node's, the rest from the API server's or from one that is kept as well.
func dateSightings(seen []evidence.Observation) {
	for i := range seen {
		if s := &seen[i]; s.Item.Kind == evidence.Exit && s.Item.Clock == "" {
			s.Item.Clock = s.Item.Source.Clock()
		}
	}
}

// align lists the members, and works out how far their clocks are apart.
func (d *diagnosis) align() {
	d.courses = make([]timeline.Log, 0, len(d.logs.Courses))
	for i := range d.logs.Courses {
		if t := &d.logs.Courses[i]; !t.Pasted { // it quotes members, and is none
			d.courses = append(d.courses, t.Log())
		}
	}
	d.all, d.time = timeline.Members(d.seen.Pods, d.Pods, d.courses), timeline.ClocksOf(d.Pods, d.courses)
	d.at = timeline.ByPlace(d.all)
	for name, life := range control.FormerLives(d.Events, d.Pods) {
		if i, ok := d.at[name]; ok {
			d.all[i].Before = life
		}
	}
	d.alike = d.membersAlike()
}

// lookAtRunning adds what is wrong with a job that runs, and what its losses show of one that ran.
func (d *diagnosis) lookAtRunning() {
	if d.State.Phase != kinds.Running {
		d.sightings = slices.Concat(d.sightings, timeline.FindRise(d.courses), timeline.FindBehind(d.courses))
		return
	}
	watched := slices.ContainsFunc(d.Watched, func(s evidence.Observation) bool { return s.Signature.Category == progress.NoProgress.Category })
	found, slow := timeline.LookAtRunning(d.courses, d.all, d.time, d.Now, d.options.Running.WithDefaults(), watched)
	if d.sightings = append(d.sightings, found...); slow != "" {
		d.remarks = append(d.remarks, slow)
	}
}

func (d *diagnosis) correlate() {
	d.sightings, d.marks = timeline.Mark(d.sightings, d.all, d.time, passes(d.options.Without)...)
}

// quote reads again what is told and was not kept whole: of a large gang only a part is.
func (d *diagnosis) quote(ctx context.Context) {
	d.rereadRoot(ctx)
	d.giveWords(ctx)
	d.readEnding(ctx)
}

func passes(of []Heuristic) []string {
	var out []string
	for _, h := range of {
		out = append(out, string(h))
	}
	return out
}

// diagnosis is the state of one call of Diagnose.
type diagnosis struct {
	Case
	catalog   *signature.Catalog
	options   Options
	seen      control.Seen
	logs      logscan.Logs
	sightings []evidence.Observation
	failed    bool
	answer    attribute.Answer
	root      *evidence.Observation // the answer's cause; nil: there is none
	all       []timeline.Member
	at        map[string]int // in all, by place
	courses   []timeline.Log // of the logs that are of members
	alike     []logscan.Alike
	time      *timeline.Clocks
	marks     timeline.Marks
	pythons   attribute.Pythons // nil: not looked for yet
	remarks   []string
	end       Excerpt          // of the log that a bare exit code is the last word of
	compared  string           // how the root's line compares with the last good run
	waited    *timeline.Waited // what the watchdogs of all ranks say together; nil: nothing
}

// when orders two items by the clocks that dated them.
func (d *diagnosis) when(a, b evidence.Item) int {
	return d.time.Order(timeline.Moment{Clock: a.Clock, At: a.At, Since: a.Carried}, timeline.Moment{Clock: b.Clock, At: b.At, Since: b.Carried})
}

// jobFailed says that something other than a log shows a failure.
func (d *diagnosis) jobFailed() bool {
	if d.State.Stopped() {
		return false
	}
	if d.State.Phase == kinds.Failed || d.State.Phase == kinds.Restarting {
		return true
	}
	for _, p := range d.seen.Pods {
		if !p.Past && (p.Phase == corev1.PodFailed || p.Exit != nil) {
			return true
		}
	}
	return false
}

// complete says that the job ended well, and that its kind takes no pod for granted: whatever failed on
// the way was made good. Kinds that end with their master or launcher may leave a failed worker behind.
func complete(c Case) bool {
	if c.State.Phase != kinds.Succeeded || c.Job == nil {
		return false
	}
	switch c.Job.Ref.Kind {
	case "Job":
		return strings.HasPrefix(c.Job.Ref.APIVersion, "batch/") || enoughSucceeded(c.JobSource())
	case "JobSet", "TrainJob", "RayJob":
		return true
	}
	return false
}

// enoughSucceeded says that as many tasks of a Volcano Job ended well as its author asks for, whatever became of the others
// (https://github.com/volcano-sh/volcano/blob/ed72c7c8/pkg/controllers/job/state/running.go). One that a policy completed may have fewer.
func enoughSucceeded(source map[string]any) bool {
	spec, _ := source["spec"].(map[string]any)
	status, _ := source["status"].(map[string]any)
	succeeded, _ := control.Number(status["succeeded"])
	wanted, written := control.Number(spec["minSuccess"])
	if !written {
		wanted, written = control.Number(spec["minAvailable"])
	}
	return written && wanted > 0 && succeeded >= wanted
}

// since is when the operator says that the job came to a phase; zero: it is in another one, or nothing says when.
func since(c Case, phase kinds.Phase) time.Time {
	if c.State.Phase != phase || strings.Contains(strings.ToLower(c.State.Reason+c.State.Message), "deadline") {
		return time.Time{} // a deadline waits for no member
	}
	at, err := time.Parse(time.RFC3339, c.State.Since)
	if err != nil {
		return time.Time{}
	}
	return at
}

// updating says that the operator of a LeaderWorkerSet rolls out another template
// (https://github.com/kubernetes-sigs/lws/blob/v0.9.0/pkg/controllers/leaderworkerset_controller.go).
func updating(s kinds.State) bool { return s.Reason == kinds.GroupsUpdating }

// least is with how many pods of each role a job trains on that may shrink while it runs; nil: it may not. A range of other
// kinds says when they may start.
func least(c Case) map[string]int {
	if c.Job == nil || c.State.Phase != kinds.Running || !slices.Contains([]string{"PyTorchJob", "PaddleJob", "DeepSpeedJob", "RayCluster"}, c.Job.Ref.Kind) {
		return nil
	}
	out, elastic := map[string]int{}, false
	for i := range c.Job.Roles {
		r := &c.Job.Roles[i]
		out[r.Name] = r.Replicas.Min
		elastic = elastic || r.Replicas.Min < r.Replicas.Max
	}
	if !elastic {
		return nil
	}
	return out
}

// wanted is how many pods the job wants at least; 0: unknown.
func wanted(c Case) int {
	if c.Job == nil {
		return 0
	}
	return c.Job.MinPods()
}

// result writes the report from what the stages have found.
func (d *diagnosis) result(ctx context.Context) Result {
	account := d.account()
	f := report.Findings{
		Bundle: d.Case, Seen: d.seen, Observations: d.sightings, Read: d.readings(), Failed: d.failed, Members: d.all, Groups: d.groups(),
		Clocks: d.time, Marks: d.marks, Answer: d.answer, Waited: d.waited, Compared: d.compared, End: d.end,
		Notes: d.remarks, Ledger: account, Retried: control.RetriedOf(&d.Case), MostEvidence: d.options.Evidence,
	}
	if d.State.Phase == kinds.Running {
		f.HalfStarted = d.options.Running.WithDefaults().HalfStarted
	}
	r := report.Write(ctx, &f)
	r.Printed = d.printed(&r)
	r.Nominees, r.Untested = d.nominees(ctx, &r)
	return r
}

// readings is what reading the logs amounts to.
func (d *diagnosis) readings() report.Reading {
	l := &d.logs
	return report.Reading{
		Excerpts: l.Excerpts, Idle: l.Idle, Pods: l.Pods, Ended: l.Ended, Advance: l.Advance, Done: l.Done, Broken: l.Broken, Missing: l.Missing,
		BytesRead: l.BytesRead, BytesSkipped: l.BytesSkipped, BadEnd: d.badEnd(), Suspect: suspectIn,
	}
}

// badEnd is a log that ends as logs of failures do, though no signature knows the words; nil: none does.
func (d *diagnosis) badEnd() *report.BadEnd {
	for i := range d.logs.Courses {
		if t := &d.logs.Courses[i]; !t.Pasted && !t.Quotes && t.Source.Attempt == 0 && (t.Torn || t.Bad.Number > 0) {
			source, text := t.Source, t.Bad.Text
			if source.Line = t.Bad.Number; t.Torn {
				source.Line, text = t.LastNumber, t.LastText
			}
			return &report.BadEnd{Source: source, Text: text, Torn: t.Torn}
		}
	}
	return nil
}

// suspectIn is the last line of an excerpt that says, in words that no signature knows, that something is wrong.
func suspectIn(e Excerpt) int {
	for i := len(e.Lines) - 1; i >= 0 && e.Lines[len(e.Lines)-1].Number-e.Lines[i].Number < unfamiliarWithin; i-- {
		if body := bodyOf(e.Lines[i].Text); recovery.Wrong(body) && !recovery.Mild(body) {
			return i
		}
	}
	return -1
}

// groups are the members of which no more is known than that they say what another one says.
func (d *diagnosis) groups() []report.Group {
	var out []report.Group
	for i := range d.alike {
		c := &d.alike[i]
		out = append(out, report.Group{
			Exemplar: c.Group.Exemplar, Told: c.Group.Told, Count: len(c.Logs),
			Sources: func(yield func(evidence.Source) bool) {
				for _, e := range c.Logs {
					if !yield(d.sourceAt(e.Place)) {
						return
					}
				}
			},
		})
	}
	return out
}
