package kinds

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var framework = &Kind{
	Name:     "Framework",
	Resource: "frameworks",
	GVKs:     []schema.GroupVersionKind{{Group: "frameworkcontroller.microsoft.com", Version: "v1", Kind: "Framework"}},
	Doc: "The task roles of a Framework of FrameworkController, as OpenPAI writes them. There are no defaults: a " +
		"taskNumber that is not written means no tasks. An attempt whose tasks have all ended without meeting a " +
		"completion policy counts as succeeded, even when tasks failed.",
	Runs: Told{
		English: "A Framework has task roles; each task runs in a pod of its own, and a failed task ends the attempt where its role says so (minFailedTaskCount). The platform then retries: always after transient failures of its own, and up to a count after others. Exit codes below 0 and above 255 are the platform's, not the program's.",
		Chinese: "Framework 由若干任务角色组成，每个任务有自己的 Pod；角色设置了 minFailedTaskCount 时，失败的任务会结束整次尝试。之后由平台重试：平台自身的瞬时故障总会重试，其他失败按次数重试。小于 0 或大于 255 的退出码来自平台，不是用户程序。",
	},
	Read:  reading("Framework", readFramework),
	Pods:  func(ref job.Ref) labels.Selector { return selector(requirement(frameworkName, ref.Name)) },
	Place: placeInFramework,
	State: frameworkState,
	Operator: Operator{
		Validates: Validation{Refuses: []string{"role-name-invalid"}},
		Names:     &NameForm{Takes: frameworkNames.MatchString, Says: "lower-case letters and digits only", Remedy: "Use lower-case letters and digits alone."},
		RoleNames: &NameForm{Takes: frameworkNames.MatchString, Says: "lower-case letters and digits, 63 at most"},
		Choices:   []Choice{{At: "spec.executionType", Words: []string{"Create", "Start", "Stop"}}}, // pkg/apis/frameworkcontroller/v1/types.go
		ZeroPods:  true,                                                                             // framework-no-tasks
		World:     WorldOfPod,
		NoEnv:     "neither does the operator",
		LabelsBy:  "FrameworkController", PolicyEnds: true,
		// "Container RetryPolicy is the RestartPolicy in Pod Spec" (pkg/apis/frameworkcontroller/v1/types.go): it counts
		// pods that ended.
		UncountedRestarts: true,
	},
}

// frameworkNames is the pattern in the CRD (microsoft/frameworkcontroller d6e70787
// pkg/apis/frameworkcontroller/v1/crd.go).
var frameworkNames = regexp.MustCompile(`^[a-z0-9]{1,63}$`)

// Labels of FrameworkController on pods (frameworkcontroller d6e70787
// pkg/apis/frameworkcontroller/v1/constants.go).
const (
	frameworkName = "FC_FRAMEWORK_NAME"
	taskRoleName  = "FC_TASKROLE_NAME"
	taskIndex     = "FC_TASK_INDEX"
)

type frameworkSpec struct {
	Description   string               `json:"description"`
	ExecutionType string               `json:"executionType"`
	RetryPolicy   frameworkRetryPolicy `json:"retryPolicy"`
	TaskRoles     []taskRole           `json:"taskRoles"`
}

type frameworkRetryPolicy struct {
	FancyRetryPolicy bool  `json:"fancyRetryPolicy"`
	MaxRetryCount    int32 `json:"maxRetryCount"`
}

type taskRole struct {
	Name             string             `json:"name"`
	TaskNumber       *int32             `json:"taskNumber"`
	CompletionPolicy taskRoleCompletion `json:"frameworkAttemptCompletionPolicy"`
	Task             frameworkTask      `json:"task"`
}

type taskRoleCompletion struct {
	MinFailedTaskCount    int32 `json:"minFailedTaskCount"`
	MinSucceededTaskCount int32 `json:"minSucceededTaskCount"`
}

type frameworkTask struct {
	RetryPolicy                   frameworkRetryPolicy   `json:"retryPolicy"`
	PodGracefulDeletionTimeoutSec *int64                 `json:"podGracefulDeletionTimeoutSec"`
	Pod                           corev1.PodTemplateSpec `json:"pod"`
}

