package checks

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var choiceMisspelt = &check.Check{
	Name:     "choice-misspelt",
	Title:    "a word is not spelt as the API spells it",
	Doc:      readme("choice-misspelt"),
	Remedy:   "Write the word as the API spells it.",
	Severity: finding.Error, Since: "0.1",
	Run: func(p *check.Pass) error {
		judge := func(at job.Path, known []string) {
			word, ok := text(p.Job, at)
			if !ok || word == "" || slices.Contains(known, word) {
				return
			}
			meant := check.DidYouMean(word, known)
			if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(strings.ToLower(k), strings.ToLower(word)) }); i >= 0 {
				meant = check.DidYouMean(known[i], known[i:i+1])
			}
			if meant == "" {
				return // a word of a newer release, or of nobody
			}
			p.Reportf(at, "%s is %q; it takes %s%s", lastStep(at), word, `"`+strings.Join(known, `", "`)+`"`, meant)
		}
		for _, c := range choicesOf[p.Job.Ref.Kind] {
			judge(c.at, c.known)
		}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			for _, c := range roleChoicesOf[p.Job.Ref.Kind] {
				judge(r.Path.Join(c.at), c.known)
			}
			judge(r.Pod.At("dnsPolicy"), []string{"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"})
			for k := range r.Pod.Spec.Volumes {
				judge(r.Pod.At(job.Path("volumes").Index(k).Child("emptyDir", "medium")), []string{"Memory", "HugePages"})
			}
		}
		eachContainer(p.Job, func(r *job.Role, _ *corev1.Container, rel job.Path) {
			judge(r.Pod.At(rel.Child("imagePullPolicy")), []string{"Always", "IfNotPresent", "Never"})
		})
		if p.Job.Ref.Kind == "JobSet" {
			rules, _ := field(p.Job, "spec.failurePolicy.rules").([]any)
			for k := range rules {
				judge(job.Path("spec.failurePolicy.rules").Index(k).Child("action"), []string{"FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob", "RestartJobAndIgnoreMaxRestarts"})
			}
		}
		return nil
	},
}

// choice is a field that takes one of a few words.
type choice struct {
	at    job.Path
	known []string
}

var completionMode = []string{"Indexed", "NonIndexed"}

// choicesOf and roleChoicesOf, below a role, are the fields of the kinds: jobset v0.12.0
// api/jobset/v1alpha2/jobset_types.go; k8s.io/api batch/v1; training-operator v1.9.3
// pkg/apis/kubeflow.org/v1/tensorflow_types.go; mpi-operator v0.7.0 pkg/apis/kubeflow/v2beta1;
// frameworkcontroller d6e70787 pkg/apis/frameworkcontroller/v1/types.go. restartPolicy and
// cleanPodPolicy have checks of their own.
var (
	choicesOf = map[string][]choice{
		"JobSet": {
			{"spec.successPolicy.operator", []string{"All", "Any"}},
			{"spec.startupPolicy.startupPolicyOrder", []string{"AnyOrder", "InOrder"}},
			{"spec.failurePolicy.restartStrategy", []string{"Recreate", "BlockingRecreate", "InPlaceRestart"}},
		},
		"Job":       {{"spec.completionMode", completionMode}},
		"TFJob":     {{"spec.successPolicy", []string{"AllWorkers"}}},
		"MPIJob":    {{"spec.mpiImplementation", []string{"OpenMPI", "Intel", "MPICH"}}, {"spec.launcherCreationPolicy", []string{"AtStartup", "WaitForWorkersReady"}}},
		"Framework": {{"spec.executionType", []string{"Create", "Start", "Stop"}}},
	}
	roleChoicesOf = map[string][]choice{
		"JobSet": {{"template.spec.completionMode", completionMode}, {"dependsOn[0].status", []string{"Ready", "Complete"}}},
	}
)
