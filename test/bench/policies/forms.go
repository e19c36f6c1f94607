package main

import "fmt"

// form is one rule in both languages, with a number that makes several of it. Of each form the ones with
// an even number say nothing about the job, and those with an odd number say something once.
type form struct{ ours, theirs func(n int) string }

// ruleOf writes a rule around a body.
func ruleOf(head, body string, n int, values ...any) string {
	return fmt.Sprintf(head+"\n"+body+"\n}\n", append([]any{n}, values...)...)
}

const (
	oursHead   = "deny contains {\"path\": \"spec\", \"msg\": msg} if {\n\tn := %d"
	theirsHead = "violation[{\"msg\": msg}] {\n\tn := %d"
)

// either is one of two texts, by whether a number is even.
func either(n int, even, odd string) string {
	if n%2 == 0 {
		return even
	}
	return odd
}

// onEachRole makes a rule that looks at every role, and says once that some of them are wrong.
func onEachRole(ours, theirs func(n int) string) form {
	return form{
		ours: func(n int) string {
			return ruleOf(oursHead, "\twrong := {role.name | some role in input.job.roles; "+ours(n)+"}\n\tcount(wrong) > 0\n\tmsg := sprintf(\"%%d roles are wrong (%%d)\", [count(wrong), n])", n)
		},
		theirs: func(n int) string {
			return ruleOf(theirsHead, "\twrong := {i | p := input.review.object.spec.replicatedJobs[i].template.spec.template.spec; "+theirs(n)+"}\n\tcount(wrong) > 0\n\tmsg := sprintf(\"%%d roles are wrong (%%d)\", [count(wrong), n])", n)
		},
	}
}

// forms are ten kinds of rules that teams write.
var forms = []form{
	{ // a label
		ours: func(n int) string {
			return ruleOf(oursHead, "\tnot input.job.labels[\""+either(n, "team", "owner")+"\"]\n\tmsg := sprintf(\"a label is missing (%%d)\", [n])", n)
		},
		theirs: func(n int) string {
			return ruleOf(theirsHead, "\tnot input.review.object.metadata.labels[\""+either(n, "team", "owner")+"\"]\n\tmsg := sprintf(\"a label is missing (%%d)\", [n])", n)
		},
	},
	onEachRole( // registries
		func(n int) string {
			return "some image in role.images; not startswith(image, \"" + either(n, "registry.example.com/", "other.example.com/") + "\")"
		},
		func(n int) string {
			return "image := p.containers[_].image; not startswith(image, \"" + either(n, "registry.example.com/", "other.example.com/") + "\")"
		}),
	onEachRole( // GPUs of a pod
		func(n int) string { return "role.gpus_per_pod > " + either(n, "8", "4") },
		func(n int) string {
			return "to_number(p.containers[_].resources.limits[\"nvidia.com/gpu\"]) > " + either(n, "8", "4")
		}),
	{ // GPUs of a job
		ours: func(n int) string {
			return ruleOf(oursHead, "\tinput.job.gpus > "+either(n, "1024", "512")+"\n\tmsg := sprintf(\"%%d GPUs (%%d)\", [input.job.gpus, n])", n)
		},
		theirs: func(n int) string {
			return ruleOf(theirsHead, "\tgpus := sum([g | r := input.review.object.spec.replicatedJobs[_]; g := r.replicas * r.template.spec.parallelism * to_number(r.template.spec.template.spec.containers[_].resources.limits[\"nvidia.com/gpu\"])])\n\tgpus > "+either(n, "1024", "512")+"\n\tmsg := sprintf(\"%%d GPUs (%%d)\", [gpus, n])", n)
		},
	},
	onEachRole( // the node's network
		func(n int) string { return "role.host_network == " + either(n, "true", "false") },
		func(n int) string {
			return "object.get(p, \"hostNetwork\", false) == " + either(n, "true", "false")
		}),
	onEachRole( // privileges
		func(n int) string { return "role.privileged == " + either(n, "true", "false") },
		func(n int) string {
			return "object.get(object.get(p.containers[_], \"securityContext\", {}), \"privileged\", false) == " + either(n, "true", "false")
		}),
	onEachRole( // paths of the node
		func(n int) string {
			return "some v in role.volumes; v.kind == \"hostPath\"; not startswith(v.source, \"" + either(n, "/data/", "/scratch/") + "\")"
		},
		func(n int) string {
			return "v := p.volumes[_].hostPath.path; not startswith(v, \"" + either(n, "/data/", "/scratch/") + "\")"
		}),
	onEachRole( // node selectors
		func(n int) string { return "not role.node_selector[\"" + either(n, "pool", "zone") + "\"]" },
		func(n int) string { return "not p.nodeSelector[\"" + either(n, "pool", "zone") + "\"]" }),
	onEachRole( // restart policies
		func(n int) string { return "role.restart_policy != \"" + either(n, "Never", "OnFailure") + "\"" },
		func(n int) string { return "p.restartPolicy != \"" + either(n, "Never", "OnFailure") + "\"" }),
	onEachRole( // memory of a pod
		func(n int) string { return "role.requests.cpu > " + either(n, "32000", "16000") },
		func(n int) string {
			return "to_number(p.containers[_].resources.limits.cpu) > " + either(n, "32", "16")
		}),
}
