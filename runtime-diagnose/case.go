package diagnose

import "github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"

// Case is everything that was collected about one job.
type Case = evidence.Bundle

// Log is one log of one container.
type Log = evidence.ContainerLog

// Excerpt is what was kept of one log.
type Excerpt = evidence.Excerpt
