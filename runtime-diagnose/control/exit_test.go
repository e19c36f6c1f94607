package control_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// floor are the codes of OpenPAI's exit specification and FrameworkController's own
// (https://github.com/microsoft/pai/blob/a95d9420/src/k8s-job-exit-spec/config/k8s-job-exit-spec.yaml).
var floor = []int32{
	-100, -101, -110, -111, -120, -200, -210, -220, -230, -300, -310, -1000, -1001, -1002, -1003, -1004, -1005, -1006, -1100, -1200, -1201, -1202, -1203, -1204, -1205, -1300, -8000,
	128, 130, 131, 132, 134, 135, 136, 137, 139, 141, 143, 200, 201, 210,
	220, 221, 222, 223, 224, 225, 226, 228, 229, 230, 231, 232, 233, 234, 235, 249, 250, 251, 252, 253, 254, 255, 256,
}

func TestEveryCodeOfTheFloorIsKnown(t *testing.T) {
	rules := map[string]bool{}
	for _, r := range control.Rules() {
		rules[r.ID] = true
	}
	for _, code := range append(floor, 1, 2, 125, 126, 127, 129, 152, 153, 245, 247) {
		rule := control.ExitRule(code)
		if rule.ID == "exit-other" || rule.ID == "exit-signal" {
			t.Errorf("exit code %d is unknown", code)
		}
		if !rules[rule.ID] {
			t.Errorf("exit code %d: rule %s is in no list", code, rule.ID)
		}
	}
}

func TestNumbersOfOpenPAINameACauseOnlyWhereItSaysSo(t *testing.T) {
	cases := map[string]struct {
		code                int32
		phrase, diagnostics string
		category            string
		sure                bool
	}{
		"a number alone":                               {226, "", "", "gpu-oom", false},
		"a number that launchers use too":              {250, "", "", "segfault", false},
		"OpenPAI's phrase":                             {226, "ContainerCudaOOMKilled", "", "gpu-oom", true},
		"OpenPAI's phrase for a number of others":      {250, "FrameworkBarrierTransientFailed", "", "rendezvous-timeout", true},
		"the runtime's own message":                    {223, "", "[PAI_RUNTIME_ERROR_START]\nexitcode: 223\n[PAI_RUNTIME_ERROR_END]", "ecc-error", true},
		"OpenPAI's phrase for a number of the runtime": {128, "ContainerMayFailDueToGpuDeviceEccError", "", "ecc-error", true},
		"somebody else's phrase":                       {254, "MyOwn", "", "image-pull", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			rule := control.TaskExitRule(tc.code, tc.phrase, tc.diagnostics)
			if sure := rule.DepthOf() > signature.Symptom; rule.Category != tc.category || sure != tc.sure || strings.HasSuffix(rule.ID, "-by-number") && sure {
				t.Errorf("%s (%s), sure: %v; want %s, %v", rule.ID, rule.Category, sure, tc.category, tc.sure)
			}
		})
	}
}
