package facts

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Changed says from what to what a value changed, as far as a message may repeat it.
func Changed(at job.Path, was, is string) string {
	switch from, to := Masked(at, was), Masked(at, is); {
	case from != was && to != is:
		return "changed"
	case was == "nothing":
		return "was set to " + to
	default:
		return fmt.Sprintf("changed from %s to %s", from, to)
	}
}

// Masked hides what a message must not repeat: values of variables, and what looks like a
// secret.
func Masked(at job.Path, shown string) string {
	if strings.Contains(string(at), ".env[") || strings.Contains(string(at), ".env.") || strings.Contains(shown, `"env":`) || SecretIn(shown) != "" {
		return "something else"
	}
	return shown
}

// secretForms are tokens that tell what they are, as their issuers document them. What is
// shown of one is the part that names the kind. Each has a mark, which is sought first: it costs
// less than the form, and few words have one.
var secretForms = []struct {
	what, mark string
	form       *regexp.Regexp
}{
	{"a Hugging Face token", "hf_", regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}\b`)},
	{"a GitHub token", "gh", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}\b`)},
	{"a GitHub token", "github_pat_", regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{60,}\b`)},
	{"a GitLab token", "glpat-", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{20,}`)},
	{"an AWS access key", "AKIA", regexp.MustCompile(`\bAKIA[A-Z0-9]{16}\b`)},
	{"an AWS access key", "ASIA", regexp.MustCompile(`\bASIA[A-Z0-9]{16}\b`)},
	{"an OpenAI key", "sk-", regexp.MustCompile(`\bsk-(?:proj-)?[A-Za-z0-9_-]{32,}`)},
	{"a Slack token", "xox", regexp.MustCompile(`\bxox[abprs]-[A-Za-z0-9-]{20,}`)},
	{"a private key", "PRIVATE KEY-----", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"a Google API key", "AIza", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}\b`)},
}

// SecretIn is what kind of secret a text holds; empty: none that tells its kind.
func SecretIn(text string) string {
	if len(text) < 20 {
		return ""
	}
	if password := urlPassword(text); password != "" {
		return fmt.Sprintf("a password of %d characters in an address", len(password))
	}
	for _, f := range secretForms {
		if !strings.Contains(text, f.mark) {
			continue
		}
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
