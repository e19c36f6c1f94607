package snapshot

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// plainKinds are cluster-scoped kinds that jobs refer to by name, and what they say of nodes
// and queues. Their names and words stay; those of all others are replaced.
var plainKinds = map[string]bool{
	"StorageClass": true, "PriorityClass": true, "RuntimeClass": true, "DeviceClass": true, "CSIDriver": true,
	"ClusterTrainingRuntime": true, "ClusterQueue": true, "Cohort": true, "ResourceFlavor": true, "Queue": true, "NodePool": true,
	"Topology": true, "WorkloadPriorityClass": true, "AdmissionCheck": true,
	"ConfigMap": true, // the autoscaler's, of which there is only its name, and the resource shapes of T9k's queues
}

// plainNames are namespaces that every cluster has; where the autoscaler shows itself counts.
var plainNames = map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}

// hostLabel is a name of the node.
const hostLabel = "kubernetes.io/hostname"

// words begin the pseudonyms of a kind, where the kind itself is long.
var words = map[string]string{
	"Namespace": "ns", "PersistentVolumeClaim": "claim", "PersistentVolume": "volume", "LocalQueue": "queue",
	"ResourceQuota": "quota", "LimitRange": "limits", "TrainingRuntime": "runtime", "ServiceAccount": "account",
}

// disguise replaces names everywhere in the view by pseudonyms that depend on the name and
// the salt: without the salt nobody can test a guess.
//
// Nothing of a namespace is whole any more: a job names its claims, queues and accounts by
// their real names, and what it names must be unknown then, not absent.
func disguise(v *manifest.View, salt string) {
	d := &mask{salt: []byte(salt), names: map[string]string{}, words: map[string]bool{}}
	for _, o := range v.Objects {
		d.learnOf(o)
	}
	for _, o := range v.Objects {
		d.cover(o)
	}
	v.Complete = slices.DeleteFunc(v.Complete, func(r schema.GroupResource) bool { return !stays(r) })
}

// stays says of which resources a disguised view may still be whole: nodes and pods, which
// the fit counts, and what has its real name or is named by those only.
func stays(r schema.GroupResource) bool {
	return slices.Contains([]string{
		"nodes", "pods", "persistentvolumes", "csinodes", "volumeattachments", "resourceslices",
		"storageclasses", "priorityclasses", "runtimeclasses", "deviceclasses", "csidrivers",
		"clustertrainingruntimes", "clusterqueues", "cohorts", "resourceflavors", "topologies", "workloadpriorityclasses",
		"admissionchecks", "queues", "nodepools",
	}, r.Resource)
}

// learnOf learns the names that an object tells.
func (d *mask) learnOf(o *unstructured.Unstructured) {
	kind := o.GetKind()
	if !plainKinds[kind] {
		d.learn(cmp.Or(words[kind], strings.ToLower(kind)), o.GetName())
	}
	if kind == "Node" {
		d.learn("node", o.GetLabels()[hostLabel])
	}
	d.learn("ns", o.GetNamespace())
	d.learn("uid", string(o.GetUID()))
	for _, owner := range o.GetOwnerReferences() {
		d.learn("uid", string(owner.UID))
		if owner.Kind != "Node" {
			d.learn("owner", owner.Name)
		}
	}
}

// cover replaces what an object tells.
func (d *mask) cover(o *unstructured.Unstructured) {
	switch kind := o.GetKind(); {
	case kind == "ClusterQueue": // it chooses namespaces by their labels
		selector, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "namespaceSelector")
		d.selectors(d.rename(selector, ""))
	case plainKinds[kind]:
	case kind == "Node":
		o.SetName(d.name(o.GetName()))
		labels, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "labels")
		d.ofNodes(labels)
	default:
		o.Object, _ = d.rename(o.Object, "").(map[string]any)
		d.labels(o)
		for _, path := range [][]string{{"spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"}, {"spec", "selector"}} {
			if v, there, _ := unstructured.NestedFieldNoCopy(o.Object, path...); there {
				d.selectors(v)
			}
		}
	}
}

// mask is the pseudonyms of one snapshot.
type mask struct {
	salt  []byte
	names map[string]string
	words map[string]bool // the pseudonyms among them
}

