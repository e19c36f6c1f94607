package controller

import "github.com/prometheus/client_golang/prometheus"

// RegisterMetrics registers what Add registers, unused: for the reference, which lists
// metrics from what the code registers.
func RegisterMetrics(into prometheus.Registerer) error {
	if _, err := countLoads(into); err != nil {
		return err
	}
	_, err := newMetrics(into)
	return err
}
