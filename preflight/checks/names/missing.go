package names

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// missing are the checks of objects that pods name and cannot start without, one a row.
var missing = []*check.Check{
	missingObject(finding.Warning, "config-map-missing", "a ConfigMap that the pods need does not exist", createIt, "ConfigMap", kind(facts.ConfigMapKind)),
	missingObject(finding.Warning, "secret-missing", "a Secret that the pods need does not exist", createIt, "Secret",
		func(r facts.Reference) bool { return r.Kind == facts.SecretKind && !r.Pull }),
	missingObject(finding.Warning, "pull-secret-missing", "the Secret to pull images with does not exist", createIt, "Secret",
		func(r facts.Reference) bool { return r.Pull }),
	missingObject(finding.Warning, "resource-claim-missing", "a device claim or claim template does not exist", createIt, "device claim",
		kind(facts.DeviceClaimKind, facts.ClaimTemplateKind)),
	missingObject(finding.Warning, "claim-missing", "a volume claim that the pods mount does not exist", createIt, "PersistentVolumeClaim", kind(facts.VolumeClaimKind)),
	missingObject(finding.Error, "service-account-missing", "the service account of the pods does not exist", createIt, "ServiceAccount", kind(facts.ServiceAccountKind)),
	missingObject(finding.Warning, "pod-group-missing", "the pod group that the pods belong to does not exist",
		"Create the PodGroup before the job, or remove the mark.", "PodGroup", kind(facts.PluginsGroupKind, facts.VolcanoGroupKind)),
	missingObject(finding.Error, "priority-class-missing", "the priority class of the pods does not exist",
		"Name a priority class that exists, or have it created.", "PriorityClass", kind(facts.PriorityClassKind)),
	missingObject(finding.Error, "runtime-class-missing", "the runtime class of the pods does not exist",
		"Name a runtime class that exists, or leave it out.", "RuntimeClass", kind(facts.RuntimeClassKind)),
}

const createIt = "Create it in the job's namespace, or correct its name."

// kind chooses the references to objects of some kinds.
func kind(of ...schema.GroupVersionKind) func(facts.Reference) bool {
	return func(r facts.Reference) bool { return slices.Contains(of, r.Kind) }
}

// missingObject is a check of references to what is not there; what is unknown is not missing, and is said.
func missingObject(severity finding.Severity, name, title, remedy, thing string, about func(facts.Reference) bool) *check.Check {
	return &check.Check{
		Name: name, Title: title, Remedy: remedy,
		Severity: severity, Since: "0.1",
		Stops: true,
		Needs: check.Objects,
		Run: func(p *check.Pass) {
			for _, ref := range facts.AllReferences(p.Job) {
				namespace := p.Job.Ref.Namespace
				if ref.Cluster {
					namespace = ""
				}
				if !about(ref) {
					continue
				}
				switch _, there := p.Cluster.Lookup(ref.Kind, namespace, ref.Name); there {
				case job.Absent:
				case job.Present:
					continue
				default:
					p.NotHeld(facts.NotHeld(p, thing, ref.Kind.GroupKind(), namespace, ref.Name))
					continue
				}
				meant := check.DidYouMean(ref.Name, p.Cluster.NamesOf(ref.Kind.GroupKind(), namespace))
				if ref.Cluster { // the API server looks at these before it makes a pod
					p.Reportf(ref.At, "%s %q does not exist, so the pods are rejected%s", thing, ref.Name, meant)
					continue
				}
				there := "does not exist in namespace"
				if p.Admission { // applied with the job, it may be there before the view has seen it
					there = "is not yet in namespace"
				}
				p.Reportf(ref.At, "%s needs %s %q, which %s %s%s", ref.Use, thing, ref.Name, there, namespace, meant)
			}
		},
	}
}

// missingKeys are the checks of keys that pods need of objects that are there, one a row.
var missingKeys = []*check.Check{
	missingKey("config-key-missing", "ConfigMap", facts.ConfigMapKind, "data", "binaryData"),
	missingKey("secret-key-missing", "Secret", facts.SecretKind, "data", "stringData"),
}

// missingKey is the check of one kind, whose keys stand in some fields.
func missingKey(name, thing string, kind schema.GroupVersionKind, fields ...string) *check.Check {
	return &check.Check{
		Name:     name,
		Title:    "a " + thing + " is there and lacks a key that the pods need",
		Remedy:   "Add the key to the " + thing + ", or correct its name.",
		Severity: finding.Warning, Since: "0.1",
		Stops: true,
		Needs: check.Objects,
		Run: func(p *check.Pass) {
			facts.ReportMissingKeys(p, kind, thing, fields...)
		},
	}
}
