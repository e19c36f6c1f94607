// Package podspec reads pod specs as the API server and kube-scheduler do: what a pod asks for with
// all that is filled in, which nodes it chooses and tolerates, which ports, disks and claims it
// takes. It is the home of Kubernetes' own component helpers and knows no cluster.
package podspec
