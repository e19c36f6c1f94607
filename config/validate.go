package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// loopback says whether an address is reached from the machine itself, or its pod, and from nowhere else.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// validate names everything that makes no sense, not only the first.
func (c Config) validate() (wrong Mistakes) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if c.Namespace == "" {
		bad("namespace is empty; expected the namespace Signalbox runs in")
	}
	if a := c.Listen.Debug; a != "" && a != "0" && !loopback(a) {
		bad("listen.debug is %q; expected an address of this machine only, like 127.0.0.1:8082, or \"0\"", a)
	}
	address(bad, "runbooks", c.Runbooks, "{name}")
	oneOf(bad, "certificates.mode", c.Certificates.Mode, words["certificates.mode"])
	oneOf(bad, "log.level", c.Log.Level, words["log.level"])
	oneOf(bad, "log.format", c.Log.Format, words["log.format"])
	for _, d := range []struct {
		name  string
		value Duration
		least time.Duration
	}{
		{"webhook.deadline", c.Webhook.Deadline, time.Millisecond},
		{"webhook.policyDeadline", c.Webhook.PolicyDeadline, time.Millisecond},
		{"diagnosis.pendingAfter", c.Diagnosis.PendingAfter, 0},
		{"diagnosis.debounce", c.Diagnosis.Debounce, 0},
		{"diagnosis.refresh", c.Diagnosis.Refresh, time.Second},
		{"diagnosis.discovery", c.Diagnosis.Discovery, time.Second},
		{"diagnosis.timeout", c.Diagnosis.Timeout, time.Second},
		{"diagnosis.running.every", c.Diagnosis.Running.Every, 0},
		{"diagnosis.running.hangAfter", c.Diagnosis.Running.HangAfter, time.Second},
		{"diagnosis.running.prometheus.idleFor", c.Diagnosis.Running.Prometheus.IdleFor, time.Minute},
		{"diagnosis.running.halfStarted", c.Diagnosis.Running.HalfStarted, time.Second},
		{"llm.timeout", c.LLM.Timeout, time.Millisecond},
	} {
		if time.Duration(d.value) < d.least {
			bad("%s is %s; expected %s or more", d.name, time.Duration(d.value), d.least)
		}
	}
	if d := time.Duration(c.Webhook.Deadline) + 2*time.Duration(c.Webhook.PolicyDeadline); d > longestReview {
		bad("webhook.deadline and twice webhook.policyDeadline are %s; expected %s or less, because an answer is due after 5s, the time to wait for its turn included", d, longestReview)
	}
	for _, n := range []struct {
		name         string
		value, least int64
	}{
		{"webhook.concurrency", int64(c.Webhook.Concurrency), 0},
		{"diagnosis.concurrency", int64(c.Diagnosis.Concurrency), 1},
		{"diagnosis.logs.pods", int64(c.Diagnosis.Logs.Pods), 1},
		{"diagnosis.logs.parallel", int64(c.Diagnosis.Logs.Parallel), 1},
		{"diagnosis.logs.headBytes", c.Diagnosis.Logs.HeadBytes, 1 << 10},
		{"diagnosis.logs.tailBytes", c.Diagnosis.Logs.TailBytes, 1 << 10},
		{"diagnosis.logs.totalBytes", c.Diagnosis.Logs.TotalBytes, 1 << 10},
		{"diagnosis.captureBytes", c.Diagnosis.CaptureBytes, 0},
		{"diagnosis.evidenceBytes", int64(c.Diagnosis.EvidenceBytes), 0},
		{"diagnosis.running.pods", int64(c.Diagnosis.Running.Pods), 1},
		{"diagnosis.running.hangIntervals", int64(c.Diagnosis.Running.HangIntervals), 1},
		{"llm.perMinute", int64(c.LLM.PerMinute), 1},
		{"llm.perDay.calls", int64(c.LLM.PerDay.Calls), 0},
		{"llm.perDay.tokens", int64(c.LLM.PerDay.Tokens), 0},
		{"llm.perDay.namespaceCalls", int64(c.LLM.PerDay.NamespaceCalls), 0},
		{"llm.perDay.namespaceTokens", int64(c.LLM.PerDay.NamespaceTokens), 0},
		{"llm.attempts", int64(c.LLM.Attempts), 1},
		{"llm.maxTokens", int64(c.LLM.MaxTokens), 16},
		{"llm.promptBytes", int64(c.LLM.PromptBytes), 4 << 10},
		{"llm.promptTokens", int64(c.LLM.PromptTokens), 1000},
	} {
		if n.value < n.least {
			bad("%s is %d; expected %d or more", n.name, n.value, n.least)
		}
	}
	// Fewer hold no evidence worth the name; a ConfigMap holds 1 MiB (k8s.io/api core/v1
	// ConfigMap; validation.MaxSecretSize), and names and owner need room.
	if n := c.Diagnosis.EvidenceBytes; n > 0 && n < leastEvidence || n > mostEvidence {
		bad("diagnosis.evidenceBytes is %d; expected 0, or %d to %d", n, leastEvidence, mostEvidence)
	}
	if c.Webhook.Closed.Enabled && c.Webhook.Closed.Replicas < leastClosed {
		bad("webhook.closed is enabled with webhook.closed.replicas %d; expected %d or more, because with one replica each restart refuses all jobs of the chosen namespaces", c.Webhook.Closed.Replicas, leastClosed)
	}
	c.Diagnosis.Running.validate(bad)
	c.LLM.validate(bad)
	c.LLM.validateMoney(bad)
	c.Notifications.validate(bad)
	if t := c.Tracing; !(t.Sample >= 0 && t.Sample <= 1) { // NaN is not either
		bad("tracing.sample is %g; expected 0 to 1", t.Sample)
	}
	if u, err := url.Parse(c.Tracing.Endpoint); c.Tracing.Endpoint != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		bad("tracing.endpoint is %q; expected an address like http://collector:4318/v1/traces", shown(c.Tracing.Endpoint))
	}
	c.Policies.Bundle.validate(bad)
	c.Policies.Decisions.validate(bad)
	severities(bad, "checks.severity.", c.Checks.Severity)
	for _, name := range slices.Sorted(maps.Keys(c.Checks.Namespaces)) {
		severities(bad, "checks.namespaces."+name+".severity.", c.Checks.Namespaces[name].Severity)
	}
	return wrong
}

