package lifecycle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// The rules are those of k8s.io/kubernetes v1.37 pkg/apis/batch/validation/validation.go.
var jobSpecRefused = &check.Check{
	Name:     "job-spec-refused",
	Title:    "fields of a Job contradict each other, and the API server refuses it",
	Remedy:   "Write values that a Job takes together.",
	Severity: finding.Error, Refuses: true, Since: "0.2",
	Where: func(o *kinds.Operator) bool { return o.Jobs != nil },
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		at, ok := p.Operator.JobSpec(r)
		if !ok {
			return
		}
		s := jobSpec{at: at, role: r, refuse: func(at job.Path, format string, args ...any) {
			p.Reportf(at, "%s; the API server rejects such a Job", fmt.Sprintf(format, args...))
		}}
		if s.read(p.Job, p.Operator.Jobs.Indexed) {
			s.refusedNumbers()
			s.refusedSuccess()
			s.refusedFailure()
			s.refusedSelector()
		}
	}),
}

// jobSpec is the spec of the Jobs of a role, without its pod template.
type jobSpec struct {
	batchv1.JobSpec
	at      job.Path
	role    *job.Role
	indexed bool
	refuse  func(at job.Path, format string, args ...any)
}

func (s *jobSpec) read(j *job.Job, indexed bool) bool {
	written, _ := j.Field(s.at).(map[string]any)
	rest := make(map[string]any, len(written))
	for key, value := range written {
		if key != "template" {
			rest[key] = value
		}
	}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(rest, &s.JobSpec) != nil {
		return false // unreadable-field
	}
	s.indexed = indexed
	if s.CompletionMode != nil {
		s.indexed = *s.CompletionMode == batchv1.IndexedCompletion
	}
	return true
}

// refusedNumbers: counts are 0 or more, and those of indexes are for Jobs that have some.
func (s *jobSpec) refusedNumbers() {
	for _, one := range []struct {
		field string
		n     *int32
	}{
		{"backoffLimit", s.BackoffLimit},
		{"ttlSecondsAfterFinished", s.TTLSecondsAfterFinished},
		{"backoffLimitPerIndex", s.BackoffLimitPerIndex},
		{"maxFailedIndexes", s.MaxFailedIndexes},
	} {
		switch ofIndex := strings.Contains(one.field, "Index"); {
		case one.n == nil:
		case *one.n < 0:
			s.refuse(s.at.Child(one.field), "%s is %d; it takes 0 or more", one.field, *one.n)
		case ofIndex && !s.indexed:
			s.refuse(s.at.Child(one.field), "%s is %d, which needs completionMode Indexed", one.field, *one.n)
		}
	}
	switch most := s.MaxFailedIndexes; {
	case most == nil:
	case s.BackoffLimitPerIndex == nil:
		s.refuse(s.at.Child("maxFailedIndexes"), "maxFailedIndexes is %d, which needs backoffLimitPerIndex", *most)
	case s.Completions != nil && *most > *s.Completions:
		s.refuse(s.at.Child("maxFailedIndexes"), "maxFailedIndexes is %d, and completions %d", *most, *s.Completions)
	}
	if s.indexed && s.Completions == nil && s.Parallelism != nil { // where neither is written, both are 1
		s.refuse(s.at, "completionMode is Indexed, and completions is missing")
	}
}

// refusedSuccess: a rule names indexes that there are, and no more of them than there are.
func (s *jobSpec) refusedSuccess() {
	if s.SuccessPolicy == nil {
		return
	}
	at := s.at.Child("successPolicy")
	if !s.indexed {
		s.refuse(at, "successPolicy needs completionMode Indexed")
		return
	}
	if s.Completions == nil {
		return
	}
	for i, rule := range s.SuccessPolicy.Rules {
		here, named := at.Child("rules").Index(i), int64(*s.Completions)
		switch {
		case rule.SucceededIndexes == nil && rule.SucceededCount == nil:
			s.refuse(here, "a rule of successPolicy has neither succeededIndexes nor succeededCount")
		case rule.SucceededIndexes != nil:
			n, ok := indexesOf(*rule.SucceededIndexes, *s.Completions)
			if !ok {
				s.refuse(here.Child("succeededIndexes"), "succeededIndexes is %q; it takes numbers and ranges below %d in order, such as 0,2-3", *rule.SucceededIndexes, *s.Completions)
				continue
			}
			named = n
		}
		if rule.SucceededCount != nil && int64(*rule.SucceededCount) > named {
			s.refuse(here.Child("succeededCount"), "succeededCount is %d of %d indexes", *rule.SucceededCount, named)
		}
	}
}

