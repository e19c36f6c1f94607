// Package explanation asks a model about a diagnosis, for the commands that print one: which model, what it is asked, and how
// long a finding waits for it. Start reading at Flags.Open.
package explanation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	explainer "github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
)

// Flags say which model is asked, and how.
type Flags struct {
	settings string // file
	prompts  string // folder, or the manifest of a ConfigMap
	Record   string // folder
	Replay   string // folder
	Explain  bool
	Only     bool // print the question, ask nobody
	Early    bool // a finding may be printed before the model has answered: once more with what it says
	Patience time.Duration
	Began    time.Time     // the diagnosis that is asked about
	own      prompt.Source // of the prompts; nil: what the server reads
	Model    *model        // nil: none is needed
}

// Add adds --config, which names the model.
func (f *Flags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.settings, "config", "", "`file` with settings of the server: llm and prompts are read")
	c.Flags().StringVar(&f.prompts, "prompts", "", "`folder` with prompts of your own, <kind>.tmpl and default.tmpl, or the manifest of a ConfigMap with them")
}

// model is what a shell asks a model with; one for all jobs of a command line, because it counts its calls.
type model struct {
	explainer.Explainer
	Settings config.Config
}

// Open reads the settings, before anything is diagnosed, where a model is asked or its question printed.
func (f *Flags) Open() error {
	if !f.Explain && !f.Only {
		return nil
	}
	settings := config.Default()
	if f.settings != "" {
		var err error
		if settings, err = config.Load(f.settings); err != nil {
			return &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
	}
	client, err := controller.Model(settings)
	switch {
	case err != nil:
		return &shell.Exit{Code: shell.ExitUsage, Cause: err}
	case f.Replay != "":
		client, settings.LLM.Model = llm.Recorded(f.Replay), "the recorded model"
	case f.Explain && client == llm.Off:
		return shell.Usagef("no model is configured; expected --config FILE with llm.provider, llm.baseURL and llm.model, or --prompt-only, which asks nobody")
	}
	client = Patient(client, settings)
	if f.prompts != "" {
		if f.own, err = prompt.Given(f.prompts); err != nil {
			return &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
	}
	if f.Record != "" {
		client = llm.Recording(client, f.Record)
	}
	f.Model = &model{Settings: settings, Explainer: explainer.Explainer{Client: client, MaxTokens: settings.LLM.MaxTokens, PromptBytes: settings.LLM.PromptBytes, PromptTokens: settings.LLM.PromptTokens, Language: settings.LLM.Language, Pseudonyms: settings.LLM.Pseudonyms}}
	return nil
}

// Patient asks again, as the controller does, what may succeed then.
func Patient(c llm.Client, settings config.Config) llm.Client {
	return llm.Retrying(c, llm.Patience{Attempts: settings.LLM.Attempts, Wait: 2 * time.Second, Within: 2 * time.Duration(settings.LLM.Timeout)})
}

// Sources are where prompts come from: the folder of the command line, else what the server reads.
func (f *Flags) Sources(settings config.Config, kube kubernetes.Interface) []prompt.Source {
	if f.own != nil {
		return []prompt.Source{f.own}
	}
	return controller.Prompts{Namespace: settings.Namespace, ConfigMap: settings.Prompts.ConfigMap, Dir: settings.Prompts.Dir}.Sources(kube)
}

// Question is what a model would be asked. What is wrong with a template of the user's own is said.
func (m *model) Question(ctx context.Context, sh *shell.Shell, c diagnose.Case, r diagnose.Result) (explainer.Question, error) {
	if !explainer.Worth(r) {
		return explainer.Question{}, shell.Usagef("%s is %s: there is no failure that a model could explain", r.Job, strings.ToLower(string(r.Verdict)))
	}
	q := m.Ask(ctx, c, r)
	if q.Problem != nil {
		sh.Tell("the built-in prompt is used: %v", q.Problem)
	}
	return q, nil
}

// Spoken is a question to the byte, as people read it or paste it into a chat of their own.
func Spoken(q explainer.Question) string {
	return q.Request.System + "\n\n" + q.Request.User
}

// Patience is how long after its beginning a diagnosis waits for what a model says of it, unless a user gives it longer. What is printed once
// and read by programs then goes without; what people read is printed again with what the model says.
const Patience = 4 * time.Second

// Tell asks the model about a finished diagnosis, and says whether it has something to add. That it fails or that
// nothing of its answer is supported is said, and changes no finding. Where the answer is late, late is called.
func (m *model) Tell(ctx context.Context, sh *shell.Shell, limit time.Duration, q explainer.Question, r *diagnose.Result, late func()) bool {
	p := sh.Progress()
	p.Step("asking %s …", m.Settings.LLM.Model)
	var line sync.Mutex // what is printed while an answer comes
	heard := false
	m.Heard = nil
	if p.To != nil {
		m.Heard = func(text string) {
			line.Lock()
			defer line.Unlock()
			if !heard {
				p.Done()
			}
			heard = true
			fmt.Fprint(p.To, words.Visible(text))
		}
	}
	told, err := m.within(ctx, limit, q, *r, func() {
		line.Lock()
		defer line.Unlock()
		if p.Done(); heard {
			fmt.Fprint(p.To, "\n\n")
		}
		late()
	})
	if p.Done(); heard {
		fmt.Fprint(p.To, "\n\n")
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && (errors.Is(err, cause) || errors.Is(err, context.Canceled)) {
			err = cause
		}
		sh.Tell("%v; the finding stands without it", err)
		return false
	}
	if told.Story.Refused != "" {
		sh.Tell("%s: %s", told.Story.Model, told.Story.Refused)
	}
	if told.Story.Text == "" && len(told.Story.Unsupported) == 0 && told.Story.Nominated == nil {
		if told.Story.Refused == "" {
			sh.Tell("nothing of what %s wrote is shown: %s", told.Story.Model, cmp.Or(told.Story.LeftOut, "the answer has no sentence"))
		}
		return false
	}
	r.Story = told.Story
	return true
}

// within asks, and calls late where the answer is not there in time; the answer is waited for all the same.
func (m *model) within(ctx context.Context, limit time.Duration, q explainer.Question, r diagnose.Result, late func()) (told explainer.Told, err error) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		told, err = m.Explain(ctx, q, r)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-answered:
		return told, err
	case <-timer.C:
		late()
	}
	<-answered
	return told, err
}