// longestReview leaves a review time to wait for its turn before an answer is due (patience of package webhook).
const longestReview = 1800 * time.Millisecond

const (
	leastClosed   = 2
	leastEvidence = 16 << 10
	mostEvidence  = 896 << 10
)

func (r Running) validate(bad func(string, ...any)) {
	if !(r.SlowerThan > 1) { // NaN is not either
		bad("diagnosis.running.slowerThan is %g; expected more than 1", r.SlowerThan)
	}
	if !(r.Diverged > 1) {
		bad("diagnosis.running.diverged is %g; expected more than 1", r.Diverged)
	}
	if r.Prometheus.URL == "" {
		return
	}
	if f := r.Prometheus.FullAbove; !(f > 0) || f > 100 {
		bad("diagnosis.running.prometheus.fullAbove is %g; expected percent above 0, at most 100", f)
	}
	if b := r.Prometheus.IdleBeside; !(b >= 0) || b >= 100 {
		bad("diagnosis.running.prometheus.idleBeside is %g; expected percent from 0 on, below 100", b)
	}
	if u, err := url.Parse(r.Prometheus.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		bad("diagnosis.running.prometheus.url is %q; expected an address like http://prometheus.monitoring:9090", shown(r.Prometheus.URL))
	}
}

func (n Notifications) validate(bad func(string, ...any)) {
	seen := map[string]bool{}
	for i, r := range n.Receivers {
		at := fmt.Sprintf("notifications.receivers[%d]", i)
		if r.Name == "" || seen[r.Name] {
			bad("%s.name is %q; expected a name that no other receiver has", at, r.Name)
		}
		seen[r.Name] = true
		oneOf(bad, at+".form", r.Form, words["notifications.receivers[].form"])
		if (r.URL == "") == (r.URLFile == "") {
			bad("%s has url %q and urlFile %q; expected one of them", at, shown(r.URL), r.URLFile)
		}
		address(bad, at+".url", r.URL, "path")
		if r.Template != "" && r.Form != "generic" {
			bad("%s has a template, and is of form %s; expected one with form generic only", at, r.Form)
		}
	}
}

// address is an address of the web, or empty.
func address(bad func(string, ...any), name, value, path string) {
	if u, err := url.Parse(value); value != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		bad("%s is %q; expected an address like https://host/%s", name, shown(value), path)
	}
}

