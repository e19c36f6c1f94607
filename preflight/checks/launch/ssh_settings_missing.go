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
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev", "MPIJob.kubeflow.org"},
	Run: func(p *check.Pass) {
		if keys := p.Operator.SSHD.Keys; keys != "" {
			keysOfRoot(p, keys)
			return
		}
		if p.Operator.SSHD.Program == "" {
			return
		}
		const sshd, keys = job.Path("spec.ssh.sshdPath"), job.Path("spec.ssh.authMountPath")
		if p.Job.Field(sshd) == nil { // what is written is another check's
			p.ReportAs(finding.Finding{Path: sshd, Severity: finding.Note},
				"sshdPath is not written, and the manual names no default: a worker that does not start sshd cannot be reached by the launcher")
		}
		if path, _ := facts.Text(p.Job, keys); path != "" && !strings.HasPrefix(path, "/") {
			p.Reportf(keys, "authMountPath is %q, which is not absolute: the container runtime refuses to mount the key there", path)
		}
	},
}

// keysOfRoot: where an MPIJob does not say where its keys go they are root's, in files that others may not read
// (mpi-operator v0.8.2 pkg/apis/kubeflow/v2beta1/default.go; pkg/controller/mpi_job_controller.go, setupSSHOnPod).
func keysOfRoot(p *check.Pass, place job.Path) {
	if at, _ := facts.Text(p.Job, place); at != "" && at != "/root/.ssh" {
		return
	}
	for r := range p.Job.EachRole() {
		c, k := r.Trainer()
		if c == nil || r.Replicas.Max == 0 {
			continue
		}
		rel := job.Path("containers").Index(k).Child("securityContext", "runAsUser")
		user := (*int64)(nil)
		if c.SecurityContext != nil {
			user = c.SecurityContext.RunAsUser
		}
		if pod := r.Pod.Spec.SecurityContext; user == nil && pod != nil {
			user, rel = pod.RunAsUser, "securityContext.runAsUser"
		}
		if user != nil && *user > 0 {
			p.ReportAs(finding.Finding{Path: r.Pod.At(rel), Severity: finding.Warning, Remedy: "Write spec.sshAuthMountPath as the .ssh folder of that user, such as /home/mpiuser/.ssh."},
				"%s runs as user %d, but the keys of the job are in /root/.ssh, for root alone", facts.Whose(c.Name, r.Name), *user)
			return
		}
	}
}
