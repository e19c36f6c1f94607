package audit

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// kindsServed is a cluster that serves all kinds of jobs and forbids to list all but some resources.
func kindsServed(allowed ...string) *apiserver.Cluster {
	lists, served := map[schema.GroupVersionResource]string{}, map[string][]string{}
	for _, k := range kinds.All() {
		for _, gvk := range k.GVKs {
			lists[gvk.GroupVersion().WithResource(k.Resource)] = "AnyList"
			served[gvk.Group] = append(served[gvk.Group], gvk.Version)
		}
	}
	objects := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)
	objects.PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		for _, name := range allowed {
			if a.GetResource().Resource == name {
				return false, nil, nil
			}
		}
		return true, nil, apierrors.NewForbidden(a.GetResource().GroupResource(), "", errors.New("no"))
	})
	return &apiserver.Cluster{Objects: objects, Served: served, Namespace: "ml"}
}

// What may not be listed is one sentence, and where nothing may be, that no job was found is no answer.
func TestJobsThatMayNotBeListedAreUnknown(t *testing.T) {
	for name, tc := range map[string]struct {
		live *apiserver.Cluster
		all  bool
		want string
	}{
		"nothing, anywhere":          {kindsServed(), true, "so whether there are training jobs is not known; -n NAMESPACE instead of -A asks for less"},
		"nothing, in one namespace":  {kindsServed(), false, "more in namespace ml, so whether there are training jobs is not known"},
		"one kind, in one namespace": {kindsServed("pytorchjobs"), false, "more in namespace ml; to ask for: the ClusterRole view in namespace ml, "},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &said, Now: time.Now}
			f := &auditFlags{from: review.NewFlags(), everything: tc.all}
			_, _, err := f.jobsOf(t.Context(), sh, tc.live)
			g := getcmd.AnyJob(f.from.Kube, tc.all)
			_, missing, versions, listErr := g.List(t.Context(), tc.live, nil)
			if listErr != nil || missing.Len() == 0 {
				t.Fatalf("list: %v, missing %v", listErr, missing)
			}
			text := said.String()
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, tc.want) || (err != nil) != (len(versions) == 0) || strings.Count(text, "you may not list") != 1 {
				t.Errorf("said %q, want %q", text, tc.want)
			}
		})
	}
}

// A kind whose list fails is named once, and the others are listed; one that is served no more is not there.
func TestAKindThatFailsToListDoesNotHideTheOthers(t *testing.T) {
	every := slices.Collect(func(yield func(string) bool) {
		for _, k := range kinds.All() {
			if !yield(k.Resource) {
				return
			}
		}
	})
	conversion := &apierrors.StatusError{ErrStatus: metav1.Status{ // as the API server words it: without a reason
		Status: metav1.StatusFailure, Code: 500, Message: "conversion webhook for batch.tensorstack.dev/v1beta1 failed: no endpoints",
	}}
	for name, tc := range map[string]struct {
		fails func(schema.GroupResource) error
		note  string // empty: none
		code  int
	}{
		"the webhook that converts it is down": {
			func(r schema.GroupResource) error {
				if r.Resource == "colossalaijobs" {
					return conversion
				}
				return nil
			},
			"note: not listed: colossalaijobs.batch.tensorstack.dev (conversion webhook for batch.tensorstack.dev/v1beta1 failed: no endpoints)\n", shell.ExitUnknown,
		},
		"its CRD is gone": {
			func(r schema.GroupResource) error {
				if r.Resource == "colossalaijobs" {
					return apierrors.NewNotFound(r, "")
				}
				return nil
			}, "", shell.ExitFine,
		},
		"no kind is listed": {
			func(schema.GroupResource) error { return conversion },
			"so whether there are training jobs is not known", shell.ExitUnknown,
		},
		"nobody answers": {
			func(schema.GroupResource) error { return errors.New("connection refused") }, "list ", shell.ExitOurs,
		},
	} {
		t.Run(name, func(t *testing.T) {
			live := kindsServed(every...)
			live.Objects.(*fake.FakeDynamicClient).PrependReactor("list", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
				err := tc.fails(a.GetResource().GroupResource())
				return err != nil, nil, err
			})
			var said bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", Out: &bytes.Buffer{}, Err: &said, Now: time.Now}
			f := &auditFlags{from: review.NewFlags(), everything: true}
			_, missing, err := f.jobsOf(t.Context(), sh, live)
			err = cmp.Or(err, missing.Verdict())
			if err != nil {
				said.WriteString(err.Error())
			}
			if code := shell.CodeOf(shell.Own(err)); code != tc.code || !strings.Contains(said.String(), tc.note) || tc.note == "" && said.Len() > 0 {
				t.Errorf("exit code %d, want %d; said %q, want %q", code, tc.code, said.String(), tc.note)
			}
		})
	}
}
