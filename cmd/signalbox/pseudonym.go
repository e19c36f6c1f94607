package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// disguised are the kinds whose names are replaced, with the word that replaces them.
var disguised = map[string]string{
	"Node": "node", "Namespace": "ns", "Pod": "pod", "PersistentVolumeClaim": "claim", "PersistentVolume": "volume",
	"LocalQueue": "queue", "ResourceQuota": "quota", "LimitRange": "limits", "TrainingRuntime": "runtime",
}

// disguise replaces names everywhere in the view by stable pseudonyms: the same name is
// the same word in every snapshot, so that snapshots can be compared. Who knows a name
// can find its pseudonym; it is a courtesy, not encryption.
func disguise(v *manifest.View) {
	names := map[string]string{}
	learn := func(word, name string) {
		if name != "" && names[name] == "" {
			names[name] = pseudonym(word, name)
		}
	}
	for _, o := range v.Objects {
		if word := disguised[o.GetKind()]; word != "" {
			learn(word, o.GetName())
		}
		learn("ns", o.GetNamespace())
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind != "Node" {
				learn("owner", owner.Name)
			}
		}
	}
	for _, o := range v.Objects {
		own := o.GetName()
		kind := o.GetKind()
		o.Object, _ = rename(o.Object, names, "").(map[string]any)
		if disguised[kind] == "" {
			o.SetName(own) // a class or a queue may share its name with a namespace
		}
		if kind == "Pod" || kind == "Namespace" {
			disguiseLabels(o)
		}
	}
}

// keptWords are fields whose values are words of Kubernetes or of a class, never a name.
var keptWords = map[string]bool{
	"kind": true, "apiVersion": true, "type": true, "status": true, "reason": true, "phase": true, "effect": true,
	"operator": true, "resource": true, "uid": true, "schedulerName": true, "priorityClassName": true,
	"storageClassName": true, "runtimeClassName": true, "provisioner": true, "key": true,
}

// rename replaces every string that is one of the names, wherever it stands.
func rename(v any, names map[string]string, field string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = rename(e, names, k)
		}
	case []any:
		for i, e := range v {
			v[i] = rename(e, names, field)
		}
	case string:
		if to := names[v]; to != "" && !keptWords[field] {
			return to
		}
	}
	return v
}

// disguiseLabels hides what labels of pods and namespaces tell about people and projects;
// Signalbox's own and Kubernetes' stay, because reviews read them.
func disguiseLabels(o *unstructured.Unstructured) {
	labels := o.GetLabels()
	for key, value := range labels {
		if known(key) || value == "" {
			continue
		}
		labels[key] = pseudonym("label", value)
	}
	if labels != nil {
		o.SetLabels(labels)
	}
}

// known says whether a label's values are words of Kubernetes or of this project.
func known(key string) bool {
	domain, _, found := strings.Cut(key, "/")
	return found && (domain == "signalbox.dev" || domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io"))
}

func pseudonym(word, name string) string {
	sum := sha256.Sum256([]byte(name))
	return word + "-" + hex.EncodeToString(sum[:4])
}
