package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/signatures"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	running "github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/subject"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/timeline"
	"github.com/signalbox-dev/signalbox/webhook"
)

// Rules are the causes that are found by structure and not by the text of a log.
func Rules() []*signature.Signature {
	all := slices.Concat(control.Rules(), timeline.Rules(), running.Rules(), subject.Rules())
	for _, code := range []int32{3, 150} { // one that only the program knows, and a signal without a name of its own
		rule := *control.ExitRule(code)
		rule.Proves = "The container ended with that code."
		all = append(all, &rule)
	}
	slices.SortFunc(all, func(a, b *signature.Signature) int { return strings.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b *signature.Signature) bool { return a.ID == b.ID })
}

func ruleShelf() Shelf {
	return Shelf{
		Name:    "rules",
		About:   "A rule is a cause that is found in what the platform says (states, events, exit codes, conditions) or by comparing members, and not in the text of a log.",
		Columns: []string{"name", "category", "role", "owner", "what it says"}, spare: []int{2, 3},
		Entries: func() ([]Entry, error) { return each(Rules(), signatureEntry), nil },
	}
}

// reasonsOf says by which reasons of Kubernetes a rule is found.
func reasonsOf(rule string) string {
	reasons := control.Reasons(rule)
	if len(reasons) == 0 {
		return ""
	}
	return "\nFound by the reason `" + strings.Join(reasons, "`, `") + "`.\n"
}

func categoryShelf() Shelf {
	return Shelf{
		Name:    "categories",
		About:   "A category is one class of causes; every diagnosis ends with one.",
		Columns: []string{"name", "who acts", "the cause is"},
		Entries: func() ([]Entry, error) {
			catalog, err := signatures.Builtin()
			if err != nil {
				return nil, err
			}
			known := map[string][]*signature.Signature{}
			for _, s := range slices.Concat(catalog.All(), Rules()) {
				known[s.Category] = append(known[s.Category], s)
			}
			healthy := signature.Category{Slug: signature.HealthyCategory, Title: "none: what was seen is well", Owner: signature.Nobody}
			var out []Entry
			for _, c := range append(signature.Categories(), healthy) {
				signs := known[c.Slug]
				slices.SortFunc(signs, func(a, b *signature.Signature) int { return strings.Compare(a.ID, b.ID) })
				signs = slices.CompactFunc(signs, func(a, b *signature.Signature) bool { return a.ID == b.ID })
				names := make([]string, len(signs))
				for i, s := range signs {
					names[i] = s.ID
				}
				first, more := firstSteps(signs)
				out = append(out, Entry{
					Name: c.Slug, Row: []string{c.Slug, string(c.Owner), c.Title}, page: categoryPage(c, signs, first, more),
					value: struct {
						Name    string   `json:"name"`
						Title   string   `json:"title"`
						Owner   string   `json:"owner"`
						FoundBy []string `json:"foundBy"`
						First   []string `json:"first,omitempty"` // what to do first
						More    int      `json:"more,omitempty"`  // other first steps, of single ones of FoundBy
					}{c.Slug, c.Title, string(c.Owner), names, first, more},
				})
			}
			return out, nil
		},
	}
}

// depthTexts say how near to a cause a category is.
var depthTexts = map[int]string{
	signature.Symptom: "It names what happened last: an earlier line, or another member of the job, may say why.",
	signature.General: "The program failed, in a way that says little about why: read the line and what stands above it.",
}

