package launch

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// colossalai run takes a Python file first, and ends with 0 where it gets another word
// (https://github.com/hpcaitech/ColossalAI/blob/v0.3.6/colossalai/cli/launcher/__init__.py, run).
var trainingCommandNotAScript = &check.Check{
	Name:     "training-command-not-a-script",
	Title:    "what a ColossalAIJob is to train with is no Python file",
	Remedy:   "Begin worker.command with the script itself, such as train.py: the launcher puts torchrun before it.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"ColossalAIJob.batch.tensorstack.dev"},
	Run: func(p *check.Pass) {
		words, _ := p.Job.Field("spec.worker.command").([]any)
		if len(words) == 0 {
			return // training-command-missing
		}
		if first, ok := words[0].(string); ok && !strings.HasSuffix(first, ".py") {
			p.Reportf("spec.worker.command[0]", "worker.command begins with %q; ColossalAI's launcher takes a file that ends in .py, and ends with 0 without training where it gets another word", first)
		}
	},
}
