package checks

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var sshdPathNotAbsolute = &check.Check{
	Name:     "sshd-path-not-absolute",
	Title:    "sshd is not called by an absolute path",
	Doc:      readme("sshd-path-not-absolute"),
	Remedy:   "Write where sshd lies in the image, such as /usr/sbin/sshd.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"ColossalAIJob"},
	Run: func(p *check.Pass) error {
		const at = job.Path("spec.ssh.sshdPath")
		if path, ok := text(p.Job, at); ok && !strings.HasPrefix(path, "/") {
			p.Reportf(at, "sshdPath is %q; sshd refuses to start unless it is called by an absolute path", path)
		}
		return nil
	},
}
