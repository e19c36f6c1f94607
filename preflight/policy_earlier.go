package preflight

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// EarlierFacts are the runs that came before a job: jobs of its kind and namespace that have ended and
// bear its name, come from its generateName, or have its controller (a CronJob).
type EarlierFacts struct {
	Known bool `json:"known"` // false: not looked at
	// Runs are the newest first.
	Runs []RunFacts `json:"runs"`
	More int        `json:"more"` // older ones that found no room
	// FailuresInARow are the newest runs up to the last that did not fail.
	FailuresInARow int `json:"failures_in_a_row"`
	// GPUSecondsFailed is what the runs that failed have held, as far as that is known.
	GPUSecondsFailed int64 `json:"gpu_seconds_failed"`
}

// RunFacts is how one run ended, by its status and by what the diagnosis wrote on it. Texts are empty,
// and numbers 0, where that is not known.
type RunFacts struct {
	Name       string `json:"name"`
	Ended      string `json:"ended"`       // RFC 3339 in UTC
	Phase      string `json:"phase"`       // succeeded, failed, or stopped: a user asked for it
	Category   string `json:"category"`    // of the failure, as the diagnosis names it
	Signature  string `json:"signature"`   // that told the first cause
	Standing   string `json:"standing"`    // of that cause: proven, likely …
	Owner      string `json:"owner"`       // the domain that has to act
	Retry      string `json:"retry"`       // whether running it again, unchanged, helps
	Line       string `json:"line"`        // the line that says so, masked; 200 characters at most
	Attempts   int64  `json:"attempts"`    // how often it began; 0: its status does not say
	GPUSeconds int64  `json:"gpu_seconds"` // GPUs asked for, times how long it ran
	// GPUSecondsKnown is false where the status does not say when it began, or the GPUs are not known.
	GPUSecondsKnown bool `json:"gpu_seconds_known"`
}

const (
	mostEarlier     = 16  // runs in one input
	mostEarlierText = 200 // characters of one text
	// mostName is how long a name is (k8s.io/apimachinery, pkg/util/validation, DNS1123SubdomainMaxLength). The API server bounds no
	// name of an owner, and a series is known when its jobs are gone.
	mostName = 253
)

const (
	runSucceeded = "succeeded"
	runFailed    = "failed"
	runStopped   = "stopped"
)

// diagnosisAnnotation is where the controller writes what it found, as compact JSON.
const diagnosisAnnotation = "signalbox.dev/diagnosis"

// EarlierOf puts runs together, in whatever order they come; older is how many more there were.
func EarlierOf(runs []RunFacts, older int) EarlierFacts {
	out := EarlierFacts{Known: true, Runs: append([]RunFacts{}, runs...)}
	slices.SortFunc(out.Runs, func(a, b RunFacts) int {
		return cmp.Or(cmp.Compare(b.Ended, a.Ended), cmp.Compare(a.Name, b.Name))
	})
	if out.More = older; len(out.Runs) > mostEarlier {
		out.More += len(out.Runs) - mostEarlier
		out.Runs = out.Runs[:mostEarlier]
	}
	inARow := true
	for i := range out.Runs {
		r := &out.Runs[i]
		if inARow = inARow && r.Phase == runFailed; inARow {
			out.FailuresInARow++
		}
		if r.Phase == runFailed {
			out.GPUSecondsFailed = saturate.Add(out.GPUSecondsFailed, r.GPUSeconds)
		}
	}
	return out
}

// lack says why runs may be missing; empty: they are whole.
func (e *EarlierFacts) lack() []Lack {
	if e == nil || !e.Known || len(e.Runs) == 0 && e.More > 0 {
		return []Lack{{"earlier", "earlier runs were not looked at"}}
	}
	for i := range e.Runs {
		if e.Runs[i].Phase == runFailed && !e.Runs[i].GPUSecondsKnown {
			return []Lack{{"earlier.gpu_seconds_failed", "how long " + e.Runs[i].Name + " held its GPUs is not known"}}
		}
	}
	if e.More > 0 {
		return []Lack{{"earlier.gpu_seconds_failed", "there are older runs"}}
	}
	return nil
}

// Series are the names under which a job's runs are known together, in its kind and namespace.
func Series(o *unstructured.Unstructured) []string {
	under := o.GroupVersionKind().GroupKind().String() + "/" + o.GetNamespace() + "/"
	var out []string
	if name := o.GetName(); name != "" {
		out = append(out, under+"name/"+name)
	}
	if name := o.GetGenerateName(); name != "" {
		out = append(out, under+"generateName/"+name)
	}
	if owner := metav1.GetControllerOfNoCopy(o); owner != nil && len(owner.Kind) <= mostName && len(owner.Name) <= mostName {
		out = append(out, under+"owner/"+owner.Kind+"/"+owner.Name)
	}
	return out
}

