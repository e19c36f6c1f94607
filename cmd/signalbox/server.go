package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// serverCheck is the name under which check --server says what the API server says. It is
// no check: it asks somebody else.
const serverCheck = "server-dry-run"

// rehearsal asks the API server, with the user's own rights, whether it would take one pod
// of each role: a dry run, which passes all of admission and stores nothing
// (https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run).
type rehearsal struct {
	pods     kubernetes.Interface
	warnings *collector
}

func (c *cluster) rehearse() (*rehearsal, error) {
	config := rest.CopyConfig(c.config)
	heard := &collector{}
	config.WarningHandlerWithContext = heard
	pods, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("reach the API server: %w", err)
	}
	return &rehearsal{pods: pods, warnings: heard}, nil
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

// of is what the API server says of the pods of a job, and what it could not be asked.
func (r *rehearsal) of(ctx context.Context, j *job.Job) (found []finding.Finding, skipped []preflight.Skip) {
	for i := range j.Roles {
		role := &j.Roles[i]
		if role.Replicas.Max == 0 || len(role.Pod.Spec.Containers) == 0 {
			continue
		}
		if role.Pod.Partial {
			skipped = append(skipped, preflight.Skip{Check: serverCheck, Reason: "the pod of " + role.Name + " is not known whole: its runtime was not seen"})
			continue
		}
		_, err := r.pods.CoreV1().Pods(j.Ref.Namespace).Create(ctx, onePod(j, role), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		for _, text := range r.warnings.take() {
			found = append(found, finding.Finding{
				Check: serverCheck, Severity: finding.Warning, Path: role.Pod.At(""), Message: "1 pod of " + role.Name + " makes the API server warn: " + oneLine(text),
			})
		}
		switch {
		case err == nil:
		case mayNot(err):
			skipped = append(skipped, preflight.Skip{Check: serverCheck, Reason: "you may not create pods in namespace " + j.Ref.Namespace + ", so the API server was not asked"})
			return found, skipped
		case apierrors.IsNotFound(err):
			skipped = append(skipped, preflight.Skip{Check: serverCheck, Reason: "namespace " + j.Ref.Namespace + " does not exist yet"})
			return found, skipped
		default:
			fs, ok := refusal(role, err)
			if !ok {
				return found, append(skipped, preflight.Skip{Check: serverCheck, Reason: oneLine(err.Error()), Failed: true})
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
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) && strings.Contains(err.Error(), `cannot create resource "pods"`)
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
			Check: serverCheck, Severity: finding.Error, Path: at, Message: "the API server refuses the pods of " + r.Name + ": " + oneLine(text),
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
	if _, err := job.Path(rel).Resolve(nil); err != nil && strings.HasPrefix(err.Error(), "parse path") {
		return r.Pod.At("")
	}
	return r.Pod.At(job.Path(rel))
}

// unsaid leaves out what a finding of ours has said already at the place, or above it.
func unsaid(said, more []finding.Finding) (out []finding.Finding) {
	for _, f := range more {
		known := false
		for _, s := range said {
			known = known || s.Severity >= f.Severity && s.Check != serverCheck && (f.Path.Within(s.Path) || s.Path.Within(f.Path) && s.Severity == finding.Error)
		}
		if !known {
			out = append(out, f)
		}
	}
	return out
}