func (d *mask) learn(word, name string) {
	if name != "" && d.names[name] == "" && !plainNames[name] {
		d.names[name] = d.pseudonym(word, name)
		d.words[d.names[name]] = true
	}
}

// keptWords are fields whose values are words of Kubernetes or of a class, never a name.
var keptWords = map[string]bool{
	"kind": true, "apiVersion": true, "type": true, "status": true, "reason": true, "phase": true, "effect": true,
	"operator": true, "resource": true, "schedulerName": true, "priorityClassName": true,
	"storageClassName": true, "runtimeClassName": true, "deviceClassName": true, "provisioner": true, "key": true,
	"clusterQueue": true, "queue": true, "driver": true, "attacher": true, "topologyKey": true,
}

// ofNodesFields are fields that speak of nodes by their labels and taints, which stay, even
// where a team, its namespace and its nodes are called alike.
var ofNodesFields = map[string]bool{
	"nodeSelector": true, "nodeSelectorTerms": true, "nodeAffinity": true, "nodeLabels": true, "nodeTaints": true,
	"tolerations": true, "allowedTopologies": true, "scopeSelector": true,
}

// ofNodes replaces only the names of nodes, in their labels and in what selects them.
func (d *mask) ofNodes(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			d.ofNodes(e)
		}
	case map[string]any:
		for field, e := range v {
			name, isText := e.(string)
			switch {
			case isText && field == hostLabel:
				v[field] = d.name(name)
			case field == "values" && (v["key"] == hostLabel || v["key"] == "metadata.name"):
				v[field] = d.rename(e, field)
			default:
				d.ofNodes(e)
			}
		}
	}
}

// name is a name under its mask.
func (d *mask) name(name string) string { return cmp.Or(d.names[name], name) }

// rename replaces every string that is one of the names, wherever it stands.
func (d *mask) rename(v any, field string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if ofNodesFields[k] {
				d.ofNodes(e)
				continue
			}
			v[k] = d.rename(e, k)
		}
	case []any:
		for i, e := range v {
			v[i] = d.rename(e, field)
		}
	case string:
		if to := d.names[v]; to != "" && !keptWords[field] {
			return to
		}
	}
	return v
}

// labels hides what labels tell about people and projects.
func (d *mask) labels(o *unstructured.Unstructured) {
	labels := o.GetLabels()
	for key, value := range labels {
		labels[key] = d.label(key, value)
	}
	if labels != nil {
		o.SetLabels(labels)
	}
}

// label is what a label says under its mask. Numbers stay, they say which of several
// pods it is; and Signalbox's own words, those of Pod Security and zones, which reviews read.
func (d *mask) label(key, value string) string {
	domain, _, _ := strings.Cut(key, "/")
	number := strings.Trim(value, "0123456789") == ""
	switch {
	case number, value == "true", value == "false", domain == "signalbox.dev", domain == "pod-security.kubernetes.io",
		strings.HasPrefix(key, "topology.kubernetes.io/"), strings.HasPrefix(key, "failure-domain.beta.kubernetes.io/"), key == "kubernetes.io/metadata.name" && plainNames[value]:
		return value
	case d.words[value]: // it was a name
		return value
	default:
		return d.pseudonym("label", value)
	}
}

// selectors hides in what selects by label what labels hide, so that it selects the same as
// before.
func (d *mask) selectors(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			d.selectors(e)
		}
	case map[string]any:
		for field, e := range v {
			switch m, _ := e.(map[string]any); field {
			case "matchLabels":
				for key, value := range m {
					if s, ok := value.(string); ok {
						m[key] = d.label(key, s)
					}
				}
			case "values":
				key, _ := v["key"].(string)
				list, _ := e.([]any)
				for i := range list {
					if s, ok := list[i].(string); ok {
						list[i] = d.label(key, s)
					}
				}
			default:
				d.selectors(e)
			}
		}
	}
}

func (d *mask) pseudonym(word, name string) string {
	sum := hmac.New(sha256.New, d.salt)
	sum.Write([]byte(name))
	return word + "-" + hex.EncodeToString(sum.Sum(nil)[:5])
}
