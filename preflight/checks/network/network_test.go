package network

import "testing"

func TestNCCLTakesAnInterface(t *testing.T) {
	cases := map[string]bool{
		"eth0": true, "eth": true, "e": true, "ib,eth": true, "=eth0": true, "^lo": true, "^lo,docker": true, "^=eth": true,
		"eth1": false, "ib0": false, "=eth": false, "^eth": false, "^=eth0": false, "^lo,eth": false, ",": false,
	}
	for value, want := range cases {
		if got := ncclTakes(value, "eth0"); got != want {
			t.Errorf("NCCL_SOCKET_IFNAME=%s takes eth0: %t, want %t", value, got, want)
		}
	}
}
