package explain

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

var (
	addressLike = regexp.MustCompile(`(?:\d{1,3}\.){3}\d{1,3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}`)
	hostLike    = regexp.MustCompile(`(?i)(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:local|internal|lan|corp|home|svc|example|com|net|org|io|cn|de|eu|uk|fr|jp|edu|gov|cloud|dev|ai)\b`)
	// published are names that stand in every cluster's objects, and tell nothing of this one.
	published = regexp.MustCompile(`(?i)(?:^|\.)(?:kubernetes\.io|k8s\.io|x-k8s\.io|kubeflow\.org|nvidia\.com|amd\.com|intel\.com|habana\.ai|huawei\.com|volcano\.sh|ray\.io|signalbox\.dev|pytorch\.org|tensorflow\.org|huggingface\.co)$`)
)

// pseudonyms are what the nodes, hosts and addresses of a question are called instead, each the same wherever it stands,
// in the order in which they stand there: node-1, host-1.invalid, and addresses that are kept for documentation (RFC 2606,
// RFC 5737, RFC 3849), so that a line keeps its form.
func pseudonyms(text string, r diagnose.Result) (there, back []pair) {
	kind := map[string]string{} // of each name
	for _, m := range addressLike.FindAllString(text, -1) {
		if a, err := netip.ParseAddr(m); err == nil && !a.IsLoopback() && !a.IsUnspecified() {
			kind[m] = "6"
			if a.Is4() {
				kind[m] = "4"
			}
		}
	}
	for _, m := range hostLike.FindAllString(text, -1) {
		if !published.MatchString(m) {
			kind[m] = "host"
		}
	}
	for _, m := range r.Members {
		kind[m.Source.Node] = "node"
	}
	for _, item := range r.Evidence {
		kind[item.Source.Node] = "node"
	}
	delete(kind, "")
	names := make([]string, 0, len(kind))
	for name := range kind {
		if strings.Contains(text, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := strings.Index(text, a) - strings.Index(text, b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	last := map[string]int{}
	for _, name := range names {
		for {
			last[kind[name]]++
			if as := pseudonym(kind[name], last[kind[name]]); !strings.Contains(text, as) {
				there, back = append(there, pair{name, as}), append(back, pair{as, name})
				break
			}
		}
	}
	return there, back
}

func pseudonym(kind string, n int) string {
	switch {
	case kind == "node":
		return fmt.Sprintf("node-%d", n)
	case kind == "host":
		return fmt.Sprintf("host-%d.invalid", n)
	case kind == "4" && n < 255:
		return fmt.Sprintf("192.0.2.%d", n)
	case kind == "4":
		return fmt.Sprintf("2001:db8:4::%x", n)
	}
	return fmt.Sprintf("2001:db8::%x", n)
}
