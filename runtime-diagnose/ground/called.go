package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A name is of a kind, and of the lines that hold it. A claim that calls a Secret a ConfigMap, or puts the Secret of one
// volume into the line of another, has only words that were read.

// kinds are what things with a name are called, in claims and in lines; pairs that mean one thing share their last word.
var kinds = map[string]string{
	"secret": "secret", "configmap": "configmap", "config map": "configmap", "service account": "serviceaccount", "serviceaccount": "serviceaccount", "namespace": "namespace",
	"volume": "volume", "claim": "claim", "persistentvolumeclaim": "claim", "pvc": "claim", "storage class": "storageclass", "storageclass": "storageclass", "role": "role",
	"priority class": "priorityclass", "priorityclass": "priorityclass", "queue": "queue", "deployment": "deployment", "daemonset": "daemonset", "replicaset": "replicaset",
	"module": "package", "package": "package", "symbol": "symbol", "image": "image", "variable": "variable", "bucket": "bucket", "policy": "policy", "flavor": "flavor",
}

// ofKind is a name behind its kind.
var ofKind = lazy.MustCompile(`(?i)\b(secret|config ?map|service ?account|namespace|volume|persistentvolumeclaim|pvc|claim|storage ?class|role|priority ?class|queue|deployment|daemonset|replicaset|module|package|symbol|image|variable|bucket|policy|flavor)(?: (?:named|called))?[ :="'` + "`" + `]{1,3}([A-Za-z_][\w./-]*[\w/-])`)

// miscalled says whether a claim gives a name another kind than its evidence does.
func miscalled(plain, support string) bool {
	said := ofKind.FindAllStringSubmatch(plain, -1)
	if len(said) == 0 {
		return false
	}
	is := map[string]map[string]bool{}
	for _, m := range ofKind.FindAllStringSubmatch(support, -1) {
		name := strings.ToLower(m[2])
		if is[name] == nil {
			is[name] = map[string]bool{}
		}
		is[name][kinds[strings.ToLower(m[1])]] = true
	}
	for _, m := range said {
		if of := is[strings.ToLower(m[2])]; len(of) > 0 && !of[kinds[strings.ToLower(m[1])]] {
			return true
		}
	}
	return false
}

// hyphened are names of several words, as objects of a cluster have.
var hyphened = lazy.MustCompile(`[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+`)

// readElsewhere says whether a claim has a name of several words that was read, and not in what it cites: what the rules say of
// the cause is of its first line.
func (g *grounds) readElsewhere(plain string, cites []evidence.ID) bool {
	for _, name := range hyphened.FindAllString(plain, -1) {
		if name == g.Job || name == g.Namespace || slices.ContainsFunc(cites, func(id evidence.ID) bool { return hasName(g.items[id], name) }) {
			continue
		}
		if slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return hasName(i, name) }) {
			return true
		}
	}
	return false
}

func hasName(i evidence.Item, name string) bool {
	return containsToken(i.Text, name) || containsToken(string(i.ID), name) || i.Source.Pod == name || i.Source.Node == name || i.Source.Container == name || i.Source.Role == name
}
