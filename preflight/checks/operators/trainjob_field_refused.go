package operators

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var trainJobFieldRefused = &check.Check{
	Name:     "trainjob-field-refused",
	Title:    "the TrainJob asks its runtime for something it does not do",
	Remedy:   "Leave the field out, or name a runtime that has it.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		policy, name := facts.Runtime(p)
		if policy == nil {
			return
		}
		refusedInitializers(p, name)
		refusedVariables(p)
		if policy.Field("spec.podGroupPolicy.volcano") != nil {
			refusedForVolcano(p)
		}
		if policy.Field("spec.mlPolicy.mpi") != nil {
			refusedForMPI(p, policy, name)
		}
		if policy.Field("spec.mlPolicy.torch") != nil {
			refusedForTune(p, name)
		}
	},
}

// The rules are those of github.com/kubeflow/trainer v2.1.0 pkg/runtime/framework/plugins.

// refusedInitializers (jobset/jobset.go): an initializer needs a Job and a container of its name.
func refusedInitializers(p *check.Pass, runtime string) {
	for _, step := range []string{"dataset", "model"} {
		at := job.Path("spec.initializer").Child(step)
		if p.Job.Field(at) == nil {
			continue
		}
		r := p.Job.Role(step + "-initializer")
		switch {
		case r == nil:
			p.Reportf(at, "initializer.%s needs a Job named %q, which runtime %s does not have", step, step+"-initializer", runtime)
		case !slices.ContainsFunc(r.Pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == r.Name }):
			p.Reportf(at, "initializer.%s needs a container named %q, which that Job of runtime %s does not have", step, r.Name, runtime)
		}
	}
}

// refusedVariables (jobset/jobset.go): variables of these containers come from spec.trainer and
// spec.initializer.
func refusedVariables(p *check.Pass) {
	for at := range p.Job.Elements("spec.podTemplateOverrides") {
		refusedIn(p, at.Child("spec", "containers"))
	}
	for patch := range p.Job.Elements("spec.runtimePatches") {
		for at := range p.Job.Elements(patch.Child("trainingRuntimeSpec", "template", "spec", "replicatedJobs")) {
			refusedIn(p, at.Child("template", "spec", "template", "spec", "containers"))
		}
	}
}

// refusedIn looks at one list of containers that a job changes.
func refusedIn(p *check.Pass, list job.Path) {
	for at, c := range p.Job.Elements(list) {
		c, _ := c.(map[string]any)
		env, _ := c["env"].([]any)
		if name, _ := c["name"].(string); len(env) > 0 && slices.Contains(p.Operator.Containers, name) {
			p.Reportf(at.Child("env"), "an override sets %s of container %s, which takes them from spec.trainer or spec.initializer only", facts.Count(len(env), "variable"), name)
		}
	}
}

// refusedForMPI (mpi/mpi.go): mpirun wants a number.
func refusedForMPI(p *check.Pass, runtime *job.Job, name string) {
	const nodes = job.Path("spec.trainer.numNodes")
	if n, _ := facts.Number(p.Job, nodes); n > 1 && runtime.Field("spec.mlPolicy.mpi.runLauncherAsNode") == true {
		others := p.Operator.Procs.Role // the Job of the nodes beside the launcher
		launched := slices.ContainsFunc(p.Job.Roles, func(r job.Role) bool { return !slices.Contains(p.Operator.Containers, r.Name) })
		switch {
		case p.Job.Role(others) == nil:
			p.Reportf(nodes, "numNodes is %d; runtime %s has its launcher train too, and no Job named %s beside it: it trains on one node", n, name, others)
		case !launched:
			p.Reportf(nodes, "numNodes is %d; runtime %s is to have its launcher train too, and has no Job named launcher: Trainer takes one node", n, name)
		}
	}
	const at = job.Path("spec.trainer.numProcPerNode")
	if procs, isText := facts.Text(p.Job, at); isText {
		p.Reportf(at, "numProcPerNode is %q; a runtime for MPI takes a number of 1 or more", procs)
	}
}

// refusedForVolcano (volcano/volcano.go): a queue that is named has a name.
func refusedForVolcano(p *check.Pass) {
	at := job.Path("spec.annotations").Key("scheduling.volcano.sh/queue-name")
	if name, written := facts.Text(p.Job, at); written && name == "" {
		p.Reportf(at, "the annotation scheduling.volcano.sh/queue-name is empty; Trainer takes the name of a queue of Volcano there, or no annotation")
	}
}

// tuneModels are the models of TorchTune's runtimes (pkg/constants/constants.go); the last
// trains on several nodes.
var tuneModels = []string{"llama3_2/1B", "llama3_2/3B", "qwen2_5/1.5B", "llama3_3/70B"}

