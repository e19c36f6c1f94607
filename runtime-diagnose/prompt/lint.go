package prompt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/check"
)

// Fault is what is wrong with a template. One that is fatal keeps the template from being used at all:
// the built-in one stands in for it.
type Fault struct {
	Fatal bool
	Text  string
}

// ofRoles are the names that every role of a job brings, with the role's name before them.
var ofRoles = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*(?:Expected|CreatedCount|Status|Diagnosis)$`)

// ofJobs are the names that every job has. Those of the roles that aegis documents are there for each, too.
var ofJobs = []string{"JobName", "JobKind", "Namespace", "JobStatus", "JobReason", "Roles"}

// evident are the fields in which evidence stands: what an answer may cite.
var evident = []string{"ErrorInfo", "EventInfo", "LogInfo"}

// Lint reads a template as the server would and runs it on a job of each shape that there is: with two
// roles and evidence, with one role of another name, and with nothing at all. It says what would keep the
// template from being used, which names nothing ever fills, and whether the model would see no evidence.
func Lint(name, text string) []Fault {
	t, err := Parse(name, text)
	if err != nil {
		return []Fault{{Fatal: true, Text: err.Error()}}
	}
	var out []Fault
	for _, d := range samples() {
		if _, err := t.Render(d); err != nil {
			return []Fault{{Fatal: true, Text: err.Error()}}
		}
	}
	r := &run{}
	if _, err := t.compile(r); err != nil {
		return []Fault{{Fatal: true, Text: err.Error()}}
	}
	shows := false
	for _, n := range slices.Sorted(maps.Keys(r.names)) {
		switch {
		case slices.Contains(evident, n) || diagnosis.MatchString(n):
			shows = true
		case n == "Language":
		case n == "Keywords" || n == "RawAlert":
			out = append(out, Fault{Text: fmt.Sprintf("%s is always empty: only aegis' own prompts for logs and alerts fill it", n)})
		case n == "Metadata" || slices.Contains(ofJobs, n) || ofRoles.MatchString(n):
		default:
			if _, ok := documented()[n]; !ok && nameLike.MatchString(n) {
				out = append(out, Fault{Text: fmt.Sprintf("no job has %s, which prints as nothing%s", n, check.DidYouMean(n, everyName()))})
			}
		}
	}
	if !shows {
		out = append(out, Fault{Text: "it shows no evidence (ErrorInfo, EventInfo, LogInfo or the Diagnosis of a role), so nothing that a model answers can be supported, and nothing of it would be shown"})
	}
	return out
}

var (
	diagnosis = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*Diagnosis$`)
	// nameLike is what can be a key of Metadata: other strings of a template are formats and words.
	nameLike = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// everyName are the names that a slip may have meant.
func everyName() []string {
	return slices.Concat(ofJobs, evident, slices.Sorted(maps.Keys(documented())))
}

// samples are jobs of different shapes, as templates see them.
func samples() []Data {
	gang := documented()
	maps.Copy(gang, map[string]any{
		"JobName": "train", "JobKind": "PyTorchJob", "Namespace": "ml", "JobStatus": "Failed", "JobReason": "PyTorchJobFailed",
		"Roles":          []string{"Master: 1 expected, 1 created (1 Failed)", "Worker: 2 expected, 1 created (1 Running)"},
		"MasterExpected": 1, "MasterCreatedCount": 1, "MasterStatus": "1 Failed", "MasterDiagnosis": fence("role Master", []string{"1 Failed"}),
		"WorkerExpected": 2, "WorkerCreatedCount": 1, "WorkerStatus": "1 Running", "WorkerDiagnosis": fence("role Worker", []string{"1 Running"}),
	})
	other := documented()
	maps.Copy(other, map[string]any{"JobName": "x", "JobKind": "JobSet", "Namespace": "ml", "JobStatus": "Failed", "Roles": []string{"node: 1 expected, 0 created (no pods)"}, "NodeExpected": 1, "NodeCreatedCount": 0})
	bare := documented()
	bare["Roles"] = []string(nil)
	full := Data{
		Metadata:  gang,
		ErrorInfo: fence("finding and states", []string{"error: Master 0 was killed for memory [pod/train-master-0/pytorch/exit]"}),
		EventInfo: fence("events", []string{"[event/train/BackOff#2] Back-off restarting failed container"}),
		LogInfo:   fence("logs", []string{"[pod/train-master-0/pytorch#7] loading shard"}),
	}
	return []Data{full, {Metadata: other}, {Metadata: bare}}
}
