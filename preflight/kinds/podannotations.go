package kinds

import "slices"

// PodAnnotations are the annotations of pods that a Place or a Gang.Own reads: a store of
// many pods keeps no others.
func PodAnnotations() []string { return slices.Clone(podAnnotations) }

var podAnnotations = []string{completionIndex, lwsSize, volcanoTask, volcanoIndex}
