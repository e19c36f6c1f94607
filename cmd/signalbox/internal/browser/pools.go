package browser

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/fit/nodemap"
)

// MostRowsShown bounds the rows of a pool; what is left out is added up below them.
const MostRowsShown = 24

// Pools are the pools of a map for a browser, and what is said where there is none.
func Pools(pools []nodemap.Pool, unknown string) (out []Pool, notes []string) {
	if unknown != "" {
		return nil, []string{"no map: " + unknown}
	}
	for _, p := range pools {
		one := Pool{Name: p.Name, Text: p.Text, More: p.More, Parts: partsOf(p.Parts)}
		for _, r := range p.Rows {
			names := r.Names[0]
			if n := len(r.Names) - 1; n > 0 {
				names += fmt.Sprintf(" and %d more", n)
			}
			one.Rows = append(one.Rows, Row{Names: names, Note: strings.Trim(r.Note+"; "+r.Held, "; "), Parts: partsOf(r.Parts)})
		}
		out = append(out, one)
	}
	return out, nil
}

var likes = map[nodemap.Mark]string{
	nodemap.Used: "used", nodemap.Ours: "ours", nodemap.Free: "free", nodemap.Closed: "closed", nodemap.Broken: "broken", nodemap.Hidden: "hidden",
}

func partsOf(parts []nodemap.Part) (out []Part) {
	from := 0.0
	for _, p := range parts {
		out = append(out, Part{From: from, Width: 100 * p.Share, Like: likes[p.Mark], Title: p.Text})
		from += 100 * p.Share
	}
	return out
}

// MostJobsShown bounds the jobs that are shown one by one; sums have all of them.
const MostJobsShown = 500
