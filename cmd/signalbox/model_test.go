package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/explanation"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// explained is a folder with the bundles that the script about --explain is tried on.
func explained(t *testing.T) string {
	t.Helper()
	script, err := txtar.ParseFile("../../test/cli/diagnose-explain.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range script.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What the rules found is printed whatever the model says, and of what it says only what the evidence
// holds.
func TestExplainInTheShell(t *testing.T) {
	dir := explained(t)
	server, err := fakellm.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ out, err string }{
		fakellm.Grounded:   {out: "grounded says (1 of 5 sentences is not supported by what was read; 1 of 5 sentences left out: "},
		fakellm.Ungrounded: {err: "nothing of what ungrounded wrote is shown: "},
		fakellm.Broken:     {err: "ask model broken: error, status code: 500"},
	} {
		settings := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: "+name+", attempts: 1}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now}
		if code := run(t.Context(), sh, []string{"diagnose", "--bundle", filepath.Join(dir, "train"), "--explain", "--config", settings}); code != shell.ExitFine {
			t.Errorf("%s: exit code %d, want 0: %s", name, code, errs.String())
		}
		if got := out.String(); !strings.Contains(got, "PyTorchJob ml/train: not healthy (host-oom-killed: host or container memory exhausted)") || !strings.Contains(got, tc.out) {
			t.Errorf("%s: printed %s, want the finding and %q", name, got, tc.out)
		}
		if !strings.Contains(errs.String(), tc.err) {
			t.Errorf("%s: said %s, want %q", name, errs.String(), tc.err)
		}
	}
	for _, r := range server.Requests() {
		if strings.Contains(r.User, "hunter2secret") {
			t.Error("a secret of the log was sent")
		}
	}
}

// What contradicts nothing and nothing supports is printed apart, in text and in JSON, and what brings a number of its own is not.
func TestWhatNothingSupportsIsPrintedApart(t *testing.T) {
	dir := explained(t)
	const apart = "A container that grows slowly past its memory limit often has a leak somewhere."
	server, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string {
		return "Error: train-worker-0 was OOMKilled [pod/train-worker-0/pytorch/exit].\nAnalysis: " + apart + " It held 4711 tensors [pod/train-worker-0/pytorch/exit]."
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "teller.yaml")
	if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: teller}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		as   []string
		want []string
	}{
		{nil, []string{"teller says (1 of 3 sentences is not supported by what was read; 1 of 3 sentences left out: 1 a number that its evidence does not hold)", "teller says, not supported by what was read\n  " + apart + "\n"}},
		{[]string{"-o", "json"}, []string{`"unsupported": [` + "\n      \"" + apart + `"`, `"leftOut": "1 of 3 sentences is not supported by what was read; 1 of 3`}},
	} {
		var out, errs bytes.Buffer
		sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now}
		if code := run(t.Context(), sh, append([]string{"diagnose", "--bundle", filepath.Join(dir, "train"), "--explain", "--config", settings}, tc.as...)); code != shell.ExitFine {
			t.Errorf("%v: exit code %d, want 0: %s", tc.as, code, errs.String())
		}
		for _, want := range tc.want {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "4711") {
				t.Errorf("%v: printed %s, want %q and no 4711", tc.as, out.String(), want)
			}
		}
	}
}

// What prompt render prints is what a server is sent, to the byte: with the built-in question, with one of one's own that
// ends without a line end, and in Chinese.
func TestWhatIsRenderedIsWhatIsSent(t *testing.T) {
	dir := explained(t)
	prompts := filepath.Join(dir, "unended")
	if err := os.MkdirAll(prompts, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(prompts, "pytorchjob.tmpl"), []byte("\n{{.ErrorInfo}}\n\nWhy, in one sentence?"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		more string
		args []string
	}{
		"the built-in question":     {},
		"in Chinese":                {more: ", language: Chinese"},
		"room for little":           {more: ", promptTokens: 1000"},
		"a template of one's own":   {args: []string{"--prompts", prompts}},
		"a template that is broken": {args: []string{"--prompts", filepath.Join(dir, "broken")}},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string { return "Analysis: nothing." })
			if err != nil {
				t.Fatal(err)
			}
			settings := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: m"+tc.more+"}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			asked := func(args ...string) string {
				var out bytes.Buffer
				sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: io.Discard, Now: time.Now}
				if code := run(t.Context(), sh, append(append(args, "--bundle", filepath.Join(dir, "train"), "--config", settings), tc.args...)); code != shell.ExitFine {
					t.Fatalf("%v: exit code %d, want 0", args, code)
				}
				return out.String()
			}
			rendered := asked("prompt", "render")
			if n := len(server.Requests()); n != 0 {
				t.Fatalf("prompt render asked the model %d times", n)
			}
			asked("diagnose", "--explain")
			sent := server.Requests()
			if len(sent) == 0 {
				t.Fatal("diagnose --explain asked nobody")
			}
			for _, r := range sent {
				if diff := cmp.Diff(r.System+"\n\n"+r.User, rendered); diff != "" {
					t.Errorf("rendered (-sent +rendered):\n%s", diff)
				}
			}
		})
	}
}

