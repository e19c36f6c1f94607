package environment

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var variableSetByNobody = &check.Check{
	Name:     "variable-set-by-nobody",
	Title:    "the command counts on a variable that is not set",
	Remedy:   "Set the variable in env, or name one that the operator of this kind sets.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.NoEnv != "" },
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		c, k := r.Trainer()
		if c == nil || len(c.EnvFrom) > 0 || r.Replicas.Max == 0 {
			return
		}
		set := setFor(p.Job, r, k)
		rel := job.Path("containers").Index(k)
		seen := map[string]bool{}
		visit := func(words []string, list job.Path) {
			for n, w := range words {
				for _, name := range referredTo(w) {
					if e, _ := facts.Variable(c, name); seen[name] || e != nil || slices.Contains(set, name) || assigns(c, name) {
						continue
					}
					seen[name] = true
					f := finding.Finding{Path: r.Pod.At(list.Index(n))}
					unset, remedy := setter(p.Job, p.Operator, name)
					f.Message, f.Remedy = fmt.Sprintf("$%s is empty in %s: env does not set it, and %s", name, facts.PodsOf(r), unset), remedy
					p.Report(f)
				}
				for _, m := range kubeletReference.FindAllStringSubmatchIndex(w, -1) {
					name := w[m[2]:m[3]]
					escaped := m[0] > 0 && w[m[0]-1] == '$'
					if e, _ := facts.Variable(c, name); escaped || seen[name] || e != nil || slices.Contains(set, name) || brought(name) || assigns(c, name) {
						continue
					}
					seen[name] = true
					p.Reportf(r.Pod.At(list.Index(n)), "$(%s) stays as it is written in %s: env does not set it, and %s", name, facts.PodsOf(r), p.Operator.NoEnv)
				}
			}
		}
		for n, e := range c.Env {
			if e.ValueFrom == nil || e.ValueFrom.FieldRef == nil || !strings.HasSuffix(e.ValueFrom.FieldRef.FieldPath, indexField) || slices.Contains(set, "JOB_COMPLETION_INDEX") {
				continue
			}
			unset, remedy := setter(p.Job, p.Operator, "JOB_COMPLETION_INDEX")
			p.ReportAs(finding.Finding{Path: r.Pod.At(rel.Child("env").Index(n)), Remedy: remedy},
				"%s is empty in %s: it is the number of a pod in an Indexed Job, and %s", e.Name, facts.PodsOf(r), unset)
		}
		visit(c.Command, rel.Child("command"))
		visit(c.Args, rel.Child("args"))
	}),
}

// indexField ends the field of a pod from which a variable takes its number in a Job; where the pod has no such annotation
// or label, the kubelet makes the variable empty
// (https://kubernetes.io/docs/tasks/job/indexed-parallel-processing-static/).
const indexField = "['batch.kubernetes.io/job-completion-index']"

// watched are variables that some operator or launcher sets and that people therefore take for
// given. What an image may well bring (paths, devices) is not among them.
var watched = regexp.MustCompile(`\$(?:\{(` + watchedNames + `)\}|\((` + watchedNames + `)\)|(` + watchedNames + `)\b)`)

const watchedNames = `MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|PET_NODE_RANK|PET_NNODES|PET_MASTER_ADDR|PET_MASTER_PORT|JOB_COMPLETION_INDEX|VC_TASK_INDEX|VK_TASK_INDEX`

// referredTo are the watched variables that a word refers to, without a default.
func referredTo(word string) (out []string) {
	if !strings.Contains(word, "$") {
		return nil
	}
	for _, m := range watched.FindAllStringSubmatch(word, -1) {
		if name := m[1] + m[2] + m[3]; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// kubeletReference is what the kubelet replaces, and nothing else means: no program is called in capitals.
var kubeletReference = regexp.MustCompile(`\$\(([A-Z][A-Z0-9_]{2,})\)`)

// brought says of a variable that the kubelet knows it from a Service of the namespace
// (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables), or that a webhook of the cloud sets
// it in pods with TPUs (https://cloud.google.com/kubernetes-engine/docs/how-to/tpu-multislice).
func brought(name string) bool {
	return strings.Contains(name, "_SERVICE_") || strings.Contains(name, "_PORT_") || strings.HasPrefix(name, "TPU_") || strings.HasPrefix(name, "MEGASCALE_")
}

// assigns says whether the container's own script gives the variable a value, or may.
func assigns(c *corev1.Container, name string) bool {
	return facts.Mentions(c, name+"=") || facts.Mentions(c, "read "+name) || facts.Mentions(c, "source ") || facts.Mentions(c, "\n. ") || facts.Mentions(c, "eval ")
}

// setFor is what the operator of the kind sets in a container of the role.
func setFor(j *job.Job, r *job.Role, container int) []string {
	out := facts.SetByOperator(j, r, container)
	if unset := kinds.Of(j.Ref).EnvUnset; unset != nil {
		out = slices.Concat(out, unset(j, r, container))
	}
	return out
}

// setter says why whoever might have set the variable does not, and what to do about it where the check's remedy is
// not the way.
func setter(j *job.Job, operator *kinds.Operator, name string) (why, remedy string) {
	switch beside := operator.EnvBeside; {
	case beside != "" && j.Role(beside) == nil:
		return "the operator does so only beside a " + beside + ", which the job does not have", ""
	case operator.Jobs != nil && name == "JOB_COMPLETION_INDEX":
		return "only the pods of an Indexed Job have it", "Write completionMode: Indexed, which numbers the pods, and completions."
	}
	return operator.NoEnv, ""
}