func readFramework(r *reader, j *job.Job, o *object[frameworkSpec]) {
	j.Suspended = o.Spec.ExecutionType == "Create" || o.Spec.ExecutionType == "Stop"
	r.retries("spec.retryPolicy", o.Spec.RetryPolicy)
	list := job.Path("spec.taskRoles")
	r.wantList(list, len(o.Spec.TaskRoles), "at least one task role")
	for i, at := range r.elements(list, len(o.Spec.TaskRoles)) {
		t := &o.Spec.TaskRoles[i]
		if !r.has(at.Child("taskNumber")) {
			r.skip(at, job.TaskNumberMissing)
		}
		r.retries(at.Child("task", "retryPolicy"), t.Task.RetryPolicy)
		policy := at.Child("frameworkAttemptCompletionPolicy")
		r.atLeast(policy.Child("minFailedTaskCount"), t.CompletionPolicy.MinFailedTaskCount, -1)
		r.atLeast(policy.Child("minSucceededTaskCount"), t.CompletionPolicy.MinSucceededTaskCount, -1)
		role := job.Role{
			Name: t.Name, Path: at,
			Replicas:     job.Exactly(r.count(at.Child("taskNumber"), t.TaskNumber, 0)),
			ReplicasPath: r.written(at.Child("taskNumber"), at),
			Pod:          r.pod(&t.Task.Pod, at.Child("task", "pod")),
		}
		frameworkMarks(&role, j.Ref.Name)
		settle(&role)
		j.Roles = append(j.Roles, role)
	}
	gang(r, j)
}

// The least that the CRD takes of counts (microsoft/frameworkcontroller d6e70787
// pkg/apis/frameworkcontroller/v1/crd.go).
func (r *reader) retries(at job.Path, policy frameworkRetryPolicy) {
	r.atLeast(at.Child("maxRetryCount"), policy.MaxRetryCount, -2)
}

func (r *reader) atLeast(at job.Path, n, least int32) {
	if n < least {
		r.problem(at, describe(int64(n)), fmt.Sprintf("%d or more", least))
	}
}

func placeInFramework(pod *corev1.Pod) (string, int, bool) {
	role := pod.Labels[taskRoleName]
	index, ok := atoi(pod.Labels[taskIndex])
	return role, index, ok && role != ""
}

// frameworkState follows the state machine of the controller; what a completed attempt
// amounts to stands in its completion status (pkg/apis/frameworkcontroller/v1/types.go).
func frameworkState(u *unstructured.Unstructured) State {
	status, _ := dig(u, "status").(map[string]any)
	state := text(status, "state")
	s := State{Since: text(status, "transitionTime")}
	switch {
	case state == "":
		return State{}
	case state == "Completed":
		return frameworkCompleted(u, s)
	case dig(u, "spec", "executionType") == "Stop": // asked for; the controller ends the attempt and says so later
		s.Phase, s.Reason = Failed, stopRequested
	case state == "AttemptRunning":
		s.Phase = Running
	case slices.Contains([]string{"AttemptCreationPending", "AttemptCreationRequested", "AttemptPreparing"}, state):
		s.Phase = Created
		if dig(u, "spec", "executionType") == "Create" {
			s.Phase = Suspended
		}
	case strings.HasPrefix(state, "Attempt"): // being deleted, or completed and about to be retried
		s = frameworkCompleted(u, s)
		s.Phase = Restarting
	}
	return s
}

// attemptCompletion is what ends whatever still runs when an attempt is over: something else ended that.
const attemptCompletion = -220

func frameworkCompleted(u *unstructured.Unstructured, s State) State {
	done, _ := dig(u, "status", "attemptStatus", "completionStatus").(map[string]any)
	if done == nil {
		return s
	}
	kind, _ := done["type"].(map[string]any)
	switch text(kind, "name") {
	case "Succeeded":
		s.Phase = Succeeded
	case "Failed":
		s.Phase = Failed
	}
	s.Reason = fmt.Sprintf("%s (%d)", text(done, "phrase"), number(done, "code"))
	if number(done, "code") == attemptCompletion && dig(u, "spec", "executionType") == "Stop" {
		s.Reason = stopRequested
	}
	s.Message = text(done, "diagnostics")
	if trigger, _ := done["trigger"].(map[string]any); text(trigger, "taskRoleName") != "" {
		// Pods are called <framework>-<role>-<index>.
		s.Trigger = fmt.Sprintf("%s-%s-%d", u.GetName(), text(trigger, "taskRoleName"), number(trigger, "taskIndex"))
		s.Message = cmp.Or(s.Message, text(trigger, "message"))
	}
	return s
}
