package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/explain"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/llm"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Options say what the controller looks at, and how. FromConfig fills all but Catalog, Snapshot,
// Namespace and Metrics.
type Options struct {
	Kinds   []*kinds.Kind
	AllJobs bool // also batch/v1 Jobs that ask for no device and say nothing of training or queues
	Catalog *signature.Catalog
	// Signatures is the catalog in force where it changes while the controller runs; nil: Catalog.
	Signatures *signature.Live
	Core       diagnose.Options
	Limits     collect.Limits
	// Snapshot is the current view of the cluster, for why a job waits; nil: unknown.
	Snapshot func() *cluster.Snapshot
	// Namespace answers with a namespace's labels; known is false where they are not known. nil: never known.
	Namespace func(name string) (labels map[string]string, known bool)

	// Review is what admission says of a job, one Warning for each check; ok is false where it cannot
	// say. nil: nothing is remembered.
	Review func(ctx context.Context, u *unstructured.Unstructured) (says []Warning, ok bool)
	// Said is that where it was said of late, and nothing has to be reviewed for it; else known is false. nil: it never is.
	Said func(u *unstructured.Unstructured) (says []Warning, known bool)

	Model        llm.Client // llm.Off: none
	ModelName    string
	Pseudonyms   bool            // nodes, hosts and addresses are shown under other names
	Language     string          // that the model writes in; empty: it chooses
	ModelBudget  *explain.Budget // of a day; nil: none
	ModelLongest time.Duration   // of all calls for one finding; 0: no limit
	Attempts     int             // calls of the model for one finding
	MaxTokens    int
	PromptBytes  int
	PromptTokens int
	Prompts      Prompts

	Concurrency  int
	PendingAfter time.Duration // waiting longer is unhealthy
	Debounce     time.Duration
	Refresh      time.Duration
	Discovery    time.Duration
	Timeout      time.Duration
	CaptureBytes int64 // memory for what is kept of ended containers; 0: nothing is kept
	// EvidenceBytes bounds the ConfigMap beside one job that it is written to; 0: none is.
	EvidenceBytes int

	Running Running // how jobs that run are watched

	Aegis bool // AegisDiagnosis objects are answered

	// GiveWay waits, for a moment, while other parts of the process do what a caller waits for; nil: none does.
	GiveWay func(context.Context)

	Tracer trace.Tracer // nil: nothing is traced
	Notify func(Notice) // nil: not called; it must not wait
	// Runbook is the address of a page about a category or the reason of an Event; nil: none is named.
	Runbook func(category, reason string) string

	Metrics prometheus.Registerer // nil: not registered
	Now     func() time.Time      // nil: the system's clock
}

func (o Options) now() time.Time {
	if o.Now != nil {
		return o.Now()
	}
	return time.Now()
}

func (o Options) said(u *unstructured.Unstructured) ([]Warning, bool) {
	if o.Said == nil {
		return nil, false
	}
	return o.Said(u)
}

// catalog is the one in force.
func (o Options) catalog() *signature.Catalog {
	if o.Signatures != nil {
		return o.Signatures.Catalog()
	}
	return o.Catalog
}

// Prompts says where templates of the operator's own are.
type Prompts struct{ Namespace, ConfigMap, Dir string }

