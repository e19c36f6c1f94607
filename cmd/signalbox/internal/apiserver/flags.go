package apiserver

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// Flags are the few of kubectl's connection flags that a reading command needs.
func Flags() *genericclioptions.ConfigFlags {
	all := genericclioptions.NewConfigFlags(false)
	return &genericclioptions.ConfigFlags{
		KubeConfig: all.KubeConfig, Context: all.Context, Namespace: all.Namespace,
		ClusterName: all.ClusterName, AuthInfoName: all.AuthInfoName, Timeout: all.Timeout,
		Impersonate: all.Impersonate, ImpersonateGroup: all.ImpersonateGroup,
	}
}

// SeveralContexts lets a command take --context more than once.
func SeveralContexts(flags *pflag.FlagSet) *Remembered {
	flag := flags.Lookup("context")
	flag.Usage = "The name of the kubeconfig context to use; repeatable, with commas"
	return Remember(flag)
}

// ContextsOf are the contexts that --context names, repeated or with commas. kubectl takes one: of one nothing is different.
func ContextsOf(given *Remembered) (out []string) {
	for _, value := range given.Given() {
		for name := range strings.SplitSeq(value, ",") {
			if name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// WithContext are the flags for one of several contexts.
func WithContext(kube *genericclioptions.ConfigFlags, name string) *genericclioptions.ConfigFlags {
	out := Flags()
	*out.KubeConfig, *out.Namespace, *out.Timeout = *kube.KubeConfig, *kube.Namespace, *kube.Timeout
	*out.ClusterName, *out.AuthInfoName = *kube.ClusterName, *kube.AuthInfoName
	*out.Impersonate, *out.ImpersonateGroup = *kube.Impersonate, *kube.ImpersonateGroup
	*out.Context, out.WrapConfigFn = name, kube.WrapConfigFn
	return out
}

// Remembered is a flag of which the last value counts, as kubectl has it, and that knows the others.
type Remembered struct {
	pflag.Value
	all []string
}

// Remember makes a flag one that knows what it was given before.
func Remember(f *pflag.Flag) *Remembered {
	r := &Remembered{Value: f.Value}
	f.Value = r
	return r
}

// Set implements pflag.Value.
func (r *Remembered) Set(value string) error {
	r.all = append(r.all, value)
	return r.Value.Set(value)
}

// Given are the values that differ, in the order in which each came last.
func (r *Remembered) Given() (out []string) {
	if r == nil {
		return nil
	}
	for _, v := range r.all {
		out = append(slices.DeleteFunc(out, func(o string) bool { return o == v }), v)
	}
	return out
}
