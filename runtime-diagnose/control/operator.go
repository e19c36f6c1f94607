package control

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// ReadStatuses reads what the conditions of objects between the job and its pods say, and what the job's own
// status says of single pods.
func ReadStatuses(c *evidence.Bundle, pods []Pod, catalog *signature.Catalog) []evidence.Observation {
	return slices.Concat(readState(c, pods, catalog), readObjects(c, catalog), readFramework(c, catalog), readFrameworkMessages(c, pods, catalog), readT9k(c, pods), readT9kWhole(c, pods), readExitInMessage(c, pods), readExitEvents(c, pods), readPodGroup(c, pods, catalog))
}

// readState runs the reason and the message of a failed job's own condition through the catalogue: a deadline
// that passed takes the pods with it, and the event of it is gone after an hour. A Framework's is that of one
// of its tasks, which is read with its code.
func readState(c *evidence.Bundle, pods []Pod, catalog *signature.Catalog) []evidence.Observation {
	if catalog == nil || c.State.Phase != kinds.Failed || c.State.Stopped() || c.Job != nil && c.Job.Ref.Kind == "Framework" {
		return nil
	}
	said := strings.TrimPrefix(c.State.Reason+": "+words.OneLine(reduce.Plain(c.State.Message), 300), ": ")
	source := evidence.Source{Rank: -1}
	if m := replicaInMessage.FindStringSubmatch(c.State.Message); m != nil {
		source = replicaOf(c.Job, m[1], m[2])
	}
	at, _ := time.Parse(time.RFC3339, c.State.Since) // zero: it does not say
	var out []evidence.Observation
	say := func(rule *signature.Signature, facts map[string]string) {
		out = append(out, evidence.Observation{
			Signature: rule, Line: said, Facts: facts, Platform: true,
			Item: evidence.Item{ID: "status/failed", Kind: evidence.Status, At: at, Text: said, Times: 1, Source: source},
		})
	}
	for _, m := range catalog.Match(said, evidence.Status) {
		say(m.Signature, m.Facts)
	}
	if len(out) == 0 && len(pods) == 0 && slices.Contains(refusedAs, c.State.Reason) {
		say(Refused, map[string]string{"reason": c.State.Reason})
	}
	if m := containerReason.FindString(said); m != "" && len(out) == 0 { // the operator hands on what the pod said
		rule := ruleOOM
		if m != "OOMKilled" {
			rule = ruleForReason(m)
		}
		say(rule, nil)
	}
	return out
}

// refusedAs are the reasons with which operators say that a job failed because they do not take its spec
// (https://github.com/ray-project/kuberay/blob/v1.6.2/ray-operator/controllers/ray/rayjob_controller.go).
var refusedAs = []string{"ValidationFailed"}

// containerReason is a reason of a pod or a container that means one thing wherever it stands.
var containerReason = lazy.MustCompile(`\b(?:OOMKilled|Evicted|NodeLost|ImagePullBackOff|ErrImagePull|InvalidImageName|CreateContainerConfigError|CreateContainerError|RunContainerError|ContainerCannotRun|StartError)\b`)

// replicaInMessage is the replica that a message is about: "worker-1 OOMKilled", "bert-worker-1: Evicted".
var replicaInMessage = lazy.MustCompile(`^(?:[Pp]od |[Rr]eplica )?"?([a-z0-9](?:[a-z0-9.-]*?[a-z0-9])??-(\d+))"?[: ]`)

// replicaOf is the pod that an operator calls by its role and number, or by its whole name.
func replicaOf(j *job.Job, name, index string) evidence.Source {
	if j == nil {
		return evidence.Source{Rank: -1}
	}
	if !strings.HasPrefix(name, j.Ref.Name+"-") {
		name = j.Ref.Name + "-" + name
	}
	source := evidence.Source{Pod: name, Rank: -1}
	for i := range j.Roles {
		if role := j.Roles[i].Name; strings.HasSuffix(name, strings.TrimSuffix("-"+strings.ToLower(role)+"-"+index, "-")) {
			source.Role = role
			source.Rank, _ = strconv.Atoi(index)
		}
	}
	return source
}

// exitInMessage is an operator's word on how one replica ended: "worker-0 exited with code 137", "launcher
// exited with code 139".
var exitInMessage = lazy.MustCompile(`\b([a-z0-9](?:[a-z0-9.-]*?[a-z0-9])??(?:-(\d+))?) exited with code (\d{1,3})\b`)

// readExitInMessage reads the code that a failed job's message names, where its pod is gone: one that is
// there says it itself.
func readExitInMessage(c *evidence.Bundle, pods []Pod) []evidence.Observation {
	m := exitInMessage.FindStringSubmatch(c.State.Message)
	if m == nil || c.State.Phase != kinds.Failed || c.Job == nil {
		return nil
	}
	if m[2] == "" && !slices.ContainsFunc(c.Job.Roles, func(r job.Role) bool { return r.Single && strings.EqualFold(r.Name, m[1]) }) {
		return nil // a process, or a container: whose is not said
	}
	source := replicaOf(c.Job, m[1], m[2])
	code, _ := strconv.ParseInt(m[3], 10, 32)
	if code == 0 || slices.ContainsFunc(pods, func(p Pod) bool { return p.Name == source.Pod }) {
		return nil
	}
	text := "the operator says: " + words.OneLine(c.State.Message, 200)
	return []evidence.Observation{{
		Signature: ExitRule(int32(code)), Line: text, Platform: true, Facts: map[string]string{"exitCode": m[3]},
		Item: evidence.Item{ID: evidence.ID("pod/" + source.Pod + "/exit"), Kind: evidence.Exit, Source: source, Text: text, Times: 1},
	}}
}

