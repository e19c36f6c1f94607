package fix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

const wordJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: word, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 6
      template: {spec: {containers: [{name: pytorch, image: "registry.example.com/train:1", resources: {limits: {nvidia.com/gpu: 8}}}]}}
`

// TestNoMoreChangesAreTriedThanTheBound has a finding whose remedies cure nothing, one more than are tried.
func TestNoMoreChangesAreTriedThanTheBound(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(file, []byte(wordJob), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := (&input.Flags{Files: []string{file}}).Read(t.Context(), &shell.Shell{}, nil)
	if err != nil || len(in.Jobs) != 1 {
		t.Fatalf("read the job: %v", err)
	}
	set, err := tuning.All()
	if err != nil {
		t.Fatal(err)
	}
	w := &review.World{Checks: set, Namespace: "default", Quotes: in.Quotes}
	f := &fixer{w: w, texts: map[string][]byte{}, changed: map[string][]byte{}}
	f.reviewer = reviewerOf(w)
	jobs, err := review.Jobs(t.Context(), in, w)
	if err != nil {
		t.Fatal(err)
	}
	f.read(jobs[0].From)
	for extra := range 2 {
		f.tries, f.untried = 0, 0
		remedies := make([][]edit, mostFixTries+extra)
		for i := range remedies {
			remedies[i] = []edit{{at: "metadata.name", with: "other"}}
		}
		asked := 0
		if _, err := f.cure(t.Context(), jobs[0], "nothing", remedies, func(*review.Reviewed) bool { asked++; return false }); err != nil {
			t.Fatal(err)
		}
		if asked != mostFixTries+1 || f.untried != extra { // once of the job as it is
			t.Errorf("%d remedies: %d reviews, %d not tried", len(remedies), asked-1, f.untried)
		}
	}
}

// TestAnEditKeepsEverythingElse writes words where they stand, quoted as they were, or as YAML needs it.
func TestAnEditKeepsEverythingElse(t *testing.T) {
	cases := map[string]struct {
		text, want string
		at         job.Path
		with       string
		key, no    bool
	}{
		"a plain word":              {"a: b # why\n", "a: c # why\n", "a", "c", false, false},
		"one in quotes":             {"a: \"b\" # why\n", "a: \"c\" # why\n", "a", "c", false, false},
		"a key":                     {"m: {a: b, x: y}\n", "m: {c: b, x: y}\n", "m.a", "c", true, false},
		"behind characters":         {"m: {ä: ö, a: b}\n", "m: {ä: ö, a: c}\n", "m.a", "c", false, false},
		"text that looks like true": {"a: b\n", "a: \"yes\"\n", "a", "yes", false, false},
		"a number":                  {"a: 4\r\nb: 1\r\n", "a: 8\r\nb: 1\r\n", "a", "8", false, false},
		"a word over two lines":     {"a: >\n  b\n", "", "a", "c", false, true},
		"what is not there":         {"a: b\n", "", "x", "c", false, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.yaml")
			const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
			if err := os.WriteFile(file, []byte(head+tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := (&input.Flags{Files: []string{file}}).Read(t.Context(), &shell.Shell{}, nil)
			if err != nil || len(in.Others) != 1 {
				t.Fatalf("read the file: %v", err)
			}
			got, ok := editText([]byte(head+tc.text), in.Others[0], []edit{{at: tc.at, with: tc.with, key: tc.key}})
			if ok == tc.no || ok && string(got) != head+tc.want {
				t.Errorf("%t: %q, want %q", ok, got, tc.want)
			}
		})
	}
}

// TestARemedyThatBringsSomethingNewIsNone compares what is said before and after.
func TestARemedyThatBringsSomethingNewIsNone(t *testing.T) {
	said := func(names ...string) (r review.Reviewed) {
		for _, n := range names {
			r.Findings = append(r.Findings, finding.Finding{Check: n})
		}
		return r
	}
	for name, tc := range map[string]struct {
		was, is review.Reviewed
		want    string
	}{
		"less":            {said("a", "b"), said("b"), ""},
		"another":         {said("a"), said("b"), "b"},
		"the same, twice": {said("a"), said("a", "a"), "a"},
	} {
		if got := bringsNew(tc.was, tc.is); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestAPatchIsOneCommand: a manifest names its job as its author likes, and a patch is copied into a shell.
func TestAPatchIsOneCommand(t *testing.T) {
	got := kubectlPatch(map[string]any{"a": "b"}, map[string]any{"a": "it's"}, "pytorchjobs.kubeflow.org", "n;reboot", "x$(reboot)")
	if want := `kubectl patch pytorchjobs.kubeflow.org 'x$(reboot)' -n 'n;reboot' --type=merge -p '{"a":"it'\''s"}'`; got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}
