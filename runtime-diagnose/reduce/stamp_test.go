package reduce_test

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

func TestTimesAreReadAsProgramsWriteThem(t *testing.T) {
	cases := map[string]struct{ text, want string }{ // want: RFC 3339; empty: no time
		"logging":                      {"2026-03-01 12:00:01,250 ERROR x", "2026-03-01T12:00:01.25Z"},
		"behind a level":               {"INFO 2026-03-01 12:00:01 x", "2026-03-01T12:00:01Z"},
		"RFC 3339":                     {`{"time":"2026-03-01T12:00:01.25+02:00","msg":"x"}`, "2026-03-01T12:00:01.25+02:00"},
		"a zone without a colon":       {"2026-03-01 12:00:01 -0500 x", "2026-03-01T12:00:01Z"},
		"a zone at once":               {"2026-03-01T12:00:01-0500 x", "2026-03-01T12:00:01-05:00"},
		"Go's log, JuiceFS":            {"2026/03/01 12:00:01.250000 juicefs[77] <ERROR>: x", "2026-03-01T12:00:01.25Z"},
		"Transformers":                 {"03/01/2026 12:00:01 - INFO - x", "2026-03-01T12:00:01Z"},
		"klog":                         {"E0301 12:00:01.250000 7 x.go:1] x", "2026-03-01T12:00:01.25Z"},
		"c10d in autumn":               {"[W1106 10:11:12.131415 ProcessGroupNCCL.cpp:4561] x", "2026-11-06T10:11:12.131415Z"},
		"syslog":                       {"Mar  1 12:00:01 node kernel: x", "2026-03-01T12:00:01Z"},
		"dmesg -T":                     {"[Sat Feb 28 12:00:01 2026] NVRM: Xid", "2026-02-28T12:00:01Z"},
		"vLLM":                         {"ERROR 09-28 17:22:55 [core.py:1366] x", "2026-09-28T17:22:55Z"},
		"loguru":                       {"2026-03-01 12:00:01.250 | ERROR    | a:b:1 - x", "2026-03-01T12:00:01.25Z"},
		"NeMo":                         {"[NeMo W 2026-03-01 12:00:01 nemo_logging:361] x", "2026-03-01T12:00:01Z"},
		"a time alone is no date":      {"[12:00:01] step 3", ""},
		"seconds since the boot":       {"[ 1399.140323] NVRM: Xid", ""},
		"an address":                   {"fe80::12:34:56:78 is up", ""},
		"an hour that is none":         {"2026-03-01 25:00:01 x", ""},
		"a day that is none":           {"2026-02-31 12:00:01 x", ""},
		"far into the line":            {"the run that this one goes on from was started by hand at 2026-03-01 12:00:01", ""},
		"a number that looks like one": {"ratio 12026-03-01 12:00:01", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := reduce.TimeIn(tc.text, 2026)
			if tc.want == "" {
				if ok {
					t.Errorf("%q has the time %v; want none", tc.text, got)
				}
				return
			}
			want, err := time.Parse(time.RFC3339Nano, tc.want)
			if err != nil {
				t.Fatal(err)
			}
			if !ok || !got.Equal(want) {
				t.Errorf("%q has the time %v, %v; want %v", tc.text, got, ok, want)
			}
		})
	}
}

func FuzzTimeIn(f *testing.F) {
	f.Add("2026-03-01T12:00:01.25+02:00", 2026)
	f.Add("[Sat Feb 28 12:00:01 2026] x", 0)
	f.Add("E301 12:00:01.2", 2026)
	f.Fuzz(func(t *testing.T, text string, year int) {
		if at, ok := reduce.TimeIn(text, year); ok && at.Year() < 1969 {
			t.Fatalf("%q has the time %v", text, at)
		}
	})
}