// indexesOf is how many indexes a list of numbers and ranges names: they rise, and lie below completions.
func indexesOf(list string, completions int32) (n int64, ok bool) {
	if list == "" {
		return 0, true
	}
	next := int64(0)
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		a, errA := strconv.ParseInt(first, 10, 32)
		b, errB := strconv.ParseInt(last, 10, 32)
		if errA != nil || errB != nil || a < next || b < a || isRange && b == a || b >= int64(completions) {
			return 0, false
		}
		n, next = n+b-a+1, b+1
	}
	return n, true
}

// refusedFailure: a rule is about exit codes or about conditions of the pod, of a pod that is not started again in place.
func (s *jobSpec) refusedFailure() {
	policy := s.PodReplacementPolicy
	if policy != nil && s.PodFailurePolicy != nil && *policy != batchv1.Failed {
		s.refuse(s.at.Child("podReplacementPolicy"), "podReplacementPolicy is %s; beside a podFailurePolicy it is Failed", *policy)
	}
	if s.PodFailurePolicy == nil {
		return
	}
	at := s.at.Child("podFailurePolicy")
	if spec := &s.role.Pod.Spec; spec.RestartPolicy != corev1.RestartPolicyNever && spec.RestartPolicy != "" {
		s.refuse(at, "podFailurePolicy needs restartPolicy Never, and it is %s", spec.RestartPolicy)
	}
	for i, rule := range s.PodFailurePolicy.Rules {
		here, codes := at.Child("rules").Index(i), rule.OnExitCodes
		switch {
		case (codes == nil) == (len(rule.OnPodConditions) == 0):
			s.refuse(here, "a rule of podFailurePolicy needs either onExitCodes or onPodConditions")
		case rule.Action == batchv1.PodFailurePolicyActionFailIndex && s.BackoffLimitPerIndex == nil:
			s.refuse(here, "FailIndex needs backoffLimitPerIndex")
		}
		if codes == nil {
			continue
		}
		here = here.Child("onExitCodes")
		called := func(c corev1.Container) bool { return c.Name == *codes.ContainerName }
		if codes.ContainerName != nil && !slices.ContainsFunc(s.role.Pod.Spec.Containers, called) && !slices.ContainsFunc(s.role.Pod.Spec.InitContainers, called) {
			s.refuse(here.Child("containerName"), "onExitCodes is about container %q, which the pod does not have", *codes.ContainerName)
		}
		sorted := slices.IsSorted(codes.Values) && len(slices.Compact(slices.Clone(codes.Values))) == len(codes.Values)
		switch {
		case len(codes.Values) == 0:
			s.refuse(here, "onExitCodes has no values")
		case codes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && slices.Contains(codes.Values, 0):
			s.refuse(here.Child("values"), "values of onExitCodes with operator In hold 0, which is no failure")
		case !sorted:
			s.refuse(here.Child("values"), "values of onExitCodes are not in order, or not each written once")
		}
	}
}

// refusedSelector: the API server makes the selector, unless it is told not to. That of a Job which is there has its label.
func (s *jobSpec) refusedSelector() {
	if s.Selector == nil {
		return
	}
	if s.ManualSelector != nil && *s.ManualSelector {
		if selector, err := metav1.LabelSelectorAsSelector(s.Selector); err == nil && !selector.Matches(labels.Set(s.role.Pod.Labels)) {
			s.refuse(s.at.Child("selector"), "the selector does not select the labels of the pod template")
		}
		return
	}
	for _, own := range []string{batchv1.ControllerUidLabel, "controller-uid"} {
		if s.Selector.MatchLabels[own] != "" {
			return
		}
	}
	s.refuse(s.at.Child("selector"), "a selector is written, and manualSelector is not true")
}
