// Package chaos breaks things around two replicas of the built program on a real control plane, while jobs are created:
// replicas, the API server, the lease, watches, policies, the model. Whatever breaks, no job is refused that would have
// been admitted, and what was admitted without a review is reviewed within a minute afterwards, once.
//
//	make chaos
//
// The specs have the build tag chaos. Start reading at faults_test.go.
package chaos
