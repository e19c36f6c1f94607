package apiserver

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// rightsPage says of each command which rights it needs, and how they are given.
const rightsPage = "https://github.com/signalbox-dev/signalbox/blob/main/docs/how-to/grant-rights.md"

// readerRole has the right to read jobs, their pods, events and logs: Kubernetes adds the installed ClusterRole
// signalbox-user to it (config/rbac/user.yaml).
const readerRole = "view"

// GrantRead ends a sentence about jobs or pods that somebody may not read: which right to ask for.
func GrantRead(namespace string) string {
	where := "in namespace " + namespace
	if namespace == metav1.NamespaceAll {
		where = "in all namespaces"
	}
	return fmt.Sprintf("; to ask for: the ClusterRole %s %s, which signalbox-user is part of (%s)", readerRole, where, rightsPage)
}

// GrantCreate is the same for a dry run of a job, which whoever submits jobs may ask for.
func GrantCreate(of job.Ref) string {
	gvk := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind)
	if k := kinds.For(gvk); k != nil {
		return fmt.Sprintf("; to ask for: create on %s there", schema.GroupResource{Group: gvk.Group, Resource: k.Resource})
	}
	return ""
}
