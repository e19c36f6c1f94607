package labelled

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

func TestAnErrorIsWrittenOnTheConfigMapItNames(t *testing.T) {
	found := []*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "limits"}}, {ObjectMeta: metav1.ObjectMeta{Name: "old-limits"}}}
	cases := map[string]struct {
		why  string
		want []string
	}{
		"nothing is wrong":               {"", nil},
		"one is named":                   {"parse old-limits/a.rego: 1 error", []string{"old-limits"}},
		"a name that ends like another":  {"compile policies: limits/a.rego:3: undefined x", []string{"limits"}},
		"both are named":                 {"limits/a.json and old-limits/b.json: both set data.x", []string{"limits", "old-limits"}},
		"none is named: all are to know": {"merge data: too large", []string{"limits", "old-limits"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			blamed := blame(tc.why, found)
			for _, m := range found {
				if blamed[m.Name] != "" {
					got = append(got, m.Name)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("blamed (-want +got):\n%s", diff)
			}
		})
	}
}

// kubectl puts a file that is no UTF-8 under binaryData: it is a file like the others, or a policy is not in force and
// nobody is told.
func TestFilesAreThoseOfBothKinds(t *testing.T) {
	got := files([]*corev1.ConfigMap{{
		ObjectMeta: metav1.ObjectMeta{Name: "limits"},
		Data:       map[string]string{"b.rego": "package b", "z.rego": "package z"},
		BinaryData: map[string][]byte{"a.rego": []byte("package \xe9")},
	}})
	var names []string
	for _, f := range got.Files {
		names = append(names, f.Name+": "+string(f.Data))
	}
	if diff := cmp.Diff([]string{"limits/a.rego: package \xe9", "limits/b.rego: package b", "limits/z.rego: package z"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// What stands in a file cannot make two sets look like one: the second would not be loaded.
func TestSetsThatDifferAreToldApart(t *testing.T) {
	of := func(data map[string]string) string {
		return mark(files([]*corev1.ConfigMap{{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Data: data}}))
	}
	one, two := of(map[string]string{"a.rego": "package a\n-- m/b.rego --\npackage b\n"}), of(map[string]string{"a.rego": "package a\n", "b.rego": "package b\n"})
	if one == two {
		t.Error("a file that holds another, and both of them, look the same")
	}
	if again := of(map[string]string{"a.rego": "package a\n", "b.rego": "package b\n"}); again != two {
		t.Error("the same set looks like another")
	}
}

// What keeps ConfigMaps as they are in git may take the error away for ever: it is written less and less often.
func TestAnErrorThatSomebodyTakesAwayIsWrittenLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "signalbox-system", Name: "limits"}, Data: map[string]string{"a.rego": "package"}}
		kube := fake.NewClientset(m.DeepCopy())
		found := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		if err := found.Add(m); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("limits/a.rego: it is no policy")
		p := New(Options{
			Client: kube, Namespace: "signalbox-system", Annotation: "signalbox.dev/policy-error", What: "policies", Reason: "Policy",
			Load: func(fs.FS) (string, error) { return "", broken }, Log: logr.Discard(),
		})
		events, last := record.NewFakeRecorder(4096), ""
		writes, longest, before := 0, time.Duration(0), time.Now()
		for range 3600 {
			kube.ClearActions()
			var again time.Duration
			if last, again = p.follow(t.Context(), listers.NewConfigMapLister(found), events, last); again < 0 || again > 5*time.Minute {
				t.Fatalf("it is looked at again after %s; want after five minutes at most", again)
			}
			if n := len(kube.Actions()); n > 0 {
				writes += n
				longest, before = max(longest, time.Since(before)), time.Now()
			}
			time.Sleep(time.Second) //nolint:forbidigo // the clock is the test's
		}
		if writes < 2 || writes > 24 || len(events.Events) != writes {
			t.Errorf("%d writes and %d Events within an hour; want a few of each", writes, len(events.Events))
		}
		if longest != 5*time.Minute {
			t.Errorf("it is left alone for %s at most; want five minutes", longest)
		}
		broken = errors.New("limits/a.rego: it is no policy, either")
		kube.ClearActions()
		changed := m.DeepCopy()
		changed.Data["a.rego"] = "package package"
		if err := found.Update(changed); err != nil {
			t.Fatal(err)
		}
		if p.follow(t.Context(), listers.NewConfigMapLister(found), events, last); len(kube.Actions()) != 1 {
			t.Errorf("another error is written %d times; want once, at once", len(kube.Actions()))
		}
	})
}

// An error is as long as it may be, and ends at the border of a character.
func TestAnErrorIsCutAtItsBound(t *testing.T) {
	for text, want := range map[string]int{
		strings.Repeat("x", mostBytes):     mostBytes,
		strings.Repeat("x", mostBytes+1):   mostBytes,
		strings.Repeat("ü", mostBytes/2+1): mostBytes - 1, // one byte of the mark's three stays free
	} {
		if got := clip(text); len(got) != want || !utf8.ValidString(got) || strings.HasSuffix(got, "…") != (len(text) > mostBytes) {
			t.Errorf("of %d bytes %d are left, %q at the end; want %d", len(text), len(got), got[len(got)-6:], want)
		}
	}
}

// Thousands of ConfigMaps of a megabyte are no set: the last good one stays.
func TestASetIsBounded(t *testing.T) {
	for size, want := range map[int]string{32 << 20: "", 32<<20 + 1: "33 ConfigMap keys have 33 MiB together, and may have 32 MiB"} {
		var found []*corev1.ConfigMap
		for i := 0; size > 0; i++ {
			n := min(size, 1<<20)
			found = append(found, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%02d", i)}, Data: map[string]string{"a.rego": strings.Repeat("#", n)}})
			size -= n
		}
		loaded := false
		p := New(Options{What: "policies", Load: func(fs.FS) (string, error) { loaded = true; return "1", nil }, Log: logr.Discard()})
		p.load(files(found))
		if loaded != (want == "") || p.Broken() != want {
			t.Errorf("loaded: %t, %q; want %q", loaded, p.Broken(), want)
		}
	}
}
