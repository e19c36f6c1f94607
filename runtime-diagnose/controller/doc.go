// Package controller keeps the diagnosis of training jobs on the jobs themselves: it watches
// jobs and their pods, has the evidence collected and the rules decide, and writes annotations
// and Events, each only when something changed. A language model, where there is one, is asked
// afterwards and beside; what it says amends what is already written.
//
// It decides nothing about causes (package diagnose does) and reads no logs itself (package
// collect does). Start reading at Add for the wiring, at Reconciler.Reconcile for the story.
//
// # What it may do
//
// The ServiceAccount needs these rights, all of them cluster-wide except the last two lines,
// which are for the namespace Signalbox runs in:
//
//	get, list, watch   the resources of all kinds: pytorchjobs, tfjobs, xgboostjobs, paddlejobs,
//	                   jaxjobs, mpijobs (kubeflow.org), trainjobs, trainingruntimes,
//	                   clustertrainingruntimes (trainer.kubeflow.org), jobsets (jobset.x-k8s.io),
//	                   jobs (batch, batch.volcano.sh), leaderworkersets (leaderworkerset.x-k8s.io),
//	                   rayclusters, rayjobs (ray.io), colossalaijobs and the other kinds of
//	                   batch.tensorstack.dev, frameworks
//	patch              the same resources of jobs: annotations, by server-side apply
//	get, list, watch   pods, nodes, namespaces
//	get                pods/log
//	list, watch        events
//	list               deployments, statefulsets (apps), by the name of an operator that leaves a job alone;
//	                   validatingwebhookconfigurations (admissionregistration.k8s.io)
//	create             events (events.k8s.io)
//	get                pods and statefulsets (apps), by which a LeaderWorkerSet has its pods
//	get                podgroups (scheduling.x-k8s.io, scheduling.volcano.sh,
//	                   scheduler.tensorstack.dev, scheduling.k8s.io), workloads (scheduling.k8s.io),
//	                   resourceclaims (resource.k8s.io)
//	list               workloads (kueue.x-k8s.io), resourceslices and devicetaintrules
//	                   (resource.k8s.io)
//	get, create, patch configmaps: what is kept of ended containers, beside their jobs, and of
//	                   the lines of good runs; an admission policy limits the names
//	                   (config/rbac/evidence.yaml)
//	get                configmaps of its own namespace, by the name of the prompts' ConfigMap
//	get, list, watch, delete   aegisdiagnosises, and update aegisdiagnosises/status (aegis.io), where
//	                   they are answered (config/aegis)
//	get, create, update leases (coordination.k8s.io), where leader election is on
package controller
