package kinds

import "slices"

// PodAnnotations are the annotations of pods that a Place or a Gang.Own reads: of the others, whoever holds pods in
// great numbers needs none.
func PodAnnotations() []string { return slices.Clone(podAnnotations) }

var podAnnotations = []string{completionIndex, lwsSize, volcanoTask, volcanoIndex}