// refusedForTune (torch/torchtune.go). Trainer v2.1 looks at a job that writes numProcPerNode, v2.2 and later at
// every one; what v2.1 does not look at starts, and does not train what was meant.
func refusedForTune(p *check.Pass, runtime string) {
	command, _ := p.Job.Field("spec.trainer.command").([]any)
	if fmt.Sprint(command) != "[tune run]" {
		return
	}
	setByRuntime(p)
	f := finding.Finding{}
	by := ""
	procs := p.Job.Field("spec.trainer.numProcPerNode")
	if procs == nil {
		f.Severity, by = finding.Warning, ": Trainer v2.2 and later refuse the job"
	}
	refuse := func(at job.Path, format string, args ...any) {
		f.Path, f.Message = at, fmt.Sprintf(format, args...)+by
		p.Report(f)
	}
	model := ""
	if parts := strings.Split(runtime, "-"); len(parts) == 3 {
		model = strings.ReplaceAll(parts[1], ".", "_") + "/" + strings.ToUpper(parts[2])
	}
	if !slices.Contains(tuneModels, model) {
		refuse("spec.runtimeRef.name", "tune run takes its model from the name of the runtime; %q names none of %s", runtime, strings.Join(tuneModels, ", "))
		return
	}
	nodes, written := facts.Number(p.Job, "spec.trainer.numNodes")
	switch {
	case !written && procs != nil:
		p.Reportf("spec.trainer", "tune run is told numProcPerNode and no numNodes: the webhook of Trainer v2.1 panics over it, and the job is rejected with an internal error")
		return
	case nodes > 1 && model != "llama3_3/70B":
		refuse("spec.trainer.numNodes", "numNodes is %d; tune run trains %s on one node only", nodes, model)
		return
	}
	r := p.Job.Role(p.Operator.Procs.Role)
	each, _ := facts.Number(p.Job, "spec.trainer.numProcPerNode")
	switch quantized, lora := tuneArguments(p.Job); {
	case nodes > 1 && (quantized || lora):
		p.ReportAs(finding.Finding{Severity: finding.Warning, Path: "spec.trainer.numNodes", Remedy: "Train on one node, or leave the settings of LoRA out."},
			"numNodes is %d; tune run has no LoRA over several nodes: Trainer v2.3 refuses the job, and earlier versions tune all weights instead", nodes)
	case quantized && model == "qwen2_5/1.5B":
		refuse("spec.runtimeRef.name", "model.quantize_base is QLoRA, which tune run does not have for %s", model)
	case quantized && model != "llama3_3/70B" && each != 1 && r != nil && r.Pod.GPUs().N != 1:
		refuse("spec.trainer", "model.quantize_base is QLoRA, which tune run trains on one GPU for %s; a node has %d", model, r.Pod.GPUs().N)
	}
}

// tuneArguments are what TorchTune's arguments ask for: weights of 4 bits (QLoRA), and adapters (LoRA).
func tuneArguments(j *job.Job) (quantized, lora bool) {
	is := map[string]bool{}
	for _, arg := range j.Elements("spec.trainer.args") {
		text, _ := arg.(string)
		key, value, _ := strings.Cut(text, "=")
		is[key] = strings.EqualFold(strings.TrimSpace(value), "true")
		lora = lora || key == "model.lora_attn_modules"
	}
	return is["model.quantize_base"] && !is["model.use_dora"], lora
}

// tuneSettings are what a runtime of TorchTune sets for its jobs (pkg/constants/constants.go,
// TorchTuneImmutableConfigs): where its other Jobs have put model and tokenizer, and where results are kept.
var tuneSettings = []string{"output_dir", "tokenizer.path", "tokenizer.merges_file", "checkpointer.checkpoint_dir"}

// setByRuntime: v2.3.0 refuses such an argument (torch/torchtune.go); before, Trainer writes the runtime's
// into the command, the job's follow as arguments, and TorchTune takes the last of a name
// (https://github.com/pytorch/torchtune/blob/main/torchtune/config/_utils.py).
func setByRuntime(p *check.Pass) {
	for at, arg := range p.Job.Elements("spec.trainer.args") {
		text, _ := arg.(string)
		if key, _, _ := strings.Cut(text, "="); slices.Contains(tuneSettings, key) {
			p.ReportAs(finding.Finding{Severity: finding.Warning, Path: at, Remedy: "Leave " + key + " out of args; a runtime of your own may set another."},
				"%s is the runtime's to set: Trainer v2.3 refuses the job; earlier versions put this one last, and it counts: what the runtime's other Jobs have fetched and keep is elsewhere", key)
		}
	}
}
