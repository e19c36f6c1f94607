package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// kubeFlags are the few of kubectl's connection flags that a reading command needs.
func kubeFlags() *genericclioptions.ConfigFlags {
	all := genericclioptions.NewConfigFlags(false)
	return &genericclioptions.ConfigFlags{
		KubeConfig: all.KubeConfig, Context: all.Context, Namespace: all.Namespace,
		ClusterName: all.ClusterName, AuthInfoName: all.AuthInfoName, Timeout: all.Timeout,
		Impersonate: all.Impersonate, ImpersonateGroup: all.ImpersonateGroup,
	}
}

// severalContexts lets a command take --context more than once.
func severalContexts(flags *pflag.FlagSet) *remembered {
	flag := flags.Lookup("context")
	flag.Usage = "The name of the kubeconfig context to use; repeatable, with commas"
	return remember(flag)
}

// contextsOf are the contexts that --context names, repeated or with commas. kubectl takes one: of one nothing is different.
func contextsOf(given *remembered) (out []string) {
	for _, value := range given.given() {
		for name := range strings.SplitSeq(value, ",") {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// withContext are the flags for one of several contexts.
func withContext(kube *genericclioptions.ConfigFlags, name string) *genericclioptions.ConfigFlags {
	out := kubeFlags()
	*out.KubeConfig, *out.Namespace, *out.Timeout = *kube.KubeConfig, *kube.Namespace, *kube.Timeout
	*out.ClusterName, *out.AuthInfoName = *kube.ClusterName, *kube.AuthInfoName
	*out.Impersonate, *out.ImpersonateGroup = *kube.Impersonate, *kube.ImpersonateGroup
	*out.Context, out.WrapConfigFn = name, kube.WrapConfigFn
	return out
}

// remembered is a flag of which the last value counts, as kubectl has it, and that knows the others.
type remembered struct {
	pflag.Value
	all []string
}

func remember(f *pflag.Flag) *remembered {
	r := &remembered{Value: f.Value}
	f.Value = r
	return r
}

func (r *remembered) Set(value string) error {
	r.all = append(r.all, value)
	return r.Value.Set(value)
}

// given are the values that differ, in the order in which each came last.
func (r *remembered) given() (out []string) {
	if r == nil {
		return nil
	}
	for _, v := range r.all {
		out = append(slices.DeleteFunc(out, func(o string) bool { return o == v }), v)
	}
	return out
}
