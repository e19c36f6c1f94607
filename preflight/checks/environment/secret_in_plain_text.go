package environment

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var secretInPlainText = &check.Check{
	Name:     "secret-in-plain-text",
	Title:    "a secret is written into the job",
	Remedy:   "Put it into a Secret and take it from there by secretKeyRef; revoke the one that was written down.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for r, c := range p.Job.EachContainer() {
			for n := range c.Env {
				if written := templated(&c.Env[n]); written != "" {
					p.Reportf(r.Pod.At(c.Rel.Child("env").Index(n)), "%s of %s is filled in from %s as plain text: anybody who may read the job can read it", c.Env[n].Name, facts.Whose(c.Name, r.Name), written)
				} else if what := secretOf(&c.Env[n]); what != "" {
					p.Reportf(r.Pod.At(c.Rel.Child("env").Index(n)), "%s of %s holds %s in plain text: anybody who may read the job can read it", c.Env[n].Name, facts.Whose(c.Name, r.Name), what)
				}
			}
			facts.EachWord(c.Container, func(word string, at job.Path) {
				if what := facts.SecretIn(word); what != "" {
					p.Reportf(r.Pod.At(c.Rel.Join(at)), "the command of %s holds %s in plain text: anybody who may read the job can read it", facts.Whose(c.Name, r.Name), what)
				}
			})
		}
	},
}

// templated is the placeholder that is all of a variable under a name that only secrets have;
// empty: it is something else.
func templated(e *corev1.EnvVar) string {
	written, _, found := job.Placeholder(e.Value)
	if found && e.ValueFrom == nil && secretName(e.Name) && strings.TrimSpace(e.Value) == written && strings.HasPrefix(written, "$") && !strings.HasPrefix(written, "$(") {
		return written
	}
	return ""
}

// secretOf is what a variable holds that should not be read: a token that tells its kind,
// or a value under a name that only secrets have.
func secretOf(e *corev1.EnvVar) string {
	if what := facts.SecretIn(e.Value); what != "" || e.ValueFrom != nil || !secretName(e.Name) {
		return what
	}
	if strings.HasSuffix(e.Name, "KEY") && wandbKey.MatchString(e.Value) || random(e.Value) {
		return fmt.Sprintf("a value of %d characters", len(e.Value))
	}
	return ""
}

var (
	secretNames = regexp.MustCompile(`(?:^|_)(?:TOKEN|API_?KEY|ACCESS_?KEY|SECRET_?KEY|ACCESS_KEY_ID|PASSWORD|PASSWD|SECRET|PRIVATE_?KEY|CREDENTIALS?)$`)
	wandbKey    = regexp.MustCompile(`^[0-9a-f]{40}$`)
	oneWord     = regexp.MustCompile(`^[\w+/=.~-]{16,}$`)
)

// secretName says whether a variable's name says that its value is secret.
func secretName(name string) bool { return secretNames.MatchString(strings.ToUpper(name)) }

// random says whether a value looks drawn: long, of one word, with letters and at least
// four digits, and none of the words by which people say that something has to be put in.
func random(value string) bool {
	lower, digits := strings.ToLower(value), 0
	for _, r := range value {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	for _, filler := range []string{"your", "xxx", "change", "example", "placeholder", "dummy", "secret", "token", "replace", "todo", "...", "/"} {
		if strings.Contains(lower, filler) {
			return false
		}
	}
	return digits >= 4 && oneWord.MatchString(value) && strings.ContainsAny(lower, "abcdefghijklmnopqrstuvwxyz")
}
