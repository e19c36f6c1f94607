// Package rank names an observation as it was called.
package rank

import "github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"

// Sighting is an observation.
type Sighting = evidence.Observation