// firstWrite says when something was printed.
type firstWrite struct {
	text    bytes.Buffer
	once    sync.Once
	printed chan struct{}
}

func (w *firstWrite) Write(b []byte) (int, error) {
	w.once.Do(func() { close(w.printed) })
	return w.text.Write(b)
}

// What the rules found is printed while a slow model thinks, as it is without one; once more only where it says something.
func TestASlowModelHoldsUpNothing(t *testing.T) {
	dir := explained(t)
	var rules bytes.Buffer
	sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &rules, Err: io.Discard, Now: time.Now}
	if code := run(t.Context(), sh, []string{"diagnose", "--bundle", filepath.Join(dir, "train")}); code != shell.ExitFine {
		t.Fatal(code)
	}
	for answer, more := range map[string]bool{
		"I cannot help.": false,
		"Error: The container was OOMKilled with exit code 137 [pod/train-worker-0/pytorch/exit].": true,
	} {
		out := &firstWrite{printed: make(chan struct{})}
		server, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string {
			<-out.printed // the model answers no sooner than the finding is there
			return answer
		})
		if err != nil {
			t.Fatal(err)
		}
		settings := filepath.Join(dir, "slow.yaml")
		if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: slow}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: out, Err: io.Discard, Now: time.Now, Patience: time.Millisecond}
		if code := run(t.Context(), sh, []string{"diagnose", "--bundle", filepath.Join(dir, "train"), "--explain", "--config", settings}); code != shell.ExitFine {
			t.Errorf("exit code %d, want 0", code)
		}
		got, ok := strings.CutPrefix(out.text.String(), rules.String())
		if !ok {
			t.Errorf("the finding is not what it is without a model: %s", out.text.String())
		}
		if strings.Contains(got, "slow says") != more || !more && got != "" {
			t.Errorf("%q: printed after the finding: %q", answer, got)
		}
	}
}

// An answer that was kept is there, however slow the machine: the finding is printed once, with it.
func TestAReplayedAnswerIsWaitedFor(t *testing.T) {
	example := filepath.Join("..", "..", "examples", "read-by-a-model")
	var out bytes.Buffer
	sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: io.Discard, Now: time.Now, Patience: time.Nanosecond}
	if code := run(t.Context(), sh, []string{"diagnose", "--bundle", filepath.Join(example, "train"), "--explain", "--replay", filepath.Join(example, "answers")}); code != shell.ExitFine {
		t.Errorf("exit code %d, want 0", code)
	}
	if n := strings.Count(out.String(), "PyTorchJob ml/train: "); n != 1 || !strings.Contains(out.String(), "the model example-model says") {
		t.Errorf("printed %d times:\n%s", n, out.String())
	}
}

// What reading and the rules took is not waited once more: where it was as long as a model may take, the finding is printed before
// the model has answered.
func TestWhatTheRulesTookIsNotWaitedAgain(t *testing.T) {
	dir := explained(t)
	out := &firstWrite{printed: make(chan struct{})}
	server, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string {
		<-out.printed // forever, where the finding waits for the model
		return "I cannot help."
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, "slow.yaml")
	if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: slow}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var clock sync.Mutex
	at := time.Date(2026, 11, 22, 5, 0, 0, 0, time.UTC)
	sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: out, Err: io.Discard, Patience: time.Hour, Now: func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		at = at.Add(time.Hour) // each look at the clock is an hour after the one before
		return at
	}}
	if code := run(t.Context(), sh, []string{"diagnose", "--bundle", filepath.Join(dir, "train"), "--explain", "--config", settings}); code != shell.ExitFine {
		t.Errorf("exit code %d, want 0", code)
	}
}

