package launch

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var sshSettingsMissing = &check.Check{
	Name:     "ssh-settings-missing",
	Title:    "the workers are not told how to start sshd, or where their key is",
	Remedy:   "Write spec.ssh.sshdPath as an absolute path, such as /usr/sbin/sshd, and authMountPath as one too.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Run: func(p *check.Pass) error {
		const sshd, keys = job.Path("spec.ssh.sshdPath"), job.Path("spec.ssh.authMountPath")
		if p.Job.Field(sshd) == nil { // what is written is another check's
			p.Report(finding.Finding{
				Path: sshd, Severity: finding.Note,
				Message: "sshdPath is not written, and the manual names no default: a worker that does not start sshd cannot be reached by the launcher",
			})
		}
		if path, _ := facts.Text(p.Job, keys); path != "" && !strings.HasPrefix(path, "/") {
			p.Reportf(keys, "authMountPath is %q, which is not absolute: the container runtime refuses to mount the key there", path)
		}
		return nil
	},
}
