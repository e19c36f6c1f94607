// Package config is the file that `signalbox serve --config` reads: typed, with embedded
// defaults, decoded strictly. It holds values and checks them; it starts nothing, and only
// the edges (the server, the controller, the commands) import it.
//
// config.yaml is both the defaults and their documentation. Start reading at Config.
package config

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed config.yaml
var defaults []byte

// Config is every setting of the server. config.yaml documents each field with its default.
type Config struct {
	Namespace      string         `yaml:"namespace"`      // where Signalbox itself runs
	Kinds          []string       `yaml:"kinds"`          // empty: every kind the cluster serves
	Listen         Listen         `yaml:"listen"`         // addresses
	Webhook        Webhook        `yaml:"webhook"`        // bounds of one review
	Checks         Checks         `yaml:"checks"`         // which checks run, and how
	Policies       Policies       `yaml:"policies"`       // where policies come from
	Signatures     Signatures     `yaml:"signatures"`     // where signatures of the operator's own come from
	Certificates   Certificates   `yaml:"certificates"`   // who issues the webhook's certificate
	LeaderElection LeaderElection `yaml:"leaderElection"` // one active controller among replicas
	Diagnosis      Diagnosis      `yaml:"diagnosis"`      // when and how much to read
	LLM            LLM            `yaml:"llm"`            // the model that explains; off by default
	Prompts        Prompts        `yaml:"prompts"`        // prompts of the operator's own
	Notifications  Notifications  `yaml:"notifications"`  // who is told of failures; off by default
	Runbooks       string         `yaml:"runbooks"`       // address of pages about what is found; empty: Events name none
	Tracing        Tracing        `yaml:"tracing"`        // spans for a collector; off by default
	Log            Log            `yaml:"log"`            // the server's own log
}

// Listen are addresses as net.Listen takes them; "0" turns metrics, health or debug off.
type Listen struct {
	Webhook string `yaml:"webhook"` // TLS
	Metrics string `yaml:"metrics"` // /metrics
	Health  string `yaml:"health"`  // /healthz, /readyz
	Debug   string `yaml:"debug"`   // /debug; a loopback address
}

// Webhook bounds one review.
type Webhook struct {
	Deadline       Duration `yaml:"deadline"`       // of checks and fit, from when it is their turn
	PolicyDeadline Duration `yaml:"policyDeadline"` // of policies, before the checks and after them
	Concurrency    int      `yaml:"concurrency"`    // reviews at a time; 0: two for each CPU
	Operators      []string `yaml:"operators"`      // users whose parts of reviewed jobs are not reviewed again
	ClientCAFile   string   `yaml:"clientCAFile"`   // who may call; empty: anybody
	Exclude        []string `yaml:"exclude"`        // namespaces whose jobs are never looked at
	Closed         Closed   `yaml:"closed"`         // chosen namespaces are closed on failure; off by default
}

// Closed says that the second webhook configuration is installed, under which jobs of chosen namespaces are refused
// while no replica answers.
type Closed struct {
	Enabled  bool `yaml:"enabled"`
	Replicas int  `yaml:"replicas"` // that run; two or more
}

// Checks tunes checks, everywhere and by namespace.
type Checks struct {
	Disable    []string             `yaml:"disable"`    // names
	Severity   map[string]string    `yaml:"severity"`   // by name: note, warning, error or off
	Params     map[string]yaml.Node `yaml:"params"`     // by name; decoded strictly by the check
	Namespaces map[string]Tuning    `yaml:"namespaces"` // what differs, by name of the namespace
}

// Tuning is what differs in one namespace; it wins over what holds everywhere.
type Tuning struct {
	Disable  []string             `yaml:"disable"`
	Severity map[string]string    `yaml:"severity"`
	Params   map[string]yaml.Node `yaml:"params"`
}

// Policies says where policies come from.
type Policies struct {
	ConfigMaps bool         `yaml:"configMaps"` // load labelled ConfigMaps of the namespace
	Bundle     PolicyBundle `yaml:"bundle"`     // of a registry, beside them
	Decisions  Decisions    `yaml:"decisions"`  // what was asked and said, recorded
}

