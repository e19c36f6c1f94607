package fit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/words"
)

func TestASentenceNamesNoMoreRolesThanCanBeRead(t *testing.T) {
	var roles words.Roles
	r := Result{}
	for i := range words.MostRoles + 1 {
		name := fmt.Sprintf("w%d", i)
		roles.Add(name, 2)
		r.Plan = append(r.Plan, Placement{Group: name, Node: "n", Count: 2})
		r.Asks = append(r.Asks, Ask{Role: name, Roles: "2 pods of " + name, Pods: 2})
	}
	const last = " + 2 pods more"
	if got := roles.String(); !strings.HasSuffix(got, last) || strings.Contains(got, "w8") {
		t.Errorf("%d roles read as %q, want the last one as%q", words.MostRoles+1, got, last)
	}
	if got := r.PlanText(); got != roles.String()+" on 1 node" {
		t.Errorf("the plan reads as %q", got)
	}
	lines := strings.Join(r.Lines(), "\n")
	if strings.Count(lines, "asked") != words.MostRoles || !strings.Contains(lines, "and 1 role more") {
		t.Errorf("the result reads as\n%s", lines)
	}
}
