package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/job"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// TestAComparisonCountsWhatItHasNoRoomFor is one above each bound.
func TestAComparisonCountsWhatItHasNoRoomFor(t *testing.T) {
	run := func(prefix string, lines, fields int) *finished {
		var text strings.Builder
		for i := range lines {
			fmt.Fprintf(&text, "%s wrote %s\n", prefix, strings.Map(func(d rune) rune { return d - '0' + 'k' }, fmt.Sprintf("%05d", i)))
		}
		spec := map[string]any{"same": "x"}
		for i := range fields {
			spec[fmt.Sprintf("field%02d", i)] = prefix
		}
		c := diagnose.Case{Job: &job.Job{Source: &unstructured.Unstructured{Object: map[string]any{"spec": spec}}}}
		c.AddLog(prefix+".log", []byte(text.String()))
		return &finished{name: prefix, of: c}
	}
	a, b := run("new", mostNewLines+1, mostFields+1), run("old", 1, mostFields+1)
	c := compared(a, b)
	if err := c.lines(t.Context(), a.of, b.of); err != nil {
		t.Fatal(err)
	}
	if len(c.New) != mostNewLines || c.Others != 1 || len(c.Fields) != mostFields || c.More != 1 {
		t.Errorf("%d lines and %d more, %d fields and %d more; want %d and 1, %d and 1", len(c.New), c.Others, len(c.Fields), c.More, mostNewLines, mostFields)
	}
}

func TestARunOfAnotherNamespaceIsNamedByAPath(t *testing.T) {
	for name, want := range map[string]string{
		"train": " train", "pytorchjob/train": " pytorchjob/train", "prod/pytorchjob/train": "prod pytorchjob/train",
		"logs/rank/0": " logs/rank/0", "../pytorchjob/x": " ../pytorchjob/x",
	} {
		if namespace, rest := ofNamespace(name); namespace+" "+rest != want {
			t.Errorf("%s is %q of namespace %q; want %q", name, rest, namespace, want)
		}
	}
}

func TestAJobIsLookedForBesideTheSavedOne(t *testing.T) {
	of := func(namespace string) diagnose.Case {
		return diagnose.Case{Job: &job.Job{Ref: job.Ref{Namespace: namespace}}}
	}
	cases := map[string]struct {
		first *finished
		flag  string
		want  string
	}{
		"the first of the two":        {nil, "", ""},
		"a bundle":                    {&finished{of: of("mm"), saved: true}, "", "mm"},
		"a bundle, and -n":            {&finished{of: of("mm"), saved: true}, "prod", ""},
		"logs without a job":          {&finished{saved: true}, "", ""},
		"a job of the cluster as now": {&finished{of: of("mm")}, "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := &diagnoseFlags{kube: apiserver.Flags()}
			*f.kube.Namespace = tc.flag
			if got := f.beside(tc.first); got != tc.want {
				t.Errorf("namespace %q; want %q", got, tc.want)
			}
		})
	}
}

func TestWhatAComparisonDoesNotShowIsCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		kept, shown, beyond int
		want                string
	}{
		"all are shown":         {20, 20, 0, ""},
		"one above the text":    {21, 20, 0, "and 1 more; -o json lists all"},
		"one above what it has": {mostNewLines, shownNewLines, 1, "and 181 more; -o json lists the first 200"},
	} {
		if got := moreOf(tc.kept, tc.shown, tc.beyond); got != tc.want {
			t.Errorf("%s: %q; want %q", name, got, tc.want)
		}
	}
}

// Of a run that prints more settings than are remembered it is not said that the others are alike.
func TestSettingsAreBounded(t *testing.T) {
	s := newSettings()
	for i := range mostSettings + 1 {
		s.keep([]keyValue{{fmt.Sprint("k", i), "1"}})
		if s.over != (i == mostSettings) {
			t.Fatalf("after %d settings over is %t", i+1, s.over)
		}
	}
	if len(s.values) != mostSettings {
		t.Errorf("%d are remembered; want %d", len(s.values), mostSettings)
	}
}

// TestTheFirstSettingBehindALabelIsOne: a label is no key, whose value the setting's own key would be.
func TestTheFirstSettingBehindALabelIsOne(t *testing.T) {
	for line, want := range map[string]string{
		"INFO args: lr=0.003 batch_size=64 seed=7": "lr=0.003 batch_size=64 seed=7",
		"config: {'lr': 0.1, 'batch_size': 64}":    "lr=0.1 batch_size=64",
		"args: lr: 0.1 batch_size: 64":             "lr=0.1 batch_size=64",
		"run: args: lr=0.1":                        "lr=0.1",
	} {
		pairs, _, _ := pairsOf(line)
		var got []string
		for _, p := range pairs {
			got = append(got, p.key+"="+p.value)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: %q; want %q", line, text, want)
		}
	}
}

// Forms of lines leave numbers out: it is not said that lines which differ in one are the same.
func TestLinesThatDifferInNumbersAreNotCalledTheSame(t *testing.T) {
	run := func(name, text string) *finished {
		c := diagnose.Case{}
		c.AddLog(name+".txt", []byte(text))
		return &finished{name: name, of: c}
	}
	a, b := run("a", "args: lr=0.1\n"), run("b", "args: lr=0.2\n")
	c := compared(a, b)
	if err := c.lines(t.Context(), a.of, b.of); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := renderComparison(&out, c, "text", terminal.Painter{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"every line of a is like one that b printed, but for numbers in it", "no difference was found between the two but for numbers in their lines"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
}
