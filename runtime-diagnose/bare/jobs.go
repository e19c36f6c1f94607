package bare

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// OfJob is the part of what was given that is about one job, or about an object that no job is known of.
type OfJob struct {
	Job    job.Ref // its name and namespace, as far as they are said; Kind is that of an object of no job, and else empty
	Bundle evidence.Bundle
}

// ByJob takes a bundle of files apart by the jobs whose pods are in it, in the order in which they come first. Nil: they are of
// one job, or it is not known that they are of more: a log of which no pod is known may be any job's, and names that follow no
// operator's form may be one gang's.
//
// A text keeps its lines under their numbers.
func ByJob(b *evidence.Bundle) []OfJob {
	if b.Job != nil || slices.ContainsFunc(b.Logs, func(l evidence.ContainerLog) bool { return !l.Pasted && l.Source.Pod == "" }) {
		return nil
	}
	d := &division{known: map[[2]string][]*thing{}, jobs: map[job.Ref][]*thing{}}
	if !d.read(b) || !d.byJob() {
		return nil
	}
	out := make([]OfJob, 0, len(d.order))
	for _, ref := range d.order {
		out = append(out, OfJob{ref, d.part(b, ref)})
	}
	return out
}

// thing is an object that a line is about.
type thing struct {
	kind, namespace, name string // the kind in small letters: kubectl prints it in either way
	labels                map[string]string
	owner                 string   // KIND/NAME of its controller
	nodes                 []string // that a pod is on
	jobs                  []job.Ref
}

func (t *thing) isNode() bool { return t.kind == "node" }

// pastedText is a text and what each line of it is about; nil: all that it holds, as a header is.
type pastedText struct {
	name  string
	lines [][]byte
	about []*thing
}

// division is how a bundle is taken apart.
type division struct {
	things             []*thing
	known              map[[2]string][]*thing // by kind and name
	pods, events, logs []*thing               // what those of the bundle are about; nil: a text holds them
	texts              []pastedText
	order              []job.Ref
	jobs               map[job.Ref][]*thing
}

// one is the thing of a kind and name. Texts that leave the namespace out speak of the first that is called so.
func (d *division) one(t thing) *thing {
	key := [2]string{t.kind, t.name}
	at := slices.IndexFunc(d.known[key], func(have *thing) bool { return have.namespace == t.namespace })
	if at < 0 {
		at = slices.IndexFunc(d.known[key], func(have *thing) bool { return have.namespace == "" || t.namespace == "" })
	}
	if at < 0 {
		at = len(d.known[key])
		d.known[key] = append(d.known[key], &thing{kind: t.kind, namespace: t.namespace, name: t.name})
		d.things = append(d.things, d.known[key][at])
	}
	to := d.known[key][at]
	to.namespace, to.owner = cmp.Or(to.namespace, t.namespace), cmp.Or(to.owner, t.owner)
	if to.labels == nil {
		to.labels = t.labels
	}
	for _, node := range t.nodes {
		if node != "" && !slices.Contains(to.nodes, node) {
			to.nodes = append(to.nodes, node)
		}
	}
	return to
}

// read lists what is spoken of; false: a text cannot be read again, or there is nothing but logs.
func (d *division) read(b *evidence.Bundle) bool {
	d.pods, d.events, d.logs = make([]*thing, len(b.Pods)), make([]*thing, len(b.Events)), make([]*thing, len(b.Logs))
	for i := range b.Pods {
		if p := &b.Pods[i]; !fromText(p.Annotations) {
			d.pods[i] = d.one(ofPod(p))
		}
	}
	for i := range b.Events {
		if e := &b.Events[i]; !fromText(e.Annotations) {
			d.events[i] = d.one(ofEvent(e))
		}
	}
	for i := range b.Logs {
		l := &b.Logs[i]
		if !l.Pasted {
			continue
		}
		in, err := l.Open()
		if err != nil {
			return false
		}
		data, err := io.ReadAll(in)
		_ = in.Close() // only read from
		if err != nil {
			return false
		}
		d.texts = append(d.texts, d.readText(l.Source.File, data))
	}
	if len(d.things) == 0 {
		return false
	}
	for i := range b.Logs {
		if l := &b.Logs[i]; !l.Pasted {
			d.logs[i] = d.one(thing{kind: "pod", name: l.Source.Pod})
		}
	}
	return true
}

