package main

import (
	"crypto/hmac"
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

// disguise replaces names everywhere in the view by pseudonyms that depend on the name and
// the salt: without the salt nobody can test a guess.
func disguise(v *manifest.View, salt string) {
	d := &mask{salt: []byte(salt), names: map[string]string{}, words: map[string]bool{}}
	for _, o := range v.Objects {
		if word := disguised[o.GetKind()]; word != "" {
			d.learn(word, o.GetName())
		}
		d.learn("ns", o.GetNamespace())
		for _, owner := range o.GetOwnerReferences() {
			if owner.Kind != "Node" {
				d.learn("owner", owner.Name)
			}
		}
	}
	for _, o := range v.Objects {
		own, kind := o.GetName(), o.GetKind()
		o.Object, _ = d.rename(o.Object, "").(map[string]any)
		if disguised[kind] == "" {
			o.SetName(own) // a class or a queue may share its name with a namespace
		}
		if kind == "Pod" || kind == "Namespace" {
			d.labels(o)
		}
		if kind == "Pod" {
			terms, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
			d.selectors(terms)
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
	if name != "" && d.names[name] == "" {
		d.names[name] = d.pseudonym(word, name)
		d.words[d.names[name]] = true
	}
}

// keptWords are fields whose values are words of Kubernetes or of a class, never a name.
var keptWords = map[string]bool{
	"kind": true, "apiVersion": true, "type": true, "status": true, "reason": true, "phase": true, "effect": true,
	"operator": true, "resource": true, "uid": true, "schedulerName": true, "priorityClassName": true,
	"storageClassName": true, "runtimeClassName": true, "provisioner": true, "key": true,
}

// rename replaces every string that is one of the names, wherever it stands.
func (d *mask) rename(v any, field string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
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

// labels hides what labels of pods and namespaces tell about people and projects.
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
// pods it is; and Signalbox's own words and those of Pod Security, which reviews read.
func (d *mask) label(key, value string) string {
	domain, _, _ := strings.Cut(key, "/")
	number := strings.Trim(value, "0123456789") == ""
	switch {
	case number, value == "true", value == "false", domain == "signalbox.dev", domain == "pod-security.kubernetes.io":
		return value
	case d.words[value]: // it was a name
		return value
	default:
		return d.pseudonym("label", value)
	}
}

// selectors hides in terms of anti-affinity what labels hide, so that they keep the same
// pods away as before.
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
