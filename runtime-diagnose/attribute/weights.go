// Written by make weights from the labelled cases; change the cases or the features, not the points.

package attribute

// weights are the points of each feature.
var weights = Start()
