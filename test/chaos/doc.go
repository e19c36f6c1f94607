// Package chaos breaks things around two replicas of the built program on a real control plane, while jobs are created:
// replicas, the API server, etcd, the lease, watches and caches, clocks, disks, memory, policies, the model; and floods
// them. Whatever breaks, no job is refused that would have been admitted, and what was admitted without a review is
// reviewed within a minute afterwards, once. Each alert of config/monitoring is made to fire in a real Prometheus.
//
//	make chaos
//
// The specs have the build tag chaos. Start reading at faults_test.go.
package chaos
