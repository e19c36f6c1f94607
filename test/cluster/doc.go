// Package cluster starts a real control plane for tests and for the demo: etcd and kube-apiserver always,
// and those of the scheduler, the controller manager, kwok and the training operators that one asks for.
// Everything lies in one temporary folder, listens on free ports of 127.0.0.1, needs no root, and is gone
// after [Cluster.Stop], after the context ends, and after the death of the process that started it. Several
// clusters run side by side.
//
// It is not a kubelet: no container runs. kwok plays the nodes; the stages in stages/ say what becomes of a
// pod (see [State]), and files in logs/ say what it printed (see [Cluster.PodLogs]).
//
// The programs are built by `make controlplane`. Start reading at [Start].
package cluster
