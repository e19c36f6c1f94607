// Package dryrun asks an API server, and every webhook behind it, what it says of a job without storing one, and reads the
// answer: of Signalbox in the cluster, of operators, of the API server itself. Start reading at Of.
package dryrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

// Check is the name under which check --server says what the API server says. It is
// no check: it asks the API server.
const Check = "server-dry-run"

// Rehearsal asks the API server, with the user's own rights, whether it would take one pod
// of each role: a dry run, which passes all of admission and stores nothing
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run).
type Rehearsal struct {
	pods     kubernetes.Interface
	warnings *collector
}

// Rehearse prepares to ask about pods, with a client of its own that keeps the warnings.
func Rehearse(c *apiserver.Cluster) (*Rehearsal, error) {
	config := rest.CopyConfig(c.Config)
	heard := &collector{}
	config.WarningHandlerWithContext = heard
	pods, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	return &Rehearsal{pods: pods, warnings: heard}, nil
}

// Heard is what the API server, and the webhooks behind it, said of a job in a dry run.
type Heard struct {
	job      job.Ref
	warnings []string
	Record   *webhook.Record            // of Signalbox's review; nil: it did not answer with one
	Stored   *unstructured.Unstructured // the job of that name that is there already; nil: none was met
	Err      error
}

// Of creates a job, or changes the stored one, without storing anything. Signalbox's
// webhook is asked whether the job fits.
func Of(ctx context.Context, c *apiserver.Cluster, o *unstructured.Unstructured) *Heard {
	out := &Heard{job: job.Ref{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()}}
	config, said := rest.CopyConfig(c.Config), &collector{}
	config.WarningHandlerWithContext = said
	client, err := dynamic.NewForConfig(config)
	kind := kinds.For(o.GroupVersionKind())
	if err != nil || kind == nil {
		out.Err = err
		return out
	}
	to := client.Resource(o.GroupVersionKind().GroupVersion().WithResource(kind.Resource)).Namespace(o.GetNamespace())
	asked := o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(asked.Object, "metadata", field)
	}
	annotations := map[string]string{}
	maps.Copy(annotations, asked.GetAnnotations())
	annotations[webhook.AskAnnotation] = webhook.AskReview
	asked.SetAnnotations(annotations)
	if o.GetUID() != "" { // it was read from the cluster: as a new object it would hold what only the API server may write
		out.Stored = c.Job(ctx, o)
	}
	there := out.Stored != nil
	if !there {
		_, out.Err = to.Create(ctx, asked, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationWarn})
		if there = apierrors.IsAlreadyExists(out.Err); there {
			out.Stored = c.Job(ctx, o)
			said.take() // admission came first: the webhooks spoke of a second job, to which the pods of this one are others'
		}
	}
	if there {
		patch, err := appliedTo(out.Stored, asked)
		if err != nil {
			out.Err = err
			return out
		}
		_, out.Err = to.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationWarn})
	}
	for _, w := range said.take() {
		if !slices.Contains(out.warnings, w) {
			out.warnings = append(out.warnings, w)
		}
	}
	out.Record, out.warnings = recordIn(out.warnings)
	return out
}

// appliedTo is the change that kubectl apply would make of a stored object: what the file says, without what it said when it
// was applied last; what the API server has filled in stays
// (https://kubernetes.io/docs/tasks/manage-kubernetes-objects/declarative-config/#merge-patch-calculation).
//
// Of an object that one may not read it is all that the file says.
func appliedTo(stored, file *unstructured.Unstructured) ([]byte, error) {
	if stored == nil {
		return file.MarshalJSON()
	}
	current, err := stored.MarshalJSON()
	if err != nil {
		return nil, err
	}
	modified, err := file.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var last []byte
	if text := stored.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; json.Unmarshal([]byte(text), &map[string]any{}) == nil {
		last = []byte(text)
	} // else it was not applied, or somebody else has written it
	return jsonmergepatch.CreateThreeWayJSONMergePatch(last, modified, current)
}

// FitInstead is the webhook's answer, or an unknown that says why there is none. chosen: the user did
// not want nodes listed; else nobody may.
func (h *Heard) FitInstead(unknown *fit.Result, chosen bool) *fit.Result {
	blind := "you may not list nodes"
	if chosen {
		blind = "nodes were not listed"
	}
	if h.Record != nil {
		if r := h.fitOf(); r != nil {
			return r
		}
	}
	out := *unknown
	out.Assumed = []string{blind + ", and " + h.noAnswer()}
	return &out
}

// ours are warnings in the form of Signalbox's webhook: "[name] path: what is".
var ours = regexp.MustCompile(`^\[([a-z0-9-]+)\] (.*)$`)

// droppedField is the field that the API server's warning is about, if that is one it does not know; else empty.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation has the text, 2026-11.
func droppedField(warning string) job.Path {
	name, ok := strings.CutPrefix(warning, "unknown field ")
	if !ok {
		return ""
	}
	name, err := strconv.Unquote(name)
	if at := job.Path(name); err == nil && at.Valid() {
		return at
	}
	return ""
}