// readText says what each line of a text is about. What is not understood goes on with what stands above it.
func (d *division) readText(name string, data []byte) pastedText {
	t := &text{name: name, part: Part{Text: true}}
	out := pastedText{name: name}
	for line := range bytes.Lines(data) {
		t.number++
		t.line(lineOfText(line))
		out.lines, out.about = append(out.lines, line), append(out.about, t.about)
	}
	whole := map[*thing]*thing{} // what a description says of labels stands behind its name
	for i, about := range out.about {
		if about == nil {
			continue
		}
		if whole[about] == nil {
			whole[about] = d.one(*about)
		}
		out.about[i] = whole[about]
	}
	return out
}

func fromText(annotations map[string]string) bool { return annotations[control.OriginFile] != "" }

func ofPod(p *corev1.Pod) thing {
	t := thing{kind: "pod", namespace: p.Namespace, name: p.Name, labels: p.Labels, nodes: []string{p.Spec.NodeName}}
	if owner := metav1.GetControllerOf(p); owner != nil {
		t.owner = owner.Kind + "/" + owner.Name
	}
	return t
}

// assigned is what the scheduler says of a pod it has placed
// (https://github.com/kubernetes/kubernetes/blob/v1.34.0/pkg/scheduler/schedule_one.go, "Successfully assigned %v/%v to %v").
var assigned = regexp.MustCompile(`^Successfully assigned ([a-z0-9-]+)/(\S+) to (\S+)`)

func ofEvent(e *corev1.Event) thing {
	t := thing{kind: strings.ToLower(e.InvolvedObject.Kind), namespace: cmp.Or(e.InvolvedObject.Namespace, e.Namespace), name: e.InvolvedObject.Name}
	t.readAssigned(e.Message)
	return t
}

func (t *thing) readAssigned(message string) {
	if m := assigned.FindStringSubmatch(message); m != nil && m[2] == t.name {
		t.namespace, t.nodes = m[1], append(t.nodes, m[3])
	}
}

// How operators name pods, behind the name of the job. Where nothing but the number of a replica stands behind its role the job's
// name is all before; else it is a part of that: replicated jobs, worker groups and the Jobs between have names of their own.
var (
	// Kubeflow's training operator, Volcano's and others: JOB-ROLE-INDEX
	// (https://github.com/kubeflow/trainer/blob/v1.9.0/pkg/controller.v1/common/pod.go, https://github.com/kubeflow/mpi-operator/blob/v0.6.0/pkg/controller/mpi_job_controller.go).
	ofRole = regexp.MustCompile(`^(.+)-(?:master|worker|launcher|chief|ps|evaluator|server|scheduler)-\d+$`)
	// The launcher of an MPIJob, which is a Job's, and KubeRay's head: CLUSTER-head-HASH (https://github.com/ray-project/kuberay/blob/v1.4.0/ray-operator/controllers/ray/utils/util.go, PodName).
	ofHead = regexp.MustCompile(`^(.+)-(?:launcher|head)-` + hash + `$`)
	// JobSet: JOBSET-REPLICATEDJOB-JOBINDEX-PODINDEX-HASH (https://jobset.sigs.k8s.io/docs/concepts/).
	ofJobSet = regexp.MustCompile(`^(.+)-[a-z0-9]+-\d+-\d+-` + hash + `$`)
	// A Job: JOB-HASH, or JOB-INDEX-HASH (https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode).
	ofBatch = regexp.MustCompile(`^(.+?)(?:-\d+)?-` + hash + `$`)
	// LeaderWorkerSet: LWS-GROUP-INDEX (https://lws.sigs.k8s.io/docs/concepts/).
	ofGroup = regexp.MustCompile(`^(.+)-\d+-\d+$`)
)