// A program that reads the finding has it within the patience too, as it is without a model, and is told how to wait.
func TestASlowModelHoldsUpNoProgram(t *testing.T) {
	dir := explained(t)
	asked := []string{"diagnose", "--bundle", filepath.Join(dir, "train"), "-o", "json"}
	var rules bytes.Buffer
	sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &rules, Err: io.Discard, Now: time.Now}
	if code := run(t.Context(), sh, asked); code != shell.ExitFine {
		t.Fatal(code)
	}
	ended := make(chan struct{})
	server, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string {
		<-ended // the model answers nobody who still waits
		return "Error: The container was OOMKilled with exit code 137 [pod/train-worker-0/pytorch/exit]."
	})
	if err != nil {
		t.Fatal(err)
	}
	defer close(ended)
	settings := filepath.Join(dir, "silent.yaml")
	if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: silent}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	sh = &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &said, Now: time.Now}
	if code := run(t.Context(), sh, append(asked, "--explain", "--config", settings, "--patience", "1ms")); code != shell.ExitFine {
		t.Errorf("exit code %d, want 0: %s", code, said.String())
	}
	if diff := cmp.Diff(rules.String(), out.String()); diff != "" {
		t.Errorf("the finding is not what it is without a model (-rules +got):\n%s", diff)
	}
	if want := "signalbox: silent has not answered within 1ms (--patience 2m waits longer); the finding stands without it"; !strings.Contains(said.String(), want) {
		t.Errorf("%q; want %q", said.String(), want)
	}
}

// Logs of a namespace leave the cluster only where its label says so, and nobody who cannot read it decides.
func TestOnlyALabelledNamespaceIsAsked(t *testing.T) {
	labelled := func(name string, labels map[string]string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	}
	kube := fake.NewClientset(labelled("ml", map[string]string{"signalbox.dev/llm": "enabled"}), labelled("other", map[string]string{"signalbox.dev/llm": "no"}), labelled("plain", nil))
	for namespace, want := range map[string]string{
		"ml": "", "other": "is not labelled signalbox.dev/llm=enabled", "plain": "is not labelled signalbox.dev/llm=enabled", "none": "not found",
	} {
		err := explanation.MayAsk(t.Context(), kube, namespace)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", namespace, err, want)
		}
	}
	for namespace, want := range map[string]string{
		"ml":    "nothing was sent; namespace ml is labelled signalbox.dev/llm=enabled, so --explain would send this",
		"plain": "nothing was sent, and --explain would send nothing: namespace plain is not labelled signalbox.dev/llm=enabled, so its logs are not sent to a model",
	} {
		if got := explanation.WouldAsk(t.Context(), kube, namespace); got != want {
			t.Errorf("%s: %q, want %q", namespace, got, want)
		}
	}
}

// A line that a model names where the rules find no cause is printed as the error, marked; why one is refused is said.
func TestANominationInTheShell(t *testing.T) {
	script, err := txtar.ParseFile("../../test/cli/diagnose-explain.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range script.Files {
		name, data := filepath.Join(dir, f.Name), string(f.Data)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		data = strings.Replace(data, "exitCode: 137, reason: OOMKilled", "exitCode: 3, reason: Error", 1)
		data = strings.Replace(data, "step 30 loss 1.9 password=hunter2secret", "no seat is left for solver-x", 1)
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, tc := range map[string]struct{ out, err string }{
		"3": {out: `train-worker-0 (Worker 0, node h100-2): "no seat is left for solver-x": access refused, it seems (read by a model, tested by rules: hypothesis).`},
		"9": {out: "cause not shown", err: "reader: the nomination of [pod/train-worker-0/pytorch#9] as permission-denied is refused: no such line was shown"},
	} {
		server, err := fakellm.StartSaying(t.Context(), func(fakellm.Request) string {
			return `{"healthy":"No","error":"","analysis":[],"solution":[],"nominate":{"line":"pod/train-worker-0/pytorch#` + line + `","quote":"","category":"permission-denied"}}`
		})
		if err != nil {
			t.Fatal(err)
		}
		settings := filepath.Join(dir, "reader.yaml")
		if err := os.WriteFile(settings, []byte("llm: {provider: openai, baseURL: \""+server.URL+"\", model: reader}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &errs, Now: time.Now}
		if code := run(t.Context(), sh, []string{"diagnose", "--bundle", filepath.Join(dir, "train"), "--explain", "--config", settings}); code != shell.ExitFine {
			t.Errorf("line %s: exit code %d: %s", line, code, errs.String())
		}
		if !strings.Contains(out.String(), tc.out) || !strings.Contains(errs.String(), tc.err) || strings.Contains(out.String(), "sentences left out") {
			t.Errorf("line %s: printed %s and said %s; want %q and %q", line, out.String(), errs.String(), tc.out, tc.err)
		}
	}
}