// categoryPage is what a category means, what to do first, and by which signs it is found.
func categoryPage(c signature.Category, signs []*signature.Signature, first []string, more int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", c.Title)
	if says := depthTexts[c.Depth]; says != "" {
		b.WriteString(says + "\n\n")
	}
	fmt.Fprintf(&b, "Usually acts: %s (%s).\n", c.Owner, ownerTexts[string(c.Owner)])
	if len(first) > 0 {
		b.WriteString("\nWhat to do first:\n\n- " + strings.Join(first, "\n- ") + "\n")
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nThose below know %s; the page of each has its own.\n", terminal.Count(more, "other first step"))
	}
	if len(signs) > 0 {
		b.WriteString("\nFound by:\n\n")
	}
	for _, s := range signs {
		fmt.Fprintf(&b, "- %s: %s", s.ID, terminal.OneLine(s.Title))
		if words := typicalWords(s); words != "" {
			fmt.Fprintf(&b, "; a line with %q", words)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mostFirstSteps bounds what a category says is to be done first.
const mostFirstSteps = 3

// firstSteps are the steps with which the remedies of most signatures begin, those of causes and not of what follows them, and
// how many more there are.
func firstSteps(signs []*signature.Signature) (out []string, more int) {
	often := map[string]int{}
	for _, s := range signs {
		if steps := s.Steps(); len(steps) > 0 && s.Role == signature.Root {
			if often[steps[0]]++; often[steps[0]] == 1 {
				out = append(out, steps[0])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return often[b] - often[a] })
	n := min(mostFirstSteps, len(out))
	return out[:n], len(out) - n
}

// typicalWords are words of a line that a signature knows, those that stand first in its pattern, where the usual form of a
// message is; empty: it has none.
func typicalWords(s *signature.Signature) (words string) {
	first := len(s.Pattern)
	for _, text := range s.Literals() {
		text = strings.TrimSpace(text)
		if at := strings.Index(s.Pattern, text); at >= 0 && at < first && strings.Contains(text, " ") {
			words, first = text, at
		}
	}
	return words
}

// Word is a name that an output may hold, and what it means there.
type Word struct {
	Name    string `json:"name"`
	What    string `json:"what"` // what it is a word of
	Meaning string `json:"meaning"`
}

func (w Word) entry() Entry {
	return Entry{Name: w.Name, Row: []string{w.Name, w.What, w.Meaning}, value: w}
}

var ownerTexts = map[string]string{
	string(signature.User):     "the author of the job",
	string(signature.Platform): "who runs the cluster",
	string(signature.Hardware): "who replaces machines and devices",
	string(signature.Network):  "who runs the network",
	string(signature.Storage):  "who runs the storage",
	string(signature.Nobody):   "nobody can be named from what was seen",
}

// Words is every name of our outputs that no other part of the reference has.
func Words() []Word {
	out := []Word{
		{fit.Fits.String(), "fit", "There is a place for every pod at once; the plan says where."},
		{fit.TooBig.String(), "fit", "Never: not even if the cluster were idle. The job has to change."},
		{fit.Full.String(), "fit", "Not now: others hold what is missing. On the idle cluster it would fit."},
		{fit.Fragmented.String(), "fit", "Not now: enough is free in total, but not together on single nodes."},
		{fit.Unknown.String(), "fit", "Not enough was seen to say; the answer names what was not. It is never a pass: the exit code of fit is 4."},
		{string(quota.RuleQueueMissing), "rule of a limit", "No queue will ever take the job up."},
		{string(quota.RuleQueueClosed), "rule of a limit", "The queue was stopped."},
		{string(quota.RuleQueueQuota), "rule of a limit", "The queue has less than the job asks for."},
		{string(quota.RuleObject), "rule of a limit", "The pods name an object that does not exist, and are refused."},
		{string(quota.RuleRange), "rule of a limit", "One pod or container is outside a LimitRange."},
		{string(quota.RuleShape), "rule of a limit", "A pod is larger than the queue takes."},
		{string(quota.RuleAmount), "rule of a limit", "A quota needs an amount that a container does not say."},
		{string(quota.RuleQuota), "rule of a limit", "The job in sum is above a ResourceQuota."},
		{string(quota.RuleMembers), "rule of a limit", "A pod group waits for more pods than the job has."},
		{string(quota.RuleDevices), "rule of a limit", "The pods claim more devices than are published."},
		{string(quota.RulePool), "rule of a limit", "The autoscaler may not add enough nodes."},
		{"now", "when a limit holds", "As long as others hold what it leaves."},
		{"never", "when a limit holds", "For good: the job or the limit has to change."},
		{string(gang.Paused), "state of a job", "Its author holds it back: no pods start."},
		{string(gang.Suspended), "state of a job", "Its queue holds it back: no pods start before the queue admits the job."},
		{"pending", "phase of a pod", "Created, and its containers do not run yet: it has no node, or its images, volumes or claims are not there. diagnose KIND/NAME says which, fit KIND/NAME what would make room."},
		{"waiting", "field of a diagnosis", "Why pods of the job do not run yet, and since when: also in the annotation signalbox.dev/waiting and in get jobs."},
		{"asked", "line of fit", "What the pods of a role ask for, each."},
		{"because", "line of fit", "Why nodes with room do not do."},
		{"limit", "line of fit", "What stops the job before the nodes are asked: a quota, a range, a queue."},
		{"running", "line of fit", "Pods of the job that have a place already: they keep it, and what they hold is not free for its other pods."},
		{"short", "line of fit", "A resource of which too little is free, with both numbers: in all, and on one node."},
		{"nodes", "line of fit", "Why nodes take none of the pods, and how many for each reason."},
		{"plan", "line of fit", "Where the pods would go: the node, and how many of them in brackets."},
		{"not selected", "why fit leaves a node out", "The node does not have the labels that nodeSelector or node affinity of the pods ask for: kubectl get nodes --show-labels."},
		{"too small", "why fit leaves a node out", "Even with nothing running on it, the node has less of some resource than one pod asks for."},
		{"full", "why fit leaves a node out", "The node is large enough for a pod, and others hold so much of it that none fits now."},
		{"not ready", "why fit leaves a node out", "The node does not report, or says itself that it is not ready: nothing new starts on it."},
		{"closed by ports, volumes or affinity", "why fit leaves a node out", "A host port is taken, a volume cannot be reached or attached there, or affinity, anti-affinity or a topologySpreadConstraint between pods forbids the node."},
		{"points", "part of diagnose --why", "What speaks for and against each possible cause, as a sum: the one with the most is the cause. What each reason gives is listed below it; they rank causes, and are no probability."},
		{"clocks", "term", "The times in logs are those of the machines that wrote them, and machines differ: times of one machine are compared as they are, those of several only as far apart as their clocks may be. Where that is too little, the order of two failures is not known."},
		{"preempts", "line of fit", "Whom kube-scheduler would evict, because the job has a higher priority."},
		{"change", "line of fit", "The smallest change of the job that would fit; those after or would, too."},
		{"idle", "line of fit", "With what change the job would fit once nothing runs on the nodes, where they never hold it as it is and nothing makes it fit now."},
		{"assumed", "line of fit", "What the answer takes for given, because the cluster or the snapshot does not say it. -o json has all of it."},
		{string(gang.Stopped), "state of a job", "Somebody ended it before its time: no pods start any more."},
		{"missing", "line of a diagnosis", "What could not be read, and why: the cause may stand there."},
		{"what to do", "line of a diagnosis", "Steps, with who has to act, and whether trying again helps."},
		{"after it", "line of a diagnosis", "How the other members ended, which followed from the first cause."},
		{"cause", "column of get jobs", "On a narrow terminal: what a job waits for, or else the category of what went wrong with it."},
		{"waits for", "column of get jobs", "What a job that has not started waits for, in few words; -o wide and diagnose say all of it."},
		{"since", "column of get jobs", "For how long the job has been in its state; of a job that waits, for how long it waits."},
		{"age", "column of get jobs", "For how long the job exists."},
		{"state", "column of get jobs", "What the job's operator says of it: Created, Running, Restarting, Suspended, Succeeded or Failed."},
		{"healthy", "column of get jobs", "What the controller says of the job: Yes, No or Unknown; -: it has not looked, or there is none."},
		{"category", "column of get jobs", "The sort of the first cause, by a slug: list categories says what each stands for. A question mark: it fits, and the cause was not shown."},
		{"devices", "column of get jobs", "How many GPUs, or other accelerators, the job asks for; 24/80 are 24 held of 80 asked for. A pod without a node holds nothing."},
		{"owner", "column of get jobs", "Who has to act on the cause: user, platform, hardware, network, storage or unknown. Not who submitted the job."},
		{"node", "column of get jobs", "The node of the pod that failed or waits first."},
		{"queue", "column of get jobs", "The queue that the job names: of Kueue, of Volcano."},
		{"hurt", "order of get jobs", "What costs most stands first (--sort-by hurt): jobs that are not healthy, by the devices they hold times how long they have been so; then those that wait, those that run, those that have ended."},
		{"GPUs held", "column of get jobs --group-by", "The GPUs, or other accelerators, of pods that have a node, of all jobs of the group together."},
		{"GPU hours", "column of get jobs --group-by", "The GPUs held times how long each job has been in its state, of all jobs of the group together."},
		{"for the author of the job", "who acts", "The cause is in the job or its program, so its author can mend it; nobody else has to."},
		{"cordoned", "state of a node", "Somebody has said that no new pods start on the node (kubectl cordon); those that run there go on. kubectl uncordon takes it back."},
		{"tainted", "state of a node", "The node takes only pods that tolerate its taint: it is kept for others, or something is wrong with it. kubectl describe node shows the taint, and a toleration in the pod template allows it."},
		{"says", "column of get jobs", "The wait of a job, or what is wrong with it, whole."},
		{"first pod", "column of get jobs", "The pod that failed or waits first, by the first cause; the others followed it."},
		{"fingerprint", "field of a diagnosis", "What is the same for the same failure, whatever pod, node and moment it had: equal ones are told once."},
		{"story", "field of a diagnosis", "What a language model, where one is configured, made of the evidence; each sentence was held against it."},
		{"coverage", "field of a diagnosis", "What was read: pods, bytes of logs, and what is missing."},
		{"retry", "field of a diagnosis", "Whether running the job again, unchanged, helps: helps, useless or unknown."},
		{"first cause", "field of a diagnosis", "What went wrong before everything else; root in JSON. What followed stands under effects."},
		{"gang", "term", "All pods that a job needs at the same time: they start together, or wait together."},
		{"rank", "term", "The number of a process among all of a job, as its launcher counts them; a pod of 8 GPUs has 8."},
		{"Yes", "health", "Nothing is wrong with the job, as far as was seen."},
		{"No", "health", "Something is wrong, and the diagnosis says what, or what it may be."},
		{"Unknown", "health", "Not enough was seen to say."},
		{"Created", "state of a job", "The operator knows the job; its pods have not all started."},
		{"Running", "state of a job", "The pods of the job run."},
		{"Restarting", "state of a job", "The operator starts the pods again after a failure."},
		{"Succeeded", "state of a job", "The job has ended well."},
		{"Failed", "state of a job", "The job has ended, and not well."},
		{"decision", "audit annotation", "allowed, warned or denied."},
		{"policy-revision", "audit annotation", "Of the set of policies that decided."},
		{"exempted", "audit annotation", "Policies that made an exception, and why."},
		{"not-checked", "audit annotation", "What was not checked, and why."},
		{"findings", "audit annotation", "Names of the checks and policies that spoke."},
		{"log", "evidence", "A line of a container's log."},
		{"event", "evidence", "An Event of the cluster."},
		{"status", "evidence", "What a status says of a job, a pod or another object."},
		{"exit", "evidence", "How a container ended."},
		{"node", "evidence", "What is known of a node."},
		{"metric", "evidence", "A measurement."},
		{"frame", "evidence", "A frame of a stack."},
		{controller.DiagnosisChanged, "reason of an Event", "The verdict or the cause is another than before."},
		{controller.StragglerSeen, "reason of an Event", "Some ranks take longer for a step than the rest; the job goes on."},
		{controller.BottleneckSeen, "reason of an Event", "What the job waits for, by the metrics of its pods and nodes; it goes on."},
		{controller.PromptInvalid, "reason of an Event", "The operator's template of a prompt does not parse or run; the built-in one was used."},
		{controller.ExplanationFailed, "reason of an Event", "The model did not answer; the finding stands without a story."},
		{controller.ExplanationLeftOut, "reason of an Event", "The evidence does not support all of what the model wrote; the note says how much is not shown, and why. A Warning where nothing is."},
		{controller.NominationRefused, "reason of an Event", "The line that the model named as the cause fails a test of the rules; the note says which."},
		{"PolicyLoaded", "reason of an Event", "The policies of a ConfigMap are in force."},
		{"PolicyBroken", "reason of an Event", "The policies of a ConfigMap do not load; the last good set stays."},
		{"SignatureLoaded", "reason of an Event", "The signatures of a ConfigMap are in force."},
		{"SignatureBroken", "reason of an Event", "A signature of a ConfigMap does not load; it stays as it was or is left out, and the others are in force."},
		{"PolicyBundleLoaded", "reason of an Event", "A bundle of policies from a registry is in force."},
		{"PolicyBundleBroken", "reason of an Event", "A bundle of policies from a registry does not load; the last good set stays."},
		{controller.JobHealthy, "reason of an Event", "The job ended well, or what was wrong is over."},
		{"no-queue", "fit", "The queue that the job names does not exist, so nobody will start it."},
		{"queue-closed", "fit", "The queue takes no jobs: somebody stopped it."},
		{"over-queue", "fit", "The queue has less than the job asks for, for good or now."},
		{"over-quota", "fit", "A ResourceQuota of the namespace has less than the job asks for, for good or now."},
		{"forbidden", "fit", "A pod or container is outside a LimitRange, or a ResourceQuota needs an amount that it does not name."},
		{"min-member-unmet", "fit", "The pod group waits for more pods than there are."},
		{"node-pool-limit", "fit", "The node pools may not add as many nodes as the job needs."},
		{"no-devices", "fit", "The pods claim more devices than the nodes publish."},
		{"no-volume", "fit", "A claim that the pods mount is missing, is being deleted, or has lost its volume."},
		{string(preflight.Allowed), "decision", "Nothing graver than a note was found."},
		{string(preflight.Warned), "decision", "The job is admitted, and something is worth changing."},
		{string(preflight.Denied), "decision", "A policy refuses the job in a namespace that enforces."},
		{string(preflight.Deny), "effect of a policy", "The policy refuses the job."},
		{string(preflight.Warn), "effect of a policy", "The policy only warns."},
		{finding.Error.String(), "severity", "The job cannot run, or will surely fail."},
		{finding.Warning.String(), "severity", "The job risks failing, waiting or wasting."},
		{finding.Note.String(), "severity", "The job runs; there is something to know."},
		{preflight.ModeOff, "mode of a namespace", "Nothing is reviewed."},
		{preflight.ModeWarn, "mode of a namespace", "Policies that deny only warn, unless they always deny. The default."},
		{preflight.ModeEnforce, "mode of a namespace", "Policies deny."},
		{string(diagnose.Healthy), "verdict of a diagnosis", "Everything that was seen is well."},
		{string(diagnose.Diagnosed), "verdict of a diagnosis", "Something is wrong, and the first cause is named."},
		{string(diagnose.Inconclusive), "verdict of a diagnosis", "Something is wrong, and the evidence does not decide what; up to three candidates are named."},
		{string(diagnose.Unknown), "verdict of a diagnosis", "Too little was seen to say."},
		{string(diagnose.Established), "standing of a cause", "The platform says so, or two independent sources agree."},
		{string(diagnose.Supported), "standing of a cause", "One source says so."},
		{"grounded", "sentence of a model", "It cites evidence that was read, and says nothing that the evidence contradicts."},
		{"ungrounded", "sentence of a model", "Nothing that was read supports it: it is left out, or stands apart as not supported."},
		{"kept evidence", "part of an answer", "Logs and ends of containers that are gone: the controller keeps them in ConfigMaps signalbox-evidence-… beside the job."},
		{"evidence", "part of an answer", "The lines, Events and states that the answer rests on; [1] in a sentence stands for the first of them."},
		{"missing", "part of an answer", "What could not be read, and why: a cause may be in it."},
		{string(diagnose.Hypothesis), "standing of a cause", "It fits what was seen; other causes do too."},
		{string(signature.Root), "role of a signature", "It may be the first cause."},
		{string(signature.Cascade), "role of a signature", "Another member failed first; this one felt it."},
		{string(signature.Confirmation), "role of a signature", "It supports a cause and is none itself."},
		{string(signature.Context), "role of a signature", "It is advice, and never a cause."},
		{string(signature.Helps), "trying again", "The same job may succeed when it is started again."},
		{string(signature.Useless), "trying again", "The same job fails again unless something is changed."},
		{string(signature.RetryUnknown), "trying again", "Nobody can say whether it helps."},
		{preflight.UnreadableField, "finding", "A field cannot be read: the message says what is written and what was expected. What rests on it was not checked."},
		{"ignore-annotation", "finding", "signalbox.dev/ignore has no effect: it names no check, or there is no signalbox.dev/ignore-reason."},
		{"namespace-mode", "finding", "The label signalbox.dev/mode has a value that means nothing; it is treated as warn."},
		{"namespace-missing", "finding", "The namespace does not exist, so the API server refuses the job. Only check and fit say so."},
		{dryrun.Check, "finding", "What the API server and the cluster's webhooks say in a dry run of the job and of one pod of each role (check --server)."},
		{"unreadable-input", "finding", "A file or document cannot be read (in SARIF and JUnit; elsewhere it is under errors)."},
		{"all", "not checked", "Nothing of the job was checked; the reason stands beside it."},
		{"cluster", "not checked", "The cluster that the kubeconfig names did not answer."},
		{"policies", "not checked", "The policies of the cluster may not be read, or do not load."},
	}
	for owner, text := range ownerTexts {
		out = append(out, Word{owner, "owner of a cause", strings.ToUpper(text[:1]) + text[1:] + "."})
	}
	slices.SortStableFunc(out, func(a, b Word) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.What, b.What))
	})
	return out
}

func wordShelf() Shelf {
	return Shelf{
		Name:    "words",
		About:   "Verdicts, decisions, severities and the other words that outputs hold.",
		Columns: []string{"name", "is a", "meaning"},
		Entries: func() ([]Entry, error) { return each(Words(), Word.entry), nil },
	}
}

// annotationList is what Signalbox writes on objects and reads from them.
func annotationList() []Word {
	return []Word{
		{controller.Healthy, "annotation of a job", "Yes, No or Unknown. Written by the controller."},
		{controller.Error, "annotation of a job", "One sentence: which pod, which rank, which node, what. Written by the controller."},
		{controller.Analysis, "annotation of a job", "Why, each claim with the evidence it rests on. Written by the controller."},
		{controller.Solution, "annotation of a job", "What to do, in steps. Written by the controller."},
		{controller.Diagnosis, "annotation of a job", "The same for machines, as compact JSON. Written by the controller."},
		{controller.Waiting, "annotation of a job", "Why the job has not started. Written by the controller and removed once all pods run."},
		{controller.Attempts, "annotation of a job", "The attempts that failed: when, of what, on which node, and what they took, as compact JSON. Written by the controller."},
		{controller.Warned, "annotation of a job", "What admission said of the job, and what became of it, as compact JSON. Written by the controller."},
		{webhook.ReviewAnnotation, "annotation of a job", "What a review found after the job had been admitted without a whole one. Written by the sweep."},
		{controller.Ask, "annotation of a job", "Any new value asks for a diagnosis now. Written by users."},
		{controller.Confirm, "annotation of a job", "Says that the line which a model named was the cause: yes, no, or the category that it really was. Read by signalbox learn. Written by users."},
		{check.IgnoreAnnotation, "annotation of a job", "Names of checks that are not to speak about the job; needs a reason beside it. Policies hear of them all the same. Written by users."},
		{check.ReasonAnnotation, "annotation of a job", "Why checks are ignored; without it nothing is. Written by users."},
		{webhook.AskAnnotation, "annotation of a job", "In a dry run, \"review\" asks for the whole review as one warning for a program; check, fit and doctor write it."},
		{preflight.ModeLabel, "label of a namespace", "off, warn or enforce: what policies may do there."},
		{"signalbox.dev/llm", "label of a namespace", "enabled lets masked logs of its jobs leave the cluster for a model."},
		{webhook.ClosedLabel, "label of a namespace", "closed: where it enforces, and signalbox-closed is installed, its jobs are refused while no replica answers."},
		{"signalbox.dev/monitoring", "label of a namespace", "true lets its pods read the metrics, where the network policy is installed. Of the namespace of Prometheus."},
		{webhook.PolicyErrorAnnotation, "annotation of a ConfigMap", "Why the policies in it do not load. Written by the webhook."},
		{controller.SignatureErrorAnnotation, "annotation of a ConfigMap", "Why signatures in it do not load. Written by the controller."},
		{controller.SignatureLabel, "label of a ConfigMap", "true: it holds signatures. In the namespace of Signalbox."},
		{keep.About, "annotation of a ConfigMap", "KIND/NAME of the job that its evidence is of, for people. Written by the controller."},
		{keep.Summary, "annotation of a ConfigMap", "What is kept in it, for people. Written by the controller."},
		{manifest.UnservedAnnotation, "annotation of a snapshot", "The resources that the cluster's API does not have: what reads them, Kueue say, is not installed. Written by snapshot."},
		{manifest.CompleteAnnotation, "annotation of a snapshot", "The resources of which it holds every object: what is not in it does not exist, and is not unknown. Written by snapshot."},
		{manifest.ObjectsAnnotation, "annotation of a snapshot", "How many objects it holds: a file that was cut off is found out. Written by snapshot."},
		{manifest.TakenAnnotation, "annotation of a snapshot", "When it was taken. Written by snapshot."},
		{keep.Label, "label of a ConfigMap", "true: it holds what is kept of ended containers, or of the last good run. Written by the controller."},
		{webhook.PolicyLabel, "label of a ConfigMap", "true: it holds policies. In the namespace of Signalbox."},
	}
}

func annotationShelf() Shelf {
	return Shelf{
		Name:    "annotations",
		About:   "Annotations and labels that Signalbox writes and reads.",
		Columns: []string{"name", "where", "meaning"},
		Entries: func() ([]Entry, error) { return each(annotationList(), Word.entry), nil },
	}
}

// exitCodes are the exit codes of all commands.
func exitCodes() []Word {
	code := func(n int, meaning string) Word { return Word{strconv.Itoa(n), "exit code", meaning} }
	return []Word{
		code(shell.ExitFine, "Nothing at or above --fail-on (check), it fits (fit), a diagnosis was made (diagnose), healthy (diagnose --exit-code)."),
		code(shell.ExitFindings, "Findings or a denial (check), it never will fit (fit), not healthy (diagnose --exit-code), something is wrong (doctor)."),
		code(shell.ExitUsage, "Bad usage, input that cannot be read, rights that you lack, or a cluster that has to be asked and does not answer; one line on standard error says what was expected."),
		code(shell.ExitOurs, "A failure of Signalbox's own, or a connection to a cluster that broke."),
		code(shell.ExitUnknown, "The answer that was asked for is unknown: fit, check --require-cluster, check and fit where the cluster of the kubeconfig does not answer, diagnose --exit-code, a part that doctor could not look at, a kind whose jobs the API server did not list (audit, get jobs), or not in time."),
		code(shell.ExitBusy, "The only objection is that the cluster is busy now, or that nodes are away; trying later may help."),
		code(128+2, "Interrupted from the keyboard."),
		code(128+15, "Told to stop."),
	}
}

func exitCodeShelf() Shelf {
	return Shelf{
		Name:    "exit-codes",
		About:   "Exit codes of the commands; scripts branch on them.",
		Columns: []string{"name", "is a", "meaning"}, spare: []int{1},
		Entries: func() ([]Entry, error) { return each(exitCodes(), Word.entry), nil },
	}
}