// Findings are what was said of the job, but for what the findings there are say already.
func (h *Heard) Findings(said []finding.Finding) (out []finding.Finding) {
	spoke := func(check string) bool {
		return slices.ContainsFunc(said, func(f finding.Finding) bool { return f.Check == check })
	}
	for _, text := range h.warnings {
		text = terminal.OneLine(text)
		m, field := ours.FindStringSubmatch(text), droppedField(text)
		switch {
		case field != "" && slices.ContainsFunc(said, func(f finding.Finding) bool { return f.Named && f.Path == field }):
		case m != nil && (m[1] == "signalbox" || spoke(m[1])), strings.Contains(text, webhook.More):
		case m != nil: // a policy that may not be read from here
			out = append(out, finding.Finding{Check: m[1], Severity: finding.Warning, Message: m[2]})
		default:
			out = append(out, finding.Finding{Check: Check, Severity: finding.Warning, Path: field, Named: field != "", Message: "the API server warns: " + text})
		}
	}
	return append(out, h.Refusals(said, spoke)...)
}

// causesOf are the fields that an API server refuses, each with what is wrong with it. What the scale subresource says once
// more of a field, and that rules were not checked, is none.
func causesOf(err error) (out []metav1.StatusCause) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Details == nil {
		return nil
	}
	for _, c := range status.ErrStatus.Details.Causes {
		name, restated := strings.CutPrefix(c.Field, ".")
		if name == "" || name == noField || restated && slices.ContainsFunc(out, func(o metav1.StatusCause) bool { return o.Field == name }) {
			continue
		}
		c.Field = name
		out = append(out, c)
	}
	return out
}

// noField is what a field error without a path names: that rules were not checked because others were broken
// (k8s.io/apimachinery/pkg/util/validation/field, Path.String; apiextensions-apiserver, customresource/strategy.go).
const noField = "<nil>"

// Refusals are why the API server, or a webhook behind it, does not take the job.
func (h *Heard) Refusals(said []finding.Finding, spoke func(check string) bool) (out []finding.Finding) {
	status, ok := errors.AsType[*apierrors.StatusError](h.Err)
	if !ok || mayNot(h.Err) || status.ErrStatus.Code >= 500 || status.ErrStatus.Code == 429 {
		return nil
	}
	if apierrors.IsNotFound(h.Err) && (status.ErrStatus.Details == nil || status.ErrStatus.Details.Name == "") {
		return append(out, finding.Finding{
			Check: Check, Severity: finding.Error, Path: "kind",
			Message: fmt.Sprintf("the cluster does not serve %s of %s", h.job.Kind, h.job.APIVersion), Remedy: "Install the operator of the kind, or use a version that the cluster serves.",
		})
	}
	refused := func(at job.Path, text string) finding.Finding {
		return finding.Finding{
			Check: Check, Severity: finding.Error, Path: at, Message: "the API server refuses the job: " + terminal.OneLine(apiserver.WithoutGo(text)),
			Remedy: "Change what the API server names.",
		}
	}
	if _, denial, ok := strings.Cut(status.ErrStatus.Message, "denied the request: "); ok {
		if m := ours.FindStringSubmatch(terminal.OneLine(denial)); m != nil && spoke(m[1]) || h.operatorSays(said) {
			return out
		}
	}
	named := false
	for _, c := range causesOf(h.Err) {
		if at := job.Path(c.Field); at.Valid() {
			out = append(out, Unsaid(said, []finding.Finding{refused(at, c.Message)})...)
			named = true
		}
	}
	if !named {
		out = append(out, refused("", status.ErrStatus.Message))
	}
	return out
}

// operatorSays says that a check has said what the operator's own webhook denies.
func (h *Heard) operatorSays(said []finding.Finding) bool {
	v := kinds.Of(h.job).Validates
	return v.Webhook != "" && strings.Contains(h.Err.Error(), strconv.Quote(v.Webhook)) && slices.ContainsFunc(said, func(f finding.Finding) bool {
		return f.Severity == finding.Error && slices.Contains(v.Refuses, f.Check)
	})
}

// Skipped is why the API server did not answer about the job.
func (h *Heard) Skipped() []preflight.Skip {
	status, answered := errors.AsType[*apierrors.StatusError](h.Err)
	switch {
	case h.Err == nil:
		return nil
	case mayNot(h.Err):
		return []preflight.Skip{{Check: Check, Reason: fmt.Sprintf("you may not create a %s in namespace %s, so the API server was not asked%s", h.job.Kind, h.job.Namespace, apiserver.GrantCreate(h.job))}}
	case !answered || status.ErrStatus.Code >= 500 || status.ErrStatus.Code == 429:
		return []preflight.Skip{{Check: Check, Reason: apiserver.ServerSays(h.Err), Failed: true}}
	}
	return nil
}

