package storage

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var storageURIWithoutScheme = &check.Check{
	Name:     "storage-uri-without-scheme",
	Title:    "an initializer is not told what kind of storage to read",
	Remedy:   "Write the scheme in front: hf://, s3:// or cache://.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Run: func(p *check.Pass) {
		for _, at := range []job.Path{"spec.initializer.dataset.storageUri", "spec.initializer.model.storageUri"} {
			uri, ok := facts.Text(p.Job, at)
			if ok && uri != "" && !job.Templated(uri) && !strings.Contains(uri, "://") {
				p.Reportf(at, "storageUri is %s, without a scheme such as hf://; the initializer fails at once", facts.Quoted(uri))
			}
		}
	},
}