// FromConfig reads the options of the file. The error names a kind without a reader, or why the
// model cannot be reached as configured.
func FromConfig(c config.Config) (Options, error) {
	selected, err := selectKinds(c.Kinds)
	if err != nil {
		return Options{}, err
	}
	model, err := Model(c)
	if err != nil {
		return Options{}, err
	}
	d := c.Diagnosis
	use, err := usage(d.Running.Prometheus)
	if err != nil {
		return Options{}, err
	}
	limits := progress.Limits{Least: time.Duration(d.Running.HangAfter), Factor: d.Running.HangIntervals, Slow: d.Running.SlowerThan}
	return Options{
		Kinds: selected, AllJobs: slices.Contains(c.Kinds, "Job"),
		Core: diagnose.Options{Running: diagnose.Thresholds{
			Limits: limits, Diverged: d.Running.Diverged, HalfStarted: time.Duration(d.Running.HalfStarted),
		}},
		Limits: collect.Limits{
			Pods: d.Logs.Pods, Parallel: d.Logs.Parallel, HeadBytes: d.Logs.HeadBytes, TailBytes: d.Logs.TailBytes, TotalBytes: d.Logs.TotalBytes,
		},
		Model: model, ModelName: c.LLM.BaseURL + " " + c.LLM.Model, Language: c.LLM.Language, Pseudonyms: c.LLM.Pseudonyms, ModelLongest: 2 * time.Duration(c.LLM.Timeout), ModelBudget: &explain.Budget{
			Calls: c.LLM.PerDay.Calls, Tokens: c.LLM.PerDay.Tokens, NamespaceCalls: c.LLM.PerDay.NamespaceCalls, NamespaceTokens: c.LLM.PerDay.NamespaceTokens,
			Money: c.LLM.PerDay.Money, NamespaceMoney: c.LLM.PerDay.NamespaceMoney, Price: explain.Price{In: c.LLM.Price.In, Out: c.LLM.Price.Out},
		},
		Attempts: c.LLM.Attempts, MaxTokens: c.LLM.MaxTokens, PromptBytes: c.LLM.PromptBytes, PromptTokens: c.LLM.PromptTokens,
		Prompts:     Prompts{Namespace: c.Namespace, ConfigMap: c.Prompts.ConfigMap, Dir: c.Prompts.Dir},
		Concurrency: d.Concurrency, PendingAfter: time.Duration(d.PendingAfter), Debounce: time.Duration(d.Debounce),
		Refresh: time.Duration(d.Refresh), Discovery: time.Duration(d.Discovery), Timeout: time.Duration(d.Timeout),
		CaptureBytes: d.CaptureBytes, EvidenceBytes: d.EvidenceBytes, Aegis: d.Aegis,
		Running: Running{
			Every: time.Duration(d.Running.Every), Pods: d.Running.Pods, Use: use,
			Limits:    limits,
			IdleBelow: d.Running.Prometheus.IdleBelow, IdleBeside: d.Running.Prometheus.IdleBeside, FullAbove: d.Running.Prometheus.FullAbove, IdleFor: time.Duration(d.Running.Prometheus.IdleFor),
		},
	}, nil
}

// Model is the model that the file names, asked no more often than it allows; llm.Off: it names none.
func Model(c config.Config) (llm.Client, error) {
	model, err := llm.New(llm.Profile{
		Provider: c.LLM.Provider, BaseURL: c.LLM.BaseURL, APIVersion: c.LLM.APIVersion, Model: c.LLM.Model, Reasoning: c.LLM.Reasoning,
		APIKeyFile: c.LLM.APIKeyFile, APIKey: os.Getenv(c.LLM.APIKeyEnv), CAFile: c.LLM.CAFile,
		Proxy: c.LLM.Proxy, Headers: c.LLM.Headers, Timeout: time.Duration(c.LLM.Timeout),
	})
	if err != nil || model == llm.Off {
		return llm.Off, err
	}
	return llm.Limited(model, c.LLM.PerMinute), nil
}

func selectKinds(names []string) ([]*kinds.Kind, error) {
	all := kinds.All()
	if len(names) == 0 {
		return all, nil
	}
	var out []*kinds.Kind
	var errs []error
	for _, name := range names {
		i := slices.IndexFunc(all, func(k *kinds.Kind) bool { return k.Name == name })
		if i < 0 {
			errs = append(errs, fmt.Errorf("read kinds: no reader for %q", name))
			continue
		}
		out = append(out, all[i])
	}
	return out, errors.Join(errs...)
}