// exitInEvent is the training operator's word on how a container ended, on the job and under the reason ExitedWithCode
// (https://github.com/kubeflow/training-operator/blob/v1.9.3/pkg/controller.v1/common/pod.go).
var exitInEvent = lazy.MustCompile(`^Pod: [^ .]+\.(\S+?(?:-(\d+))?) exited with code (\d{1,3})$`)

// readExitEvents reads the codes that events name of pods that are gone: the operator deletes those that it makes again, and
// at the end all of them where cleanPodPolicy says so.
func readExitEvents(c *evidence.Bundle, pods []Pod) []evidence.Observation {
	var out []evidence.Observation
	for i := range c.Events {
		e := &c.Events[i]
		m := exitInEvent.FindStringSubmatch(e.Message)
		if m == nil || e.Reason != "ExitedWithCode" || slices.ContainsFunc(pods, func(p Pod) bool { return p.Name == m[1] }) {
			continue
		}
		code, _ := strconv.ParseInt(m[3], 10, 32)
		if code == 0 {
			continue
		}
		text := "the operator says: " + words.OneLine(reduce.Plain(e.Message), 200)
		out = append(out, evidence.Observation{
			Signature: ExitRule(int32(code)), Line: text, Platform: true, Facts: map[string]string{"exitCode": m[3]}, Over: c.State.Phase == kinds.Succeeded,
			Item: evidence.Item{ID: evidence.ID(fmt.Sprintf("pod/%s/exit#%d", m[1], i+1)), Kind: evidence.Exit, At: When(e), Source: replicaOf(c.Job, m[1], m[2]), Text: text, Times: 1},
		})
	}
	return out
}

// readT9k reads what the status of T9k's jobs says of replicas whose pods do not: one that failed and is
// gone, and workers of a ColossalAIJob that were started again, which do not rejoin the training
// (t9k manuals, status.tasks).
func readT9k(c *evidence.Bundle, pods []Pod) []evidence.Observation {
	if c.Job == nil || !strings.HasPrefix(c.Job.Ref.APIVersion, T9kGroup) || c.Job.Source == nil {
		return nil
	}
	tasks, _, err := unstructured.NestedSlice(c.Job.Source.Object, "status", "tasks")
	if err != nil {
		return nil
	}
	var out []evidence.Observation
	say := func(id, name string, index int, text string) {
		out = append(out, evidence.Observation{
			Signature: ReplicaLost, Line: text, Platform: true,
			Item: evidence.Item{ID: evidence.ID(id), Kind: evidence.Status, Source: evidence.Source{Pod: name, Rank: index}, Text: text, Times: 1},
		})
	}
	for _, t := range tasks {
		task, _ := t.(map[string]any)
		role, _ := task["type"].(string)
		for _, key := range []string{"status", "replicas"} {
			replicas, _ := task[key].([]any)
			for i, r := range replicas {
				replica, _ := r.(map[string]any)
				name, _ := replica["name"].(string)
				if replica["phase"] != "Failed" || slices.ContainsFunc(pods, func(p Pod) bool { return p.Name == name }) {
					continue
				}
				if container, code := exitOf(replica); code != 0 {
					text := fmt.Sprintf("the operator lists %s as failed: its container %s ended with exit code %d; the pod is gone", name, container, code)
					out = append(out, evidence.Observation{
						Signature: ExitRule(code), Line: text, Platform: true, Facts: map[string]string{"exitCode": strconv.Itoa(int(code))},
						Item: evidence.Item{ID: evidence.ID("pod/" + name + "/exit"), Kind: evidence.Exit, Source: evidence.Source{Pod: name, Role: role, Rank: i}, Text: text, Times: 1},
					})
					continue
				}
				say("status/"+name, name, i, fmt.Sprintf("the operator lists %s as failed, and its pod is gone", name))
			}
		}
		restarts, _ := Number(task["restartCount"])
		if NoRejoin(c) && role == "worker" && restarts > 0 && c.State.Phase == kinds.Running {
			say("status/worker/restarts", "", -1, fmt.Sprintf("the operator started workers again %d time%s; a restarted worker does not rejoin the training", restarts, words.S(int(restarts))))
		}
	}
	return out
}

// exitOf is the first code other than 0 with which a container of a replica ended, as T9k's operators write it,
// or as Kubernetes writes the state of a container: no CRD of theirs is public
// (https://github.com/t9k/user-manuals/blob/fbf6b3cd/src/modules/jobs/pytorchtrainingjob.md, status.tasks).
func exitOf(replica map[string]any) (container string, code int32) {
	containers, _ := replica["containers"].([]any)
	for _, c := range containers {
		one, _ := c.(map[string]any)
		written := one["exitCode"]
		if _, ok := Number(written); !ok {
			written, _, _ = unstructured.NestedFieldNoCopy(one, "state", "terminated", "exitCode")
		}
		if n, ok := Number(written); ok && n > 0 && n < 256 {
			container, _ = one["name"].(string)
			return container, int32(n)
		}
	}
	return "", 0
}

// ColossalAI is the kind whose restarted workers do not rejoin, and whose launcher ends with
// 0 whatever happened (t9k ColossalAIJob manual).
const ColossalAI = "ColossalAIJob"

// T9kGroup begins the apiVersion of TensorStack's jobs.
const T9kGroup = "batch.tensorstack.dev/"

// NoRejoin says that restarted members of the job do not take part again.
func NoRejoin(b *evidence.Bundle) bool { return b.Job != nil && b.Job.Ref.Kind == ColossalAI }

// Number reads an integer of a decoded object, in either form decoders give.
func Number(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case float64:
		return int64(n), true
	default:
		return 0, false
	}
}
