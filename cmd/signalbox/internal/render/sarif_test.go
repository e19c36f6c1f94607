package render

import "testing"

func TestRulesOfPoliciesHaveAPage(t *testing.T) {
	var run sarifRun
	for name, want := range map[string]string{
		"runtime-not-allowed": pages + "policies.md#runtime-not-allowed", "shm-missing": pages + "checks.md#shm-missing", "a-policy-of-ours": "",
	} {
		if got := run.Tool.Driver.Rules; run.rule(name, "") != len(got) || run.Tool.Driver.Rules[len(got)].HelpURI != want {
			t.Errorf("%s leads to %q; want %q", name, run.Tool.Driver.Rules[len(got)].HelpURI, want)
		}
	}
}
