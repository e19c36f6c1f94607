package launch

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var sshdPathNotAbsolute = &check.Check{
	Name:     "sshd-path-not-absolute",
	Title:    "sshd is not called by an absolute path",
	Remedy:   "Write where sshd is in the image, such as /usr/sbin/sshd.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Has(kinds.Launcher) },
	Run: func(p *check.Pass) {
		if at := p.Operator.SSHD.Program; at != "" {
			switch called, ok := facts.Text(p.Job, at); {
			case ok && !path.IsAbs(called):
				p.Reportf(at, "sshdPath is %q; sshd refuses to start unless it is called by an absolute path", called)
			case ok && strings.HasSuffix(called, "/"):
				p.Reportf(at, "sshdPath is %q, which is a directory; the operator starts what it names", called)
			}
			return // the worker's own command is not run
		}
		for r := range p.Job.EachRole() {
			for k := range r.Pod.Spec.Containers {
				c := &r.Pod.Spec.Containers[k]
				if field, call := relativeSSHD(c); call != "" {
					at := r.Pod.At(job.Path(fmt.Sprintf("containers[%d].%s", k, field)))
					p.Reportf(at, "container %s of %s starts %q; sshd refuses to start unless it is called by an absolute path", c.Name, r.Name, call)
				}
			}
		}
	},
}

// sshdCall is sshd as a command of a shell, and the word behind it.
var sshdCall = regexp.MustCompile(`(?:^|[;&|\n]\s*)(?:exec\s+)?((?:\./)?sshd(?:\s+-\S+)?)(?:\s|$|[;&|])`)

// relativeSSHD is the field and the words by which a container calls sshd without its path; empty:
// it does not. With -i, -r, -t and -T sshd does not start itself again.
func relativeSSHD(c *corev1.Container) (field, call string) {
	field, words := "command", slices.Concat(c.Command, c.Args)
	if len(c.Command) == 0 {
		field = "args" // which the image's own command may take in any way, unless they name a server
	}
	switch {
	case len(words) == 0:
		return "", ""
	case isShell(words[0]) && len(c.Command) > 0:
		script := len(words) - 1
		if found := sshdCall.FindStringSubmatch(words[script]); found != nil && !staysAsItIs(strings.Fields(found[1])) {
			if script < len(c.Command) {
				return fmt.Sprintf("command[%d]", script), found[1]
			}
			return fmt.Sprintf("args[%d]", script-len(c.Command)), found[1]
		}
	case path.Base(words[0]) == "sshd" && !path.IsAbs(words[0]) && !staysAsItIs(words[1:]):
		return field + "[0]", strings.Join(words[:min(2, len(words))], " ")
	}
	return "", ""
}

func staysAsItIs(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.ContainsAny(w[1:2], "irtT")
	})
}
