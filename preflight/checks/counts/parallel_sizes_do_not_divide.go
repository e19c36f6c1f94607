package counts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var parallelSizesDoNotDivide = &check.Check{
	Name:     "parallel-sizes-do-not-divide",
	Title:    "the sizes of parallelism do not divide the number of processes",
	Remedy:   "Choose sizes whose product divides the number of processes.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Whole,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		world, known := facts.WorldOf(p.Job, r)
		if !known {
			return
		}
		for _, rule := range parallelRules {
			s, ok := rule.sizes(&r.Launch)
			if !ok || s.product == 1 || world%s.product == 0 && (!rule.whole || s.product == world) {
				continue
			}
			p.ReportAs(finding.Finding{Path: s.at, Facts: []finding.Fact{{Name: "product", Value: s.product}, {Name: "processes", Value: world}}},
				"%s", rule.message(world, s))
			break
		}
	}),
}

// parallelRule is sizes that a framework multiplies, under the names of their arguments.
type parallelRule struct {
	factors []parallelSize
	whole   bool // the product must be the number of processes itself
}

type parallelSize struct {
	name, argument string
	otherwise      string // whose size it has where it is not written; empty: 1
}

// parallelRules: github.com/NVIDIA/Megatron-LM core_r0.13 megatron/core/parallel_state.py,
// initialize_model_parallel ("world_size … is not divisible by …", once for the model and
// once for its experts); github.com/pytorch/torchtitan v0.2 distributed/parallel_dims.py,
// _validate (all sizes together are the world, unless data_parallel_shard_degree is -1).
var parallelRules = []parallelRule{
	{factors: []parallelSize{{"tensor", "tensor-model-parallel-size", ""}, {"pipeline", "pipeline-model-parallel-size", ""}, {"context", "context-parallel-size", ""}}},
	{factors: []parallelSize{{"expert tensor", "expert-tensor-parallel-size", "tensor-model-parallel-size"}, {"pipeline", "pipeline-model-parallel-size", ""}, {"expert", "expert-model-parallel-size", ""}}},
	{factors: []parallelSize{
		{"tensor", "parallelism.tensor-parallel-degree", ""},
		{"pipeline", "parallelism.pipeline-parallel-degree", ""},
		{"context", "parallelism.context-parallel-degree", ""},
		{"replicated data", "parallelism.data-parallel-replicate-degree", ""},
	}},
	{whole: true, factors: []parallelSize{
		{"tensor", "parallelism.tensor-parallel-degree", ""},
		{"pipeline", "parallelism.pipeline-parallel-degree", ""},
		{"context", "parallelism.context-parallel-degree", ""},
		{"replicated data", "parallelism.data-parallel-replicate-degree", ""},
		{"sharded data", "parallelism.data-parallel-shard-degree", "?"},
	}},
}

// parallel is a product of sizes and how it comes about: "tensor 8 × pipeline 2".
type parallel struct {
	product int64
	text    string
	at      job.Path // of the largest size
}

// sizes multiplies what the arguments say; ok is false where one cannot be read.
func (rule parallelRule) sizes(l *job.Launch) (s parallel, ok bool) {
	s.product = 1
	var parts []string
	largest := int64(0)
	for _, size := range rule.factors {
		name := size.argument
		if _, written := l.Arg(name); !written && size.otherwise != "" {
			name = size.otherwise
		}
		if _, written := l.Arg(name); !written {
			if name == "?" {
				return s, false // all that is left over
			}
			if mentioned(l, name) {
				return s, false
			}
			continue
		}
		n, at, read := l.Count(name)
		if !read {
			return s, false
		}
		s.product = saturate.Mul(s.product, n)
		parts = append(parts, fmt.Sprintf("%s %d", size.name, n))
		if n > largest {
			largest, s.at = n, at
		}
	}
	s.text = strings.Join(parts, " × ")
	return s, len(parts) > 0
}

// mentioned says whether an argument is there in a way that has no one value.
func mentioned(l *job.Launch, name string) bool {
	return slices.ContainsFunc(l.Args, func(w job.Word) bool {
		return strings.Contains(strings.ReplaceAll(w.Text, "_", "-"), name)
	})
}

// message compares the processes with the product.
func (rule parallelRule) message(world int64, s parallel) string {
	start := facts.Count(world, "process") + " start"
	if world == 1 {
		start += "s"
	}
	switch {
	case s.product > world:
		return fmt.Sprintf("%s, but %s needs %s", start, s.text, saturate.Text(s.product))
	case rule.whole:
		return fmt.Sprintf("%s, but %s needs exactly %s", start, s.text, saturate.Text(s.product))
	}
	return fmt.Sprintf("%s, which cannot be divided by %s = %s", start, s.text, saturate.Text(s.product))
}