// Decisions says where reviews are recorded for signalbox policy replay.
type Decisions struct {
	Dir   string   `yaml:"dir"`   // folder that outlasts the pod; empty: nothing is recorded
	Bytes int64    `yaml:"bytes"` // of all files together; the oldest go first
	Keep  Duration `yaml:"keep"`  // files that are older go, too
}

// PolicyBundle is a bundle of policies in a registry.
type PolicyBundle struct {
	Reference   string   `yaml:"reference"`   // with a tag or a digest; empty: none
	Interval    Duration `yaml:"interval"`    // between two looks at a tag
	Key         string   `yaml:"key"`         // file of the public key that has signed it
	Credentials string   `yaml:"credentials"` // file of credentials for the registry, as docker login writes it
	CA          string   `yaml:"ca"`          // file of certificates that sign the registry's
	PlainHTTP   bool     `yaml:"plainHTTP"`   // without TLS: for registries on loopback
}

// Signatures says where signatures of the operator's own come from.
type Signatures struct {
	ConfigMaps bool   `yaml:"configMaps"` // load labelled ConfigMaps of the namespace
	Dir        string `yaml:"dir"`        // of *.yaml, read at the start; empty: none
}

// Certificates says who issues the certificate of the webhook.
type Certificates struct {
	Mode                 string   `yaml:"mode"` // "builtin" or "files"
	Dir                  string   `yaml:"dir"`  // of tls.crt, tls.key
	Secret               string   `yaml:"secret"`
	WebhookConfiguration string   `yaml:"webhookConfiguration"`
	Hosts                []string `yaml:"hosts"` // names and addresses in the certificate
	Service              string   `yaml:"service"`
}

// LeaderElection chooses one controller among replicas.
type LeaderElection struct {
	Enabled bool   `yaml:"enabled"`
	Name    string `yaml:"name"` // of the Lease
}

// Diagnosis says when a job is looked at, and how much of it is read.
type Diagnosis struct {
	Concurrency  int      `yaml:"concurrency"`  // jobs in parallel
	PendingAfter Duration `yaml:"pendingAfter"` // waiting longer than this is unhealthy
	Debounce     Duration `yaml:"debounce"`     // changes within this time count once
	Refresh      Duration `yaml:"refresh"`      // of the reason why a job waits
	Discovery    Duration `yaml:"discovery"`    // of kinds installed later
	Timeout      Duration `yaml:"timeout"`      // of one diagnosis
	Logs         Logs     `yaml:"logs"`
	CaptureBytes int64    `yaml:"captureBytes"` // memory for what is kept of ended containers; 0: nothing is kept
	Running      Running  `yaml:"running"`      // jobs that run are watched, too
	// EvidenceBytes bounds the ConfigMap beside a job that holds the same; 0: none is written.
	EvidenceBytes int `yaml:"evidenceBytes"`
	// Aegis answers AegisDiagnosis objects of kind PytorchJob; it takes their CRD and rights: config/aegis.
	Aegis bool `yaml:"aegis"`
}

// Running says how jobs that run are watched.
type Running struct {
	Every         Duration   `yaml:"every"`         // between two looks; 0: none
	Pods          int        `yaml:"pods"`          // whose logs are looked at
	HangAfter     Duration   `yaml:"hangAfter"`     // silence shorter than this is no hang
	HangIntervals int        `yaml:"hangIntervals"` // nor for fewer usual intervals than this
	SlowerThan    float64    `yaml:"slowerThan"`    // times the median of a step
	Diverged      float64    `yaml:"diverged"`      // a loss so many times its lowest, and no lower than it began
	HalfStarted   Duration   `yaml:"halfStarted"`   // some pods hold devices and others have no node
	Prometheus    Prometheus `yaml:"prometheus"`
}

