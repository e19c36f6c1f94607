package bare

import (
	"slices"
	"strings"
	"testing"
)

func TestPastedTellsObjectsFromLogs(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"describe of a pod":           {"Name:         train-0\nNamespace:    ml\nPriority:     0\n", true},
		"describe of a node":          {"Name:               gpu-7\nRoles:              <none>\n", true},
		"describe behind its command": {"$ kubectl -n ml describe pod train-0\nName:             train-0\nNamespace:        ml\n", true},
		"behind a prompt":             {"user@host:~$ kubectl get pods -n ml\nNAME READY STATUS RESTARTS AGE\ntrain-0 0/1 Error 0 5m\n", true},
		"pods":                        {"NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   0/1     Error     0          5m\n", true},
		"pods, wide, everywhere":      {"NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE   IP   NODE   NOMINATED NODE   READINESS GATES\nml x 0/1 Error 0 1m\n", true},
		"nodes":                       {"NAME    STATUS     ROLES    AGE   VERSION\ngpu-1   NotReady   <none>   3d    v1.31.0\n", true},
		"events":                      {"LAST SEEN   TYPE      REASON      OBJECT        MESSAGE\n5m          Warning   FailedScheduling   pod/train-0   0/3 nodes\n", true},
		"events until 1.13":           {"LASTSEEN   FIRSTSEEN   COUNT   NAME   KIND   SUBOBJECT   TYPE   REASON   SOURCE   MESSAGE\n", true},
		"YAML":                        {"# from the cluster\n---\napiVersion: v1\nkind: Pod\n", true},
		"YAML of a list":              {"apiVersion: v1\nitems:\n- apiVersion: v1\n", true},
		"YAML, kind first":            {"kind: Pod\napiVersion: v1\n", true},
		"YAML of Windows":             {"\xef\xbb\xbfapiVersion: kubeflow.org/v1\r\nkind: PyTorchJob\r\n", true},
		"JSON":                        {"{\n    \"apiVersion\": \"v1\",\n    \"items\": [", true},
		"JSON in one line":            {`{"kind":"PodList","apiVersion":"v1","metadata":{}`, true},

		"a container's last state":      {"    Last State:  Terminated\n      Reason: OOMKilled\n      Exit Code: 137\n", true},
		"a container's state":           {"State:          Running\n  Started:      Tue, 24 Nov 2026 10:00:00 +0000\n", true},
		"a last state in YAML":          {"lastState:\n  terminated:\n    exitCode: 137\n", true},
		"a last state in one line":      {"lastState: {terminated: {exitCode: 137, reason: OOMKilled}}\n", true},
		"a state of another thing":      {"State: Running\nepoch 1\n", false},
		"a word that is no state":       {"State: Training\n  Reason: none\n", false},
		"a state in YAML of a trainer":  {"state:\n  step: 3\n", false},
		"a log":                         {"epoch 1 step 10 loss 2.1\n", false},
		"nothing":                       {"", false},
		"a log in JSON":                 {`{"level":"info","msg":"apiVersion v1","kind":"Pod"}` + "\n", false},
		"a trainer that prints a name":  {"Name: resnet50\nloss: 3.1\n", false},
		"settings":                      {"apiVersion: two\nkind: x\n", false},
		"one line of a manifest":        {"apiVersion: v1 is read\nnext\n", false},
		"a table of layers":             {"NAME STATUS SHAPE\nconv1 ok 3x3\n", false},
		"prose with the words":          {"the NAME READY STATUS RESTARTS AGE of a pod\nx\n", false},
		"a header that is cut":          {"NAME      READY   STATUS    RESTARTS   AGE", false},
		"a log that begins with a hash": {"#!/bin/bash\nepoch 1\n", false},
		"comments alone":                {"# one\n# two\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Pasted([]byte(c.text)); got != c.want {
				t.Errorf("Pasted(%q) = %v, want %v", c.text, got, c.want)
			}
		})
	}
}

// A long head of comments costs one look at each line.
func TestPastedOfManyComments(t *testing.T) {
	if !Pasted([]byte(strings.Repeat("# a comment\n", 10_000) + "apiVersion: v1\nkind: Pod\n")) {
		t.Error("objects behind comments are not seen")
	}
}

func FuzzPasted(f *testing.F) {
	f.Add([]byte("Name: a\nNamespace: b\n"))
	f.Add([]byte("apiVersion: v1\nkind: Pod\n"))
	f.Add([]byte("$ kubectl get pods\nNAME READY STATUS RESTARTS AGE\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if Pasted(head) && !Pasted(append(slices.Clip(head), "\nmore\n"...)) {
			t.Errorf("what follows takes objects for a log: %q", head)
		}
	})
}
