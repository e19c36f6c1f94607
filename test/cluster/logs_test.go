package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCRILog(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	cases := map[string]struct{ plain, want string }{
		"nothing printed": {"", ""},
		"plain lines get times of their own": {
			"one\ntwo\n",
			"2026-11-20T08:00:00.000000000Z stdout F one\n2026-11-20T08:00:00.001000000Z stdout F two\n",
		},
		"times of the log stay, and lines without one follow": {
			"2026-11-20T07:30:00.5Z Traceback:\n  File \"train.py\"\n",
			"2026-11-20T07:30:00.500000000Z stdout F Traceback:\n2026-11-20T07:30:00.501000000Z stdout F   File \"train.py\"\n",
		},
		"other zones": {
			"2026-11-20T09:30:00+02:00 step 1\n",
			"2026-11-20T07:30:00.000000000Z stdout F step 1\n",
		},
		"a last line without line feed is a line": {"Killed", "2026-11-20T08:00:00.000000000Z stdout F Killed\n"},
		"an empty line is one too":                {"\n", "2026-11-20T08:00:00.000000000Z stdout F \n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(criLog([]byte(tc.plain), now))); diff != "" {
				t.Errorf("criLog (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryStateHasAStage(t *testing.T) {
	for _, state := range []State{Running, Succeeded, OOMKilled, ExitCode, ImagePullBackOff, CrashLoop, Evicted, NodeLost} {
		if _, err := stages.ReadFile("stages/" + string(state) + ".yaml"); err != nil {
			t.Errorf("state %s: %v", state, err)
		}
	}
}
