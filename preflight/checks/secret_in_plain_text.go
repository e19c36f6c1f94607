package checks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var secretInPlainText = &check.Check{
	Name:     "secret-in-plain-text",
	Title:    "a secret is written into the job",
	Doc:      readme("secret-in-plain-text"),
	Remedy:   "Put it into a Secret and take it from there by secretKeyRef; revoke the one that was written down.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) error {
		eachContainer(p.Job, func(r *job.Role, c *corev1.Container, rel job.Path) {
			for n := range c.Env {
				if what := secretOf(&c.Env[n]); what != "" {
					p.Reportf(r.Pod.At(rel.Child("env").Index(n)), "%s of %s holds %s in plain text: anybody who may read the job can read it", c.Env[n].Name, whose(c.Name, r.Name), what)
				}
			}
			eachWord(c, func(word string, at job.Path) {
				if what := secretIn(word); what != "" {
					p.Reportf(r.Pod.At(rel.Join(at)), "the command of %s holds %s in plain text: anybody who may read the job can read it", whose(c.Name, r.Name), what)
				}
			})
		})
		return nil
	},
}

// secretForms are tokens that tell what they are, as their issuers document them. What is
// shown of one is the part that names the kind.
var secretForms = []struct {
	what string
	form *regexp.Regexp
}{
	{"a Hugging Face token", regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}\b`)},
	{"a GitHub token", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`)},
	{"a GitHub token", regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{60,}\b`)},
	{"a GitLab token", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"an AWS access key", regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{"an OpenAI key", regexp.MustCompile(`\bsk-(?:proj-)?[A-Za-z0-9_-]{32,}`)},
	{"a Slack token", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{20,}`)},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"a Google API key", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}\b`)},
}

// secretIn is what kind of secret a text holds; empty: none that tells its kind.
func secretIn(text string) string {
	if len(text) < 20 {
		return ""
	}
	if password := urlPassword(text); password != "" {
		return fmt.Sprintf("a password of %d characters in an address", len(password))
	}
	for _, f := range secretForms {
		if token := f.form.FindString(text); token != "" {
			return fmt.Sprintf("%s of %d characters", f.what, len(token))
		}
	}
	return ""
}

// urlPassword is the password in an address such as postgres://user:password@host; empty: there
// is none, or it is a word that stands for one.
func urlPassword(text string) string {
	if !strings.Contains(text, "://") || !strings.Contains(text, "@") {
		return ""
	}
	m := withPassword.FindStringSubmatch(text)
	if m == nil || slices.ContainsFunc([]string{"pass", "secret", "example", "changeme", "xxx", "***"}, func(word string) bool { return strings.Contains(strings.ToLower(m[1]), word) }) {
		return ""
	}
	return m[1]
}

var withPassword = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s:/@$<{"']+:([^\s:/@$<{"']{4,})@`)

// secretOf is what a variable holds that should not be read: a token that tells its kind,
// or a value under a name that only secrets have.
func secretOf(e *corev1.EnvVar) string {
	if what := secretIn(e.Value); what != "" || e.ValueFrom != nil || !secretName(e.Name) {
		return what
	}
	if written, _, templated := job.Placeholder(e.Value); templated && strings.TrimSpace(e.Value) == written && strings.HasPrefix(written, "$") && !strings.HasPrefix(written, "$(") {
		return "what a template puts in for " + written
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

func contains(text, part string) bool { return strings.Contains(text, part) }
