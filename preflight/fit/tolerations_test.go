package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/test/build"
)

// TestACloudThatToleratesTheTaintsOfDevices: GKE and EKS give pods that ask for a device a toleration of the taint that is called as
// the device. Another taint, pods without the device and machines of one's own stay as they are.
func TestACloudThatToleratesTheTaintsOfDevices(t *testing.T) {
	const device, other = "nvidia.com/gpu=present:NoSchedule", "team=vision:NoSchedule"
	const shut = "0 of 2 pods fit: no node may take them (2 nodes tainted ("
	const there = "2 of 2 pods fit: 2 Workers on 2 nodes"
	for name, c := range map[string]struct {
		nodes []build.NodeOption
		asks  build.PodOption
		want  string
	}{
		"GKE":                     {[]build.NodeOption{build.Label("cloud.google.com/gke-nodepool", "a"), build.Taint(device)}, build.Asks("8"), there},
		"EKS":                     {[]build.NodeOption{build.Label("eks.amazonaws.com/nodegroup", "a"), build.Taint(device)}, build.Asks("8"), there},
		"GKE, pods without GPUs":  {[]build.NodeOption{build.Label("cloud.google.com/gke-nodepool", "a"), build.Taint(device)}, build.Requests("cpu=60"), shut + device + "))"},
		"GKE, another taint, too": {[]build.NodeOption{build.Label("cloud.google.com/gke-nodepool", "a"), build.Taint(device), build.Taint(other)}, build.Asks("8"), shut + other + "))"},
		"machines of one's own":   {[]build.NodeOption{build.Taint(device)}, build.Asks("8"), shut + device + "))"},
	} {
		t.Run(name, func(t *testing.T) {
			s := clusterOf(build.Nodes(2, "a", append(c.nodes, build.GPUs(8))...))
			got := whatif.Answer(t.Context(), s, gangOf(group("Worker", 2, c.asks)))
			if diff := cmp.Diff(c.want, got.String()); diff != "" {
				t.Errorf("Fit (-want +got):\n%s", diff)
			}
		})
	}
}
