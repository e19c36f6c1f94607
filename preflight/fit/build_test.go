package fit_test

import "github.com/signalbox-dev/signalbox/test/build"

// The clusters and gangs of these tests are made by package build; here are the short names.
var (
	ruled      = build.View
	told       = build.Violations
	in         = build.Within
	group      = build.Group
	gangOf     = build.Gang
	gpus       = build.Workers
	objects    = build.Objects
	clusterQ   = build.ClusterQueue
	flavorQ    = build.ResourceFlavor
	localQ     = build.LocalQueue
	queued     = build.Queued
	spec       = build.Spec
	class      = build.PriorityClass
	quotaOf    = build.ResourceQuota
	rangeOf    = build.LimitRange
	nodePoolOf = build.NodePool
	selects    = build.Selects
	tolerates  = build.Tolerates
	mounts     = build.Mounts
)
