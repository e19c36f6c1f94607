// Package facts is what several checks need to know of a job or a cluster: values at paths,
// commands and their options, variables, volumes, nodes that could take a pod. It reports
// nothing and holds no rule. Start reading at the file that is called like what is looked for.
package facts

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Whose names a container and its role, once where both have one name.
func Whose(container, role string) string {
	switch container {
	case role:
		return "container " + container
	case "":
		return "the nameless container of " + role
	}
	return "container " + container + " of " + role
}

// Quoted is a value in quotes, cut to what a message has room for.
func Quoted(value string) string {
	const most = 60
	return strconv.Quote(words.Clip(value, most))
}

// PodsOf is "4 Worker pods"; the one role of a Job has no name of its own.
func PodsOf(r *job.Role) string {
	if r.Name == "pod" {
		return Count(r.Replicas.Max, "pod")
	}
	return Count(r.Replicas.Max, r.Name+" pod")
}

// LastStep is the field that a path leads to, as a sentence names it: limits["nvidia.com/gpu"].
func LastStep(at job.Path) string {
	above := at.Parent()
	step := strings.TrimPrefix(string(at[len(above):]), ".")
	if strings.HasPrefix(step, "[") && above != "" {
		return strings.TrimPrefix(string(above[len(above.Parent()):]), ".") + step
	}
	return step
}

// Text is the string at a path; ok is false where there is none.
func Text(j *job.Job, at job.Path) (s string, ok bool) {
	s, ok = j.Field(at).(string)
	return s, ok
}

// Number is the whole number at a path; ok is false where there is none.
func Number(j *job.Job, at job.Path) (n int64, ok bool) { return job.Whole(j.Field(at)) }

// Count is "1 pod" or "3 pods".
func Count[N int | int64](n N, thing string) string {
	s := saturate.Text(int64(n)) + " " + thing
	if n == 1 {
		return s
	}
	if strings.HasSuffix(thing, "s") {
		return s + "es"
	}
	return s + "s"
}

// AndMore counts what a message that shows the first of several leaves out.
func AndMore(times int) string {
	if times < 2 {
		return ""
	}
	return " (and " + saturate.Text(times-1) + " more)"
}

// mostSlips is how many slips of the pen are between a name and one that the view holds, for it to be named: an object
// that the view does not hold may well be there.
const mostSlips = 2

// NotHeld names an object that the view does not hold, and one of nearly the same name that it does.
func NotHeld(p *check.Pass, thing string, kind schema.GroupKind, namespace, name string) string {
	return fmt.Sprintf("%s %q%s", thing, name, nearlyHeld(name, p.Cluster.NamesOf(kind, namespace)))
}

func nearlyHeld(name string, held []string) string {
	if near := check.Nearest(name, held, mostSlips); near != "" {
		return fmt.Sprintf(" (it holds %q)", near)
	}
	return ""
}

// HasDeadline says whether something ends the job in time.
func HasDeadline(j *job.Job) bool {
	if j.Field("spec.runPolicy.activeDeadlineSeconds") != nil || j.Field("spec.activeDeadlineSeconds") != nil {
		return true
	}
	for r := range j.EachRole() {
		if r.Pod.Spec.ActiveDeadlineSeconds != nil || j.Field(r.Path.Child("template", "spec", "activeDeadlineSeconds")) != nil {
			return true
		}
	}
	return false
}

// ShortList shows the first few of many values and counts the rest.
func ShortList(values []string) string {
	const most = 4
	if len(values) <= most {
		return strings.Join(values, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(values[:most], ", "), len(values)-most)
}

// RoleNames are the names of the roles, in their order.
func RoleNames(j *job.Job) (names []string) {
	for r := range j.EachRole() {
		names = append(names, r.Name)
	}
	return names
}

// Twin is an element of a list that says in a field what an earlier one says.
type Twin struct {
	At            job.Path // of the field
	Name          string
	First, Second int
}

// Twins are the elements of a list that repeat what an earlier one says in a field.
func Twins(j *job.Job, list job.Path, field string) (out []Twin) {
	first := map[string]int{}
	elements, _ := j.Field(list).([]any)
	for i := range elements {
		at := list.Index(i).Child(field)
		name, ok := Text(j, at)
		if other, twice := first[name]; twice {
			out = append(out, Twin{at, name, other, i})
		} else if ok {
			first[name] = i
		}
	}
	return out
}

// TextAt is the string at a path; empty where there is none.
func TextAt(j *job.Job, at job.Path) string {
	s, _ := Text(j, at)
	return s
}

// EndDecides says whether the job ends only when pods of this role have
// (training-operator v1.9.3 pkg/controller.v1/*/…_controller.go, UpdateJobStatus).
func EndDecides(j *job.Job, r *job.Role) bool {
	for other := range j.EachRole() {
		if other.Single {
			return r.Single
		}
	}
	part := kinds.Of(j.Ref).Parts[r.Name]
	return part != kinds.Server && part != kinds.Evaluator
}