// collector keeps the warnings of one request.
type collector struct {
	mu   sync.Mutex
	said []string
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (c *collector) HandleWarningHeaderWithContext(_ context.Context, code int, _ string, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if code == 299 && text != "" { // the one code that Kubernetes uses
		c.said = append(c.said, text)
	}
}

func (c *collector) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.said
	c.said = nil
	return said
}

// Of is what the API server says of the pods of a job, and what it could not be asked.
func (r *Rehearsal) Of(ctx context.Context, j *job.Job) (found []finding.Finding, skipped []preflight.Skip) {
	for i := range j.Roles {
		role := &j.Roles[i]
		if role.Replicas.Max == 0 || len(role.Pod.Spec.Containers) == 0 {
			continue
		}
		if role.Pod.Partial {
			skipped = append(skipped, preflight.Skip{Check: Check, Reason: "the pod of " + role.Name + " is not known whole: its runtime was not seen"})
			continue
		}
		_, err := r.pods.CoreV1().Pods(j.Ref.Namespace).Create(ctx, onePod(j, role), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		for _, text := range r.warnings.take() {
			found = append(found, finding.Finding{
				Check: Check, Severity: finding.Warning, Path: role.Pod.At(""), Message: "1 pod of " + role.Name + " makes the API server warn: " + terminal.OneLine(text),
			})
		}
		switch {
		case err == nil:
		case mayNot(err):
			skipped = append(skipped, preflight.Skip{Check: Check, Reason: "you may not create pods in namespace " + j.Ref.Namespace + ", so the API server was not asked; to ask for: create on pods there"})
			return found, skipped
		case apierrors.IsNotFound(err):
			skipped = append(skipped, preflight.Skip{Check: Check, Reason: "namespace " + j.Ref.Namespace + " does not exist yet"})
			return found, skipped
		default:
			fs, ok := refusal(role, err)
			if !ok {
				return found, append(skipped, preflight.Skip{Check: Check, Reason: apiserver.ServerSays(err), Failed: true})
			}
			found = append(found, fs...)
		}
	}
	return found, skipped
}

// onePod is a pod of a role as its operator would create it, but for what the operator adds
// when it does. The API server makes up a name.
func onePod(j *job.Job, r *job.Role) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "signalbox-", Namespace: j.Ref.Namespace, Labels: r.Pod.Labels, Annotations: r.Pod.Annotations,
	}, Spec: *r.Pod.Spec.DeepCopy()}
	return pod
}

// mayNot says whether the user's own rights ended the request, and nothing about the pod.
func mayNot(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot create resource ") && !strings.Contains(err.Error(), "denied the request")
}

// refusal turns the API server's refusal into findings, one for each field that it names;
// ok is false where it did not answer about the pod at all.
func refusal(r *job.Role, err error) (out []finding.Finding, ok bool) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || status.ErrStatus.Code >= 500 || status.ErrStatus.Code == 429 {
		return nil, false
	}
	said := func(at job.Path, text string) finding.Finding {
		return finding.Finding{
			Check: Check, Severity: finding.Error, Path: at, Message: "the API server refuses the pods of " + r.Name + ": " + terminal.OneLine(apiserver.WithoutGo(text)),
			Remedy: "Change what the API server names; it refuses every pod of the role the same way.",
		}
	}
	if details := status.ErrStatus.Details; details != nil {
		for _, c := range details.Causes {
			if c.Field != "" {
				out = append(out, said(placeOf(r, c.Field), c.Message))
			}
		}
	}
	if len(out) == 0 {
		text := status.ErrStatus.Message
		if _, after, found := strings.Cut(text, "is forbidden: "); found {
			text = after
		}
		out = append(out, said(r.Pod.At(""), text))
	}
	return out, true
}

// placeOf is where a field of the pod is written in the job. Fields of the API server's
// messages look like our paths: spec.containers[0].volumeMounts[0].name.
func placeOf(r *job.Role, name string) job.Path {
	rel, inSpec := strings.CutPrefix(name, "spec.")
	if !inSpec {
		return r.Pod.At("")
	}
	if !job.Path(rel).Valid() {
		return r.Pod.At("")
	}
	return r.Pod.At(job.Path(rel))
}

// Unsaid leaves out what a finding of ours has said already at the place, or above it.
func Unsaid(said, more []finding.Finding) (out []finding.Finding) {
	for _, f := range more {
		known := false
		for _, s := range said {
			known = known || s.Severity >= f.Severity && s.Check != Check && (f.Path.Within(s.Path) || s.Path.Within(f.Path) && s.Severity == finding.Error)
		}
		if !known {
			out = append(out, f)
		}
	}
	return out
}

// Probe is a job that every API server serves and that is never stored.
func Probe(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "signalbox-doctor", "namespace": namespace},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"restartPolicy": "Never",
			"containers": []any{map[string]any{
				"name": "probe", "image": "registry.example/probe:1",
				"resources": map[string]any{"requests": map[string]any{"cpu": "1m", "memory": "1Mi"}, "limits": map[string]any{"cpu": "1m", "memory": "1Mi"}},
			}},
		}}},
	}}
}
