package podspec

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestDisksConflictAsTheAPIServerStoresThem: what a template leaves out is there in the pods that run.
func TestDisksConflictAsTheAPIServerStoresThem(t *testing.T) {
	rbd := func(pool string, reads bool, monitors ...string) []Disk {
		v := &corev1.Volume{}
		v.RBD = &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: pool, RBDImage: "d", ReadOnly: reads}
		return Disks(v)
	}
	for name, tc := range map[string]struct {
		a, b []Disk
		want bool
	}{
		"one pool":                   {rbd("rbd", false, "m"), rbd("rbd", false, "m"), true},
		"the pool that is filled in": {rbd("", false, "m"), rbd("rbd", false, "m"), true},
		"another pool":               {rbd("", false, "m"), rbd("fast", false, "m"), false},
		"both only read":             {rbd("", true, "m"), rbd("rbd", true, "m"), false},
		"no monitor in common":       {rbd("", false, "m"), rbd("rbd", false, "n"), false},
		"one of several in common":   {rbd("", false, "m", "n"), rbd("rbd", true, "n", "o"), true},
	} {
		if got := DiskConflict(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: conflict %t, want %t", name, got, tc.want)
		}
	}
}
