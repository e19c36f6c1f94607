package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are chosen below 32768: above it Linux takes the near ends of outgoing connections, which could
// occupy a port between our choosing it and a program's listening there.
const lowestPort, highestPort = 20000, 32767

// handedOut are the ports this process has given away; two clusters in one test binary never race for one.
// Between processes the choice is random, and a program that loses is started again with another.
var handedOut struct {
	sync.Mutex
	ports map[int]bool
}

// FreePorts are so many ports of this machine on which nothing listens.
func FreePorts(n int) ([]int, error) {
	handedOut.Lock()
	defer handedOut.Unlock()
	if handedOut.ports == nil {
		handedOut.ports = map[int]bool{}
	}
	var ports []int
	for range 1000 {
		if len(ports) == n {
			return ports, nil
		}
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		if handedOut.ports[port] || !free(port) {
			continue
		}
		handedOut.ports[port] = true
		ports = append(ports, port)
	}
	if len(ports) == n {
		return ports, nil
	}
	return nil, errors.New("find free ports: none in 1000 tries")
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
