package main

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var pytorchJobs = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}

// scenes are what the demo plays, in this order.
var scenes = []scene{
	{"A gang that does not fit: 1 Master and 5 Workers of 8 GPUs, 4 free nodes", gang},
	{"A second job finds no GPU at all", noGPUs},
	{"A runtime that the namespace may not use", forbiddenRuntime},
	{"A ColossalAIJob with the mistakes its manual warns of", colossal},
	{"An OpenPAI Framework that asks for 48 CPUs where nodes have 24", framework},
	{"Five jobs in the night: why did they fail, or not?", night},
	{"The same failure, explained by a language model", explained},
}

func gang(ctx context.Context, s *stage) error {
	s.kubectl(ctx, words("apply -f pytorchjob.yaml"),
		"Warning: [gang-does-not-fit]", "4 of 6 pods fit", "created")
	s.say("Admitted all the same: only policies deny. The operator says Running, and nothing on the job says that it isn't …")
	s.until(ctx, pytorchJobs, "ml", "llama", func(u *unstructured.Unstructured) bool {
		return annotation(u, "waiting") != "" && conditionTrue(u, "Running") && strings.Contains(annotation(u, "waiting"), "4 of 6")
	})
	s.kubectl(ctx, words("get pytorchjob llama -n ml"), "Running")
	s.kubectl(ctx, words("get pods -n ml -l training.kubeflow.org/job-name=llama"), "Pending")
	s.say("… but Signalbox does:")
	s.kubectl(ctx, []string{"get", "pytorchjob", "llama", "-n", "ml", "-o", `jsonpath={.metadata.annotations.signalbox\.dev/waiting}`},
		"4 of 6", "8 nvidia.com/gpu")
	return nil
}

func noGPUs(ctx context.Context, s *stage) error {
	s.kubectl(ctx, words("apply -f no-gpus.yaml"), "the pod does not fit")
	s.diagnosis(ctx, "ml", "no-gpus", "No", "nvidia.com/gpu")
	return nil
}

func forbiddenRuntime(ctx context.Context, s *stage) error {
	s.say("Namespace prod enforces (signalbox.dev/mode=enforce); ml only warns.")
	s.kubectl(ctx, words("apply -f trainjob.yaml -n prod"), "denied the request", "torch-reserved", "torch-shared")
	s.kubectl(ctx, words("apply -f trainjob.yaml -n ml"), "Warning: ", "torch-reserved", "trainjob.trainer.kubeflow.org/finetune created")
	return nil
}

func colossal(ctx context.Context, s *stage) error {
	s.kubectl(ctx, words("apply -f colossalaijob.yaml"),
		"/dev/shm of worker may grow to 16Gi", "8Gi",
		"spec.launcher.resources.requests.cpu", "requests 2 cpu, above its limit of 1",
		"[container-name-missing]", `"worker"`, `"trainer"`,
		"created")
	s.say("resumeSpecs cannot change after creation:")
	s.kubectl(ctx, words("apply -f colossalaijob-resume.yaml"), "resumeSpecs changed from true to false")
	return nil
}

func framework(ctx context.Context, s *stage) error {
	s.kubectl(ctx, words("apply -f framework.yaml"),
		"worker asks for 48 cpu per pod", "24", "created")
	return nil
}

func night(ctx context.Context, s *stage) error {
	s.kubectl(ctx, words("apply -f oom.yaml -f no-node.yaml -f success.yaml -f missing-module.yaml -f nan.yaml"))
	s.diagnosis(ctx, "ml", "oom", "No", "137", "8Gi")
	s.diagnosis(ctx, "ml", "missing-module", "No", "flash_attn")
	s.diagnosis(ctx, "ml", "nan", "No", "nan")
	s.diagnosis(ctx, "ml", "success", "Yes")
	s.diagnosis(ctx, "ml", "no-node", "No", "NVIDIA-H200")
	return nil
}

func explained(ctx context.Context, s *stage) error {
	s.say("Namespace research allows it (signalbox.dev/llm=enabled); the prompt is the user's own.")
	s.kubectl(ctx, words("apply -f prompts.yaml"), "aegis-prompts")
	s.kubectl(ctx, words("apply -f oom-research.yaml"), "created")
	s.until(ctx, pytorchJobs, "research", "oom", func(u *unstructured.Unstructured) bool {
		return strings.Contains(annotation(u, "diagnosis"), `"story":{`)
	})
	s.diagnosis(ctx, "research", "oom", "No", "137", "8Gi")
	s.kubectl(ctx, []string{"get", "pytorchjob", "oom", "-n", "research", "-o", `jsonpath={.metadata.annotations.signalbox\.dev/diagnosis}`},
		`"story":{`, `"model"`)
	var asked strings.Builder
	for _, r := range s.c.Model.Requests() {
		asked.WriteString(r.User)
	}
	s.expect(ctx, "the prompt that the model was given", asked.String(), "Answer for the night shift.", "Job: oom", "137")
	return nil
}

// diagnosis shows the four fields people read, once they are there.
func (s *stage) diagnosis(ctx context.Context, namespace, name, healthy string, want ...string) {
	s.until(ctx, pytorchJobs, namespace, name, func(u *unstructured.Unstructured) bool {
		return annotation(u, "healthy") == healthy && containsAll(annotation(u, "error")+annotation(u, "analysis")+annotation(u, "solution"), want)
	})
	s.kubectl(ctx, []string{"get", "pytorchjob", name, "-n", namespace, "-o", "jsonpath-file=diagnosis.jsonpath"},
		append([]string{"healthy:  " + healthy}, want...)...)
}

func words(s string) []string { return strings.Fields(s) }

func annotation(u *unstructured.Unstructured, name string) string {
	return u.GetAnnotations()["signalbox.dev/"+name]
}

func containsAll(text string, want []string) bool {
	for _, w := range want {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func conditionTrue(u *unstructured.Unstructured, kind string) bool {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range list {
		if m, ok := c.(map[string]any); ok && m["type"] == kind && m["status"] == "True" {
			return true
		}
	}
	return false
}
