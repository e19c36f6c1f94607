package main

// part is one program and the files that belong to it.
type part struct {
	Name    string // of the program in bin/controlplane
	Dir     string // folder below test/ with its go.mod
	Package string // what to build there: "." or a package of a required module
	LDFlags string
	Tags    string
	Asked   bool   // built only where it is asked for by name
	Module  string // whose folder Copies come from
	Copies  []files
}

// files are copied out of a module's folder, so that nothing but this command needs the module cache.
type files struct {
	From string // glob below the module's folder
	To   string // folder below bin/controlplane
}

// kubeVersion stamps a version into Kubernetes' programs: built outside their own repository they would call
// themselves v0.0.0-master, which kubectl and feature gates refuse to compare.
func kubeVersion(minor, patch string) string {
	const in = "-X k8s.io/component-base/version."
	return in + "gitVersion=v1." + minor + "." + patch + " " + in + "gitMajor=1 " + in + "gitMinor=" + minor + " " + in + "gitTreeState=clean"
}

// parts, in the order that gives a usable control plane earliest.
var parts = []part{
	{Name: "etcd", Dir: "controlplane/etcd", Package: "."},
	{Name: "kube-apiserver", Dir: "controlplane/kubernetes", Package: "k8s.io/kubernetes/cmd/kube-apiserver", LDFlags: kubeVersion("36", "3")},
	{Name: "kube-scheduler", Dir: "controlplane/kubernetes", Package: "k8s.io/kubernetes/cmd/kube-scheduler", LDFlags: kubeVersion("36", "3")},
	{Name: "kube-controller-manager", Dir: "controlplane/kubernetes", Package: "k8s.io/kubernetes/cmd/kube-controller-manager", LDFlags: kubeVersion("36", "3")},
	{Name: "kubectl", Dir: "controlplane/kubernetes", Package: "k8s.io/kubernetes/cmd/kubectl", LDFlags: kubeVersion("36", "3")},
	{
		Name: "kwok", Dir: "controlplane/kwok", Package: "sigs.k8s.io/kwok/cmd/kwok",
		Module: "sigs.k8s.io/kwok",
		Copies: []files{
			{"kustomize/crd/bases/kwok.x-k8s.io_clusterlogs.yaml", "crds/kwok"},
			{"kustomize/crd/bases/kwok.x-k8s.io_logs.yaml", "crds/kwok"},
			{"kustomize/stage/node/fast/node-*.yaml", "stages"},
			{"kustomize/stage/node/heartbeat-with-lease/node-*.yaml", "stages"},
		},
	},
	{
		Name: "training-operator", Dir: "operators/training-operator", Package: ".",
		Module: "github.com/kubeflow/training-operator",
		Copies: []files{
			{"manifests/base/crds/kubeflow.org_*.yaml", "crds/training-operator"},
			{"manifests/base/webhook/manifests.yaml", "webhooks/training-operator"},
		},
	},
	{
		Name: "jobset", Dir: "operators/jobset", Package: "sigs.k8s.io/jobset",
		Module: "sigs.k8s.io/jobset",
		Copies: []files{
			{"config/components/crd/bases/*.yaml", "crds/jobset"},
			{"config/components/webhook/manifests.yaml", "webhooks/jobset"},
		},
	},
	{
		Name: "trainer", Dir: "operators/trainer", Package: "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager",
		Module: "github.com/kubeflow/trainer/v2",
		Copies: []files{
			{"manifests/base/crds/trainer.kubeflow.org_*.yaml", "crds/trainer"},
			{"manifests/base/webhook/manifests.yaml", "webhooks/trainer"},
			{"manifests/base/runtimes/*_distributed.yaml", "runtimes"},
		},
	},
	{
		Name: "cert-manager", Dir: "operators/cert-manager", Package: ".",
		Module: "github.com/cert-manager/cert-manager",
		Copies: []files{{"deploy/crds/*.yaml", "crds/cert-manager"}},
	},
	{
		Name: "lws", Dir: "operators/lws", Package: "sigs.k8s.io/lws/cmd",
		Module: "sigs.k8s.io/lws",
		Copies: []files{
			{"config/crd/bases/leaderworkerset.x-k8s.io_leaderworkersets.yaml", "crds/lws"},
			{"config/webhook/manifests.yaml", "webhooks/lws"},
		},
	},
	{
		Name: "mpi-operator", Dir: "operators/mpi-operator", Package: ".",
		Module: "github.com/kubeflow/mpi-operator",
		Copies: []files{{"manifests/base/kubeflow.org_mpijobs.yaml", "crds/mpi-operator"}},
	},
	{
		Name: "kuberay", Dir: "operators/kuberay", Package: "github.com/ray-project/kuberay/ray-operator",
		Module: "github.com/ray-project/kuberay/ray-operator",
		Copies: []files{{"config/crd/bases/ray.io_*.yaml", "crds/kuberay"}},
	},
	{
		Name: "kueue", Dir: "operators/kueue", Package: ".",
		Module: "sigs.k8s.io/kueue",
		Copies: []files{
			{"config/components/crd/bases/kueue.x-k8s.io_*.yaml", "crds/kueue"},
			{"config/components/webhook/manifests.yaml", "webhooks/kueue"},
		},
	},
	{
		// Without the clients of clouds that it could find its targets in: a fifth of the time.
		Name: "prometheus", Dir: "operators/prometheus", Package: "github.com/prometheus/prometheus/cmd/prometheus",
		Tags: "remove_all_sd", Asked: true,
	},
	{
		Name: "kube-apiserver-1.35", Dir: "controlplane/kubernetes-1.35", Package: "k8s.io/kubernetes/cmd/kube-apiserver",
		LDFlags: kubeVersion("35", "4"), Asked: true,
	},
	{
		Name: "kube-apiserver-1.34", Dir: "controlplane/kubernetes-1.34", Package: "k8s.io/kubernetes/cmd/kube-apiserver",
		LDFlags: kubeVersion("34", "4"), Asked: true,
	},
	{
		// The peer that the load is measured beside.
		Name: "gatekeeper", Dir: "tools/gator", Package: "github.com/open-policy-agent/gatekeeper/v3",
		Asked: true, Module: "github.com/open-policy-agent/gatekeeper/v3",
		Copies: []files{{"charts/gatekeeper/crds/*.yaml", "crds/gatekeeper"}},
	},
}