// hash is what the API server puts behind a generated name
// (https://github.com/kubernetes/apimachinery/blob/v0.34.0/pkg/util/rand/rand.go, alphanums).
const hash = `[bcdfghjklmnpqrstvwxz2456789]{5}`

// job is the name of the job that a thing is of, and whether that is sure to be all of it; empty: nothing says it.
func (t *thing) job() (name string, whole bool) {
	if _, name, whole = kinds.JobOf(labels.Set(t.labels)); name != "" {
		return name, whole
	}
	kind, name, _ := strings.Cut(t.owner, "/")
	if t.kind != "pod" {
		kind, name = t.kind, t.name
	}
	if strings.EqualFold(kind, "Job") || strings.EqualFold(kind, "RayCluster") {
		return name, false
	}
	if slices.ContainsFunc(kinds.All(), func(k *kinds.Kind) bool { return strings.EqualFold(k.Name, kind) }) {
		return name, true
	}
	if t.kind != "pod" {
		return "", false
	}
	if m := ofRole.FindStringSubmatch(t.name); m != nil {
		return m[1], true
	}
	for _, form := range []*regexp.Regexp{ofHead, ofJobSet, ofBatch, ofGroup} {
		if m := form.FindStringSubmatch(t.name); m != nil {
			return m[1], false
		}
	}
	return "", false
}

// byJob gives the things to jobs; false: there is one at most.
func (d *division) byJob() bool {
	d.placeUnnamed()
	var spaces []string
	for _, t := range d.things {
		if !t.isNode() && !slices.Contains(spaces, t.namespace) {
			spaces = append(spaces, t.namespace)
		}
	}
	for _, ns := range spaces {
		d.inNamespace(ns)
	}
	if len(d.order) < 2 {
		return false
	}
	for _, t := range d.things {
		if t.isNode() {
			d.giveNode(t)
		} else if len(t.jobs) == 0 {
			d.give(t, job.Ref{Namespace: t.namespace, Kind: t.kind, Name: t.name}) // of none that is known: it stands alone
		}
	}
	return true
}

// placeUnnamed gives things without a namespace the one that all others are in.
func (d *division) placeUnnamed() {
	var named []string
	for _, t := range d.things {
		if t.namespace != "" && !t.isNode() && !slices.Contains(named, t.namespace) {
			named = append(named, t.namespace)
		}
	}
	for _, t := range d.things {
		if t.namespace == "" && !t.isNode() && len(named) == 1 {
			t.namespace = named[0]
		}
	}
}

// under says whether a name is another one, or begins with it as a name that was made of it does.
func under(name, stem string) bool { return name == stem || strings.HasPrefix(name, stem+"-") }

