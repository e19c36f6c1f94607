package launch

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// What T9k's controller writes itself, by the reference of the API
// (github.com/t9k/user-manuals fbf6b3cd src/references/api-reference/deepspeedjob.md, config.otherArgs and config.run).
var deepspeedArgumentsTaken = &check.Check{
	Name:     "deepspeed-arguments-taken",
	Title:    "arguments of deepspeed say what other fields of the DeepSpeedJob say",
	Remedy:   "Leave the argument out of otherArgs: config.localRank, config.autotune and config.run say it.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"DeepSpeedJob.batch.tensorstack.dev"},
	Run: func(p *check.Pass) {
		const config = job.Path("spec.config")
		for at, arg := range p.Job.Elements(config.Child("otherArgs")) {
			word, _ := arg.(string)
			name, _, _ := strings.Cut(word, "=")
			if slices.Contains([]string{"--no_local_rank", "--autotuning", "--module", "--no_python"}, name) {
				p.Reportf(at, "otherArgs has %s, which the operator writes itself", name)
			}
		}
		var written []string
		for _, form := range []string{"python", "module", "exec"} {
			if p.Job.Field(config.Child("run", form)) != nil {
				written = append(written, form)
			}
		}
		if len(written) > 1 {
			p.ReportAs(finding.Finding{Path: config.Child("run"), Remedy: "Leave one program in config.run."},
				"config.run has %s; it takes one of python, module, exec", strings.Join(written, " and "))
		}
	},
}
