package config

import (
	"net"
	"strings"
	"time"
)

// leastBundleInterval keeps replicas from being a load on a registry.
const leastBundleInterval = 10 * time.Second

func (p PolicyBundle) validate(bad func(string, ...any)) {
	if p.Reference == "" {
		return
	}
	host, rest, found := strings.Cut(p.Reference, "/")
	_, digest, byDigest := strings.Cut(rest, "@")
	switch {
	case !found || host == "" || rest == "" || !byDigest && !strings.Contains(rest, ":") || byDigest && !strings.HasPrefix(digest, "sha256:"):
		bad("policies.bundle.reference is %q; expected one like registry.example.com/team/policies:v3, or …@sha256:…", p.Reference)
	case !byDigest && p.Key == "":
		bad("policies.bundle.key is empty, but policies.bundle.reference names a tag, which can be moved; expected the file of a public key, or a digest")
	}
	if time.Duration(p.Interval) < leastBundleInterval {
		bad("policies.bundle.interval is %s; expected %s or more", time.Duration(p.Interval), leastBundleInterval)
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if ip := net.ParseIP(host); p.PlainHTTP && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		bad("policies.bundle.plainHTTP is true, but %s is no loopback address; expected TLS", host)
	}
}
