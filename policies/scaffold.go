package policies

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

const scaffoldRule = `# METADATA
# title: what holds where this policy is at work
# description: Why, and which data configures it.
# custom:
#   remedy: Say in one sentence what to do.
package signalbox.PACKAGE

deny contains {"path": role.path, "msg": msg} if {
	some role in input.job.roles
	role.max > data.config.PACKAGE.limit
	msg := sprintf("%s has %d pods; %d are allowed", [role.name, role.max, data.config.PACKAGE.limit])
}
`

const scaffoldData = `# The data that configures the policy in the fixtures.
config: {}
`

const scaffoldJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train, namespace: ml}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: pytorch
            image: registry.example.com/train:1
`

const scaffoldTest = `package signalbox.PACKAGE_test

import data.signalbox.PACKAGE

# opa test and signalbox policy test run what is called test_….
test_EDIT if {
	said := PACKAGE.deny with input as {"job": {"roles": [{"name": "Worker", "path": "spec", "max": 2}]}} with data.config.PACKAGE.limit as 1
	count(said) == 0
}
`

var slug = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Scaffold is what a policy begins with, by file: the rule, and examples and a test that fail until they
// show something.
func Scaffold(name string) (map[string]string, error) {
	if !slug.MatchString(name) {
		return nil, fmt.Errorf("%q is no name for a policy; want lower-case words joined by dashes, such as whole-node-needs-queue", name)
	}
	pkg := strings.ReplaceAll(name, "-", "_")
	fixtures, named := path.Join("testdata", pkg), strings.NewReplacer("PACKAGE", pkg)
	return map[string]string{
		pkg + ".rego":                          named.Replace(scaffoldRule),
		pkg + "_test.rego":                     named.Replace(scaffoldTest),
		path.Join(fixtures, "data.yaml"):       scaffoldData,
		path.Join(fixtures, "allow-EDIT.yaml"): scaffoldJob,
		path.Join(fixtures, "deny-EDIT.yaml"):  scaffoldJob,
		path.Join(fixtures, "deny-EDIT.want"):  "deny spec.pytorchReplicaSpecs.Worker: what the policy says\n",
	}, nil
}