// inNamespace tells the jobs of a namespace apart. Names that are whole are jobs. One that is not joins those that it may be a part
// of; what follows no form joins the job that its name begins with, and otherwise stays with all others of that sort: if there is
// one job alone, with that.
func (d *division) inNamespace(ns string) {
	var stems []string // of jobs
	var parts []*thing
	for _, t := range d.things {
		if t.namespace != ns || t.isNode() {
			continue
		}
		switch name, whole := t.job(); {
		case whole:
			if !slices.Contains(stems, name) {
				stems = append(stems, name)
			}
		case name != "":
			parts = append(parts, t)
		}
	}
	whole := len(stems)
	for _, t := range parts {
		name, _ := t.job()
		if longest(stems[:whole], func(s string) bool { return under(name, s) || under(s, name) }) != "" {
			continue
		}
		// Replicated jobs of one JobSet share its name, and no more is known of how long that is.
		first, _, _ := strings.Cut(name, "-")
		at := slices.IndexFunc(stems[whole:], func(s string) bool {
			other, _, _ := strings.Cut(s, "-")
			return under(name, s) || under(s, name) || other == first
		})
		if at < 0 {
			stems = append(stems, name)
		} else if len(name) < len(stems[whole+at]) {
			stems[whole+at] = name
		}
	}
	var rest []*thing
	for _, t := range d.things {
		if t.namespace != ns || t.isNode() {
			continue
		}
		name, isWhole := t.job()
		stem := name
		if !isWhole {
			of := cmp.Or(name, t.name)
			stem = longest(stems, func(s string) bool { return under(of, s) || name != "" && under(s, of) })
			if first, _, _ := strings.Cut(of, "-"); stem == "" && name != "" {
				stem = longest(stems[whole:], func(s string) bool { return under(s, first) })
			}
		}
		switch {
		case stem != "":
			d.give(t, job.Ref{Namespace: ns, Name: stem})
		case t.kind == "pod":
			rest = append(rest, t)
		}
	}
	if len(rest) == 0 {
		return
	}
	to := job.Ref{Namespace: ns, Name: rest[0].name}
	if len(stems) == 1 {
		to.Name = stems[0]
	}
	for _, t := range rest {
		d.give(t, to)
	}
}

// longest is the longest of the names that fit; empty: none does.
func longest(names []string, fits func(string) bool) (found string) {
	for _, s := range names {
		if fits(s) && len(s) > len(found) {
			found = s
		}
	}
	return found
}

func (d *division) give(t *thing, to job.Ref) {
	if _, known := d.jobs[to]; !known {
		d.order = append(d.order, to)
	}
	t.jobs, d.jobs[to] = append(t.jobs, to), append(d.jobs[to], t)
}

// giveNode gives what is said of a node to the jobs that have a pod there. On one of which no job's pod is known it stands alone.
func (d *division) giveNode(node *thing) {
	for _, to := range slices.Clone(d.order) {
		if slices.ContainsFunc(d.jobs[to], func(t *thing) bool { return slices.Contains(t.nodes, node.name) }) {
			d.give(node, to)
		}
	}
	if len(node.jobs) == 0 {
		d.give(node, job.Ref{Kind: "Node", Name: node.name})
	}
}

// part is what is said of one job.
func (d *division) part(b *evidence.Bundle, ref job.Ref) evidence.Bundle {
	own := func(t *thing) bool { return t != nil && slices.Contains(t.jobs, ref) }
	out := evidence.Bundle{Cluster: b.Cluster, Missing: slices.Clip(b.Missing), Now: b.Now}
	for i := range b.Pods {
		if own(d.pods[i]) {
			out.Pods = append(out.Pods, b.Pods[i])
		}
	}
	for i := range b.Events {
		if own(d.events[i]) {
			out.Events = append(out.Events, b.Events[i])
		}
	}
	for i := range b.Nodes {
		on := func(t *thing) bool { return slices.Contains(t.nodes, b.Nodes[i].Name) }
		if !fromText(b.Nodes[i].Annotations) && slices.ContainsFunc(d.jobs[ref], on) {
			out.Nodes = append(out.Nodes, b.Nodes[i])
		}
	}
	for _, o := range b.Objects {
		if o.GetNamespace() == ref.Namespace && under(o.GetName(), ref.Name) {
			out.Objects = append(out.Objects, o)
		}
	}
	for i := range b.Logs {
		if own(d.logs[i]) {
			out.Logs = append(out.Logs, b.Logs[i])
		}
	}
	for _, t := range d.texts {
		var kept bytes.Buffer
		var numbers []int
		speaks := false
		for i, line := range t.lines {
			if about := t.about[i]; about == nil || own(about) {
				speaks = speaks || about != nil
				kept.Write(line)
				numbers = append(numbers, i+1)
			}
		}
		if speaks {
			addText(&out, t.name, kept.Bytes(), numbers, readText(t.name, kept.Bytes(), b.Now, numbers))
		}
	}
	return out
}