// Prometheus answers what pods and nodes use; without an address nothing is asked.
type Prometheus struct {
	URL        string   `yaml:"url"`
	Query      string   `yaml:"query"`      // with $namespace, $pods, $over; a value in percent for each pod
	Queries    Queries  `yaml:"queries"`    // of other resources; an empty one is not asked
	IdleBelow  float64  `yaml:"idleBelow"`  // percent
	IdleBeside float64  `yaml:"idleBeside"` // percent of what the others do
	FullAbove  float64  `yaml:"fullAbove"`  // percent
	IdleFor    Duration `yaml:"idleFor"`
	TokenFile  string   `yaml:"tokenFile"` // read anew for each question
	CAFile     string   `yaml:"caFile"`    // PEM; empty: the system's
}

// Queries are of other resources than GPUs: with $namespace, $pods, $nodes, $over, one value for each pod or nodename.
type Queries struct {
	CPU           string `yaml:"cpu"`           // cores
	Throttled     string `yaml:"throttled"`     // percent of periods
	Memory        string `yaml:"memory"`        // bytes
	MemoryOfLimit string `yaml:"memoryOfLimit"` // percent
	Network       string `yaml:"network"`       // bytes a second
	Disk          string `yaml:"disk"`          // bytes a second
	NodeDisk      string `yaml:"nodeDisk"`      // percent, by nodename
	NodeNetwork   string `yaml:"nodeNetwork"`   // percent, by nodename
}

// Logs bounds what is read of the logs of one job.
type Logs struct {
	Pods       int   `yaml:"pods"`     // whose logs are read; failed ones first
	Parallel   int   `yaml:"parallel"` // logs read at the same time
	HeadBytes  int64 `yaml:"headBytes"`
	TailBytes  int64 `yaml:"tailBytes"`
	TotalBytes int64 `yaml:"totalBytes"` // of all logs together
}

// LLM is the language model; the zero value is none.
type LLM struct {
	Provider    string            `yaml:"provider"`   // "openai" or "azure"; empty: no model
	BaseURL     string            `yaml:"baseURL"`    // up to and including /v1; of Azure: of the resource
	Allow       []string          `yaml:"allow"`      // hosts to which logs may go; *.example.com are all below it
	APIVersion  string            `yaml:"apiVersion"` // of Azure
	Model       string            `yaml:"model"`
	Language    string            `yaml:"language"`   // that it writes in; empty: it chooses
	Reasoning   bool              `yaml:"reasoning"`  // other names for its limits, no temperature
	APIKeyFile  string            `yaml:"apiKeyFile"` // read anew for each call
	APIKeyEnv   string            `yaml:"apiKeyEnv"`  // name of a variable, not the key
	CAFile      string            `yaml:"caFile"`     // PEM; empty: the system's
	Proxy       string            `yaml:"proxy"`      // its address; empty: as HTTPS_PROXY and NO_PROXY say
	Headers     map[string]string `yaml:"headers"`
	Timeout     Duration          `yaml:"timeout"`     // of one call
	PerMinute   int               `yaml:"perMinute"`   // calls, over all jobs
	PerDay      PerDay            `yaml:"perDay"`      // what may be spent in a day
	Price       Price             `yaml:"price"`       // for a million tokens
	Attempts    int               `yaml:"attempts"`    // calls for one finding
	MaxTokens   int               `yaml:"maxTokens"`   // of one answer
	PromptBytes int               `yaml:"promptBytes"` // of the evidence in one prompt

	PromptTokens int  `yaml:"promptTokens"` // of the same, as cl100k_base counts them
	Pseudonyms   bool `yaml:"pseudonyms"`   // nodes, hosts and addresses leave under other names
}

// PerDay is what may be spent on the model in a day (UTC); 0 is no limit.
type PerDay struct {
	Calls           int `yaml:"calls"`
	Tokens          int `yaml:"tokens"` // as the server counts them
	NamespaceCalls  int `yaml:"namespaceCalls"`
	NamespaceTokens int `yaml:"namespaceTokens"`

	Money          float64 `yaml:"money"` // in the currency of Price
	NamespaceMoney float64 `yaml:"namespaceMoney"`
}

// Price is what a model costs, for a million tokens; 0: nothing, or not known.
type Price struct {
	In  float64 `yaml:"in"`
	Out float64 `yaml:"out"`
}