// shown is as much of an address as may stand in a log: no user, no password, and of what stands behind the host nothing but
// that there is something. An incoming webhook's path is its secret.
func shown(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if scheme += "://"; !ok {
		scheme, rest = "", address
	}
	host := rest
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		host = rest[:at] + "/…"
	}
	return scheme + host[strings.LastIndex(host, "@")+1:]
}

// language is the name of one, perhaps with a script or country: it goes into every question.
var language = regexp.MustCompile(`^\pL[\pL ()-]*$`)

const mostLanguage = 40 // letters; not in the form, which would be compiled as often at every start

func (l LLM) validate(bad func(string, ...any)) {
	if l.Language != "" && (!language.MatchString(l.Language) || utf8.RuneCountInString(l.Language) > mostLanguage) {
		bad("llm.language is %q; expected the name of a language, like Chinese, of at most 40 letters", l.Language)
	}
	if l.Provider == "" {
		if l.BaseURL != "" || l.Model != "" {
			bad("llm.provider is empty, but llm.baseURL or llm.model is set; expected provider openai or azure, or neither")
		}
		return
	}
	switch l.Provider {
	case "openai":
	case "azure":
		if l.APIVersion == "" {
			bad("llm.apiVersion is empty; expected that of the Azure resource, like 2024-10-21")
		}
	default:
		bad("llm.provider is %q; expected openai or azure, or nothing for no model", l.Provider)
	}
	switch u, err := url.Parse(l.BaseURL); {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		bad("llm.baseURL is %q; expected an address like https://host/v1", shown(l.BaseURL))
	case !l.allows(u.Hostname()):
		bad("llm.baseURL is at %s, which llm.allow does not name; expected it there, because logs go to it", u.Hostname())
	}
	if l.Model == "" {
		bad("llm.model is empty; expected the name of a model")
	}
}

// allows says whether logs may go to a host.
func (l LLM) allows(host string) bool {
	if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && ip.IsLoopback() {
		return true
	}
	return slices.ContainsFunc(l.Allow, func(name string) bool {
		below, any := strings.CutPrefix(strings.ToLower(name), "*.")
		if any {
			return below != "" && strings.HasSuffix(strings.ToLower(host), "."+below)
		}
		return strings.EqualFold(name, host)
	})
}

// words are the settings that take one of a few, by name; [] is an element, * a name of somebody's own.
var words = map[string][]string{
	"certificates.mode":              {"builtin", "files"},
	"checks.namespaces.*.severity.*": {"note", "warning", "error", Off},
	"checks.severity.*":              {"note", "warning", "error", Off},
	"llm.provider":                   {"", "openai", "azure"},
	"log.format":                     {"text", "json"},
	"log.level":                      {"debug", "info", "warn", "error"},
	"notifications.receivers[].form": {"alertmanager", "slack", "generic"},
}

// Words are the settings that take one of a few words, by name as it is nested: [] stands for an element of a list,
// * for a name that the author of the file chooses.
func Words() map[string][]string { return maps.Clone(words) }

func oneOf(bad func(string, ...any), name, value string, known []string) {
	if !slices.Contains(known, value) {
		last := len(known) - 1
		bad("%s is %q; expected %s or %s", name, value, strings.Join(known[:last], ", "), known[last])
	}
}

// Off is the severity of a check that does not run.
const Off = "off"

func severities(bad func(string, ...any), at string, by map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(by)) {
		oneOf(bad, at+name, by[name], words["checks.severity.*"])
	}
}

// validateMoney holds what may be spent, and what it costs, to amounts.
func (l LLM) validateMoney(bad func(string, ...any)) {
	for _, m := range []struct {
		name  string
		value float64
	}{
		{"llm.perDay.money", l.PerDay.Money},
		{"llm.perDay.namespaceMoney", l.PerDay.NamespaceMoney},
		{"llm.price.in", l.Price.In},
		{"llm.price.out", l.Price.Out},
	} {
		if m.value < 0 || m.value != m.value {
			bad("%s is %v; expected 0 or more", m.name, m.value)
		}
	}
	if (l.PerDay.Money > 0 || l.PerDay.NamespaceMoney > 0) && l.Price == (Price{}) {
		bad("llm.perDay bounds money, and llm.price is 0; expected what a million tokens cost")
	}
}