// asksNobody ends what is said where a model is not asked.
const asksNobody = "; --prompt-only asks nobody"

// WouldAsk is whether --explain would send a question that is only printed; kube is nil for saved evidence.
func WouldAsk(ctx context.Context, kube kubernetes.Interface, namespace string) string {
	if kube == nil {
		return "nothing was sent; of saved evidence no namespace is asked, and --explain would send this"
	}
	if err := MayAsk(ctx, kube, namespace); err != nil {
		return "nothing was sent, and --explain would send nothing: " + strings.TrimSuffix(terminal.OneLine(err.Error()), asksNobody)
	}
	return "nothing was sent; namespace " + namespace + " is labelled signalbox.dev/llm=enabled, so --explain would send this"
}

// MayAsk refuses to send logs of a namespace whose owner has not allowed it.
func MayAsk(ctx context.Context, kube kubernetes.Interface, namespace string) error {
	n, err := kube.CoreV1().Namespaces().Get(ctx, namespace, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return shell.Usagef("the labels of namespace %s cannot be read, so nobody can say whether its logs may leave the cluster: %v%s", namespace, err, asksNobody)
	case err != nil:
		return fmt.Errorf("read namespace %s: %w", namespace, err)
	case n.Status.Phase == corev1.NamespaceTerminating || !controller.MayLeave(n.Labels):
		return shell.Usagef("namespace %s is not labelled signalbox.dev/llm=enabled, so its logs are not sent to a model%s", namespace, asksNobody)
	}
	return nil
}