// RunOf is how a job ended; false: it has not, or that is not known. The annotation of the diagnosis is
// written by the controller; an account that may change a job may change it as well.
func RunOf(o *unstructured.Unstructured) (run RunFacts, ended bool) {
	kind := kinds.For(o.GroupVersionKind())
	if kind == nil || kind.State == nil {
		return run, false
	}
	defer func() {
		if recover() != nil { // a status that cannot be read has not ended
			run, ended = RunFacts{}, false
		}
	}()
	state := kind.State(o)
	run.Name = o.GetName()
	switch {
	case state.Phase == kinds.Succeeded:
		run.Phase = runSucceeded
	case state.Stopped():
		run.Phase = runStopped
	case state.Phase == kinds.Failed:
		run.Phase = runFailed
	default:
		return run, false
	}
	end, endKnown := instant(cmp.Or(state.Since, textAt(o, "status", "completionTime")))
	if endKnown {
		run.Ended = end.Format(time.RFC3339)
	}
	run.Attempts = attemptsOf(o)
	run.diagnosed(o)
	began, beganKnown := instant(textAt(o, "status", "startTime"))
	j, err := read(kind, o, nil)
	if err != nil || !endKnown || !beganKnown || end.Before(began) || j == nil || j.RuntimeUnread() != nil {
		return run, true
	}
	run.GPUSeconds, run.GPUSecondsKnown = saturate.Mul(j.GPUs(), int64(end.Sub(began)/time.Second)), true
	return run, true
}

// diagnosed fills in what the diagnosis wrote on a job. One from before the job was created came with
// an object that was exported and created again.
func (r *RunFacts) diagnosed(o *unstructured.Unstructured) {
	var d struct {
		Category   string `json:"category"`
		ObservedAt string `json:"observedAt"`
		Root       struct {
			Signature string `json:"signature"`
			Standing  string `json:"standing"`
			Owner     string `json:"owner"`
			Retry     string `json:"retry"`
			Line      string `json:"line"`
		} `json:"root"`
	}
	if json.Unmarshal([]byte(o.GetAnnotations()[diagnosisAnnotation]), &d) != nil {
		return
	}
	if at, known := instant(d.ObservedAt); !known || at.Before(o.GetCreationTimestamp().Truncate(time.Second)) {
		return
	}
	r.Category, r.Signature, r.Standing = words.Clip(d.Category, mostEarlierText), words.Clip(d.Root.Signature, mostEarlierText), words.Clip(d.Root.Standing, mostEarlierText)
	r.Owner, r.Retry = words.Clip(d.Root.Owner, mostEarlierText), words.Clip(d.Root.Retry, mostEarlierText)
	r.Line = words.Clip(redact.Text(d.Root.Line), mostEarlierText)
}

// restartPlaces are where operators write how often a job began again: JobSet
// (sigs.k8s.io/jobset api/jobset/v1alpha2, JobSetStatus.Restarts), Volcano (volcano.sh/apis
// pkg/apis/batch/v1alpha1, JobStatus.RetryCount), FrameworkController
// (pkg/apis/frameworkcontroller/v1, RetryPolicyStatus.TotalRetriedCount).
var restartPlaces = []job.Path{"status.restarts", "status.retryCount", "status.retryPolicyStatus.totalRetriedCount"}

func attemptsOf(o *unstructured.Unstructured) int64 {
	for _, at := range restartPlaces {
		if n, ok := job.Whole((&job.Job{Source: o}).Field(at)); ok && n >= 0 {
			return saturate.Add(n, 1)
		}
	}
	return 0
}

func textAt(o *unstructured.Unstructured, fields ...string) string {
	text, _, _ := unstructured.NestedString(o.Object, fields...)
	return text
}

func instant(text string) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	return at.UTC(), err == nil
}

// inNamespace leaves out runs that ended before the namespace was made: they were of another one that had its name, and maybe of
// other people. Where the oldest is one of those, so are all that are older.
func (e *EarlierFacts) inNamespace(view *cluster.Snapshot, name string) *EarlierFacts {
	if e == nil || len(e.Runs) == 0 {
		return e
	}
	n, there := view.Lookup(namespaceKind, "", name)
	if there != job.Present {
		return e
	}
	made := n.GetCreationTimestamp() // zero where it is not known: nothing ended before
	of := slices.DeleteFunc(slices.Clone(e.Runs), func(r RunFacts) bool {
		end, known := instant(r.Ended)
		return known && end.Before(made.Time)
	})
	if len(of) == len(e.Runs) {
		return e
	}
	out := EarlierOf(of, 0)
	out.Known = e.Known
	return &out
}

// earlierIn are the runs that a view of the cluster holds; nil: it does not hold the jobs.
func earlierIn(req Request) *EarlierFacts {
	if req.Earlier != nil || req.Cluster == nil || req.Object == nil {
		return req.Earlier
	}
	jobs, whole := req.Cluster.Objects(req.Object.GroupVersionKind().GroupKind(), req.Object.GetNamespace())
	if !whole && len(jobs) == 0 {
		return nil
	}
	own := Series(req.Object)
	var runs []RunFacts
	for _, o := range jobs {
		if req.Object.GetUID() != "" && o.GetUID() == req.Object.GetUID() || !slices.ContainsFunc(Series(o), func(s string) bool { return slices.Contains(own, s) }) {
			continue
		}
		if run, ended := RunOf(o); ended {
			runs = append(runs, run)
		}
	}
	out := EarlierOf(runs, 0)
	out.Known = whole
	return &out
}