// Prompts says where prompts of the operator's own are.
type Prompts struct {
	ConfigMap string `yaml:"configMap"` // in Config.Namespace
	Dir       string `yaml:"dir"`
}

// Notifications says who is told of failures; without a receiver nobody is.
type Notifications struct {
	Receivers []Receiver `yaml:"receivers"`
}

// Receiver is one place that is told of failures.
type Receiver struct {
	Name       string   `yaml:"name"`       // in metrics and logs
	Form       string   `yaml:"form"`       // alertmanager, slack, generic
	URL        string   `yaml:"url"`        // either this or a file that holds it
	URLFile    string   `yaml:"urlFile"`    // read anew for each attempt
	TokenFile  string   `yaml:"tokenFile"`  // of a bearer token, read anew for each attempt
	CAFile     string   `yaml:"caFile"`     // PEM; empty: the system's
	Namespaces []string `yaml:"namespaces"` // whose jobs it is told about; empty: all
	Template   string   `yaml:"template"`   // of the generic form
}

// Tracing says where spans of reviews and diagnoses go; without an endpoint there are none.
type Tracing struct {
	Endpoint  string  `yaml:"endpoint"`  // OTLP over HTTP
	Sample    float64 `yaml:"sample"`    // the part that is sent, 0 to 1
	TokenFile string  `yaml:"tokenFile"` // of a bearer token, read anew for each call
	CAFile    string  `yaml:"caFile"`    // PEM; empty: the system's
}

// Log is the server's own log.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn, error
	Format string `yaml:"format"` // text, json
}

// Duration is a time.Duration that is written "30s".
type Duration time.Duration

// UnmarshalYAML reads what time.ParseDuration reads.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		// As the decoder's own error it does not end the decoding: what else is wrong is told, too.
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %q is no duration; write it as 200ms, 30s or 5m", n.Line, n.Value)}}
	}
	*d = Duration(v)
	return nil
}

// MarshalYAML writes the duration as it is read.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// Default is the configuration of an empty file.
func Default() Config {
	c, err := Read(bytes.NewReader(nil))
	if err != nil { // the embedded file is compiled in and tested: this cannot happen in a build that passed
		return Config{}
	}
	return c
}

// Load reads a file. The error names the file, the line and all that is wrong; where it is Mistakes, what could be
// read is returned, too.
func Load(path string) (Config, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, noFile(path)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read config: %w", err)
	}
	defer f.Close()
	c, err := Read(f)
	if err != nil {
		return c, fmt.Errorf("read config %s: %w", path, err)
	}
	return c, nil
}

// noFile is the path of a configuration where there is none.
type noFile string

func (f noFile) Error() string {
	return fmt.Sprintf("read config: %s: no such file; expected a file with settings, as signalbox config show prints one", string(f))
}

func (noFile) Is(target error) bool { return target == fs.ErrNotExist }

// Mistakes are settings that do not exist or make no sense, a line each with the path.
type Mistakes []string

func (m Mistakes) Error() string { return strings.Join(m, "\n") }

// maxBytes bounds a configuration; a ConfigMap cannot hold more either.
const maxBytes = 1 << 20

// Read decodes one YAML document over the defaults. Unknown names, values of the wrong
// type, a second document and values that make no sense are errors.
func Read(r io.Reader) (Config, error) {
	var c Config
	if err := decode(bytes.NewReader(defaults), &c); err != nil {
		return Config{}, fmt.Errorf("decode defaults: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return Config{}, err
	}
	if len(text) > maxBytes {
		return Config{}, fmt.Errorf("the file has more than %d bytes", maxBytes)
	}
	var wrong Mistakes
	if err := decode(bytes.NewReader(text), &c); err != nil {
		many, ok := errors.AsType[*yaml.TypeError](err)
		if !ok {
			return Config{}, err
		}
		wrong = nearest(text, many)
	}
	if wrong = append(wrong, c.validate()...); len(wrong) > 0 {
		return c, wrong
	}
	return c, nil
}

func decode(r io.Reader, into *Config) error {
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("more than one YAML document; expected one")
	}
	return nil
}
