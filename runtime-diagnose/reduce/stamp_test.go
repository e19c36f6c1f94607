package reduce_test

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

func TestTimesAreReadAsProgramsWriteThem(t *testing.T) {
	cases := map[string]struct{ text, want string }{ // want: RFC 3339; empty: no time
		"logging":                            {"2026-03-01 12:00:01,250 ERROR x", "2026-03-01T12:00:01.25Z"},
		"behind a level":                     {"INFO 2026-03-01 12:00:01 x", "2026-03-01T12:00:01Z"},
		"RFC 3339":                           {`{"time":"2026-03-01T12:00:01.25+02:00","msg":"x"}`, "2026-03-01T12:00:01.25+02:00"},
		"a zone without a colon":             {"2026-03-01 12:00:01 -0500 x", "2026-03-01T12:00:01-05:00"},
		"a zone at once":                     {"2026-03-01T12:00:01-0500 x", "2026-03-01T12:00:01-05:00"},
		"Go's log, JuiceFS":                  {"2026/03/01 12:00:01.250000 juicefs[77] <ERROR>: x", "2026-03-01T12:00:01.25Z"},
		"Transformers":                       {"03/01/2026 12:00:01 - INFO - x", "2026-03-01T12:00:01Z"},
		"klog":                               {"E0301 12:00:01.250000 7 x.go:1] x", "2026-03-01T12:00:01.25Z"},
		"c10d in autumn":                     {"[W1106 10:11:12.131415 ProcessGroupNCCL.cpp:4561] x", "2026-11-06T10:11:12.131415Z"},
		"syslog":                             {"Mar  1 12:00:01 node kernel: x", "2026-03-01T12:00:01Z"},
		"dmesg -T":                           {"[Sat Feb 28 12:00:01 2026] NVRM: Xid", "2026-02-28T12:00:01Z"},
		"vLLM":                               {"ERROR 09-28 17:22:55 [core.py:1366] x", "2026-09-28T17:22:55Z"},
		"loguru":                             {"2026-03-01 12:00:01.250 | ERROR    | a:b:1 - x", "2026-03-01T12:00:01.25Z"},
		"NeMo":                               {"[NeMo W 2026-03-01 12:00:01 nemo_logging:361] x", "2026-03-01T12:00:01Z"},
		"c10d in spring leaves the zero out": {"[rank0]:[E301 12:00:01.250000000 ProcessGroupNCCL.cpp:616] x", "2026-03-01T12:00:01.25Z"},
		"c10d on the tenth":                  {"[W110 00:55:14.796578616 socket.cpp:204] x", "2026-01-10T00:55:14.796578616Z"},
		"three digits without a bracket":     {"code E301 12:00:01 x", ""},
		"a day that there is not":            {"[E232 12:00:01.25 x] y", ""},
		"date":                               {"Sun Mar  1 12:00:01 UTC 2026 x", "2026-03-01T12:00:01Z"},
		"dmesg, iso":                         {"2026-03-01T12:00:01,250000+01:00 NVRM: Xid", "2026-03-01T12:00:01.25+01:00"},
		"journalctl, short-iso":              {"2026-03-01T12:00:01+0100 node kernel: NVRM: Xid", "2026-03-01T12:00:01+01:00"},
		"systemd":                            {"Sun 2026-03-01 12:00:01 UTC x", "2026-03-01T12:00:01Z"},
		"gunicorn":                           {"[2026-03-01 12:00:01 +0100] [7] [INFO] x", "2026-03-01T12:00:01+01:00"},
		"Spark":                              {"26/03/01 12:00:01 INFO SparkContext: x", "2026-03-01T12:00:01Z"},
		"a month first and two digits":       {"03/01/26 12:00:01 x", ""},
		"a web server":                       {"10.0.0.1 - - [01/Mar/2026:12:00:01 +0100] GET", "2026-03-01T12:00:01+01:00"},
		"a named month":                      {"01-Mar-2026 12:00:01.250 INFO x", "2026-03-01T12:00:01.25Z"},
		"no dashes":                          {"20260301 12:00:01 x", "2026-03-01T12:00:01Z"},
		"points":                             {"2026.03.01 12:00:01 x", "2026-03-01T12:00:01Z"},
		"the day first":                      {"01.03.2026 12:00:01 x", "2026-03-01T12:00:01Z"},
		"Ascend":                             {"[ERROR] HCCL(77,a):2026-03-01-12:00:01.250.996 [x.cc:816]", "2026-03-01T12:00:01.25Z"},
		"Determined":                         {"[2026-03-01T12:00:01.250000Z] fa88a9df [rank=5] || x", "2026-03-01T12:00:01.25Z"},
		"torchrun's report":                  {"  time      : 2026-03-01_12:00:01", "2026-03-01T12:00:01Z"},
		"absl before it knows the zone":      {"W0000 00:00:1772366401.250000 112 gpu_device.cc:2344] x", "2026-03-01T12:00:01.25Z"},
		"zap":                                {`{"level":"info","ts":1772366401.25,"msg":"x"}`, "2026-03-01T12:00:01.25Z"},
		"MLPerf":                             {`:::MLLOG {"namespace": "", "time_ms": 1772366401250, "event_type": "POINT_IN_TIME"}`, "2026-03-01T12:00:01.25Z"},
		"time.time()":                        {"1772366401.25 step 3", "2026-03-01T12:00:01.25Z"},
		"milliseconds at the beginning":      {"1772366401250 ERROR x", "2026-03-01T12:00:01.25Z"},
		"seconds in brackets":                {"[1772366401] x", "2026-03-01T12:00:01Z"},
		"seconds and a fraction in brackets": {"[1772366401.250] x", "2026-03-01T12:00:01.25Z"},
		"a number at the beginning":          {"1772366401 tokens read", ""},
		"a large number at the beginning":    {"1772366401250abc", ""},
		"a number with a unit":               {"9772366401.25 FLOPs", ""},
		"a number that is no time":           {`{"step": 3, "time": 12.5, "loss": 2}`, ""},
		"a time alone is no date":            {"[12:00:01] step 3", ""},
		"seconds since the boot":             {"[ 1399.140323] NVRM: Xid", ""},
		"an address":                         {"fe80::12:34:56:78 is up", ""},
		"an hour that is none":               {"2026-03-01 25:00:01 x", ""},
		"a day that is none":                 {"2026-02-31 12:00:01 x", ""},
		"far into the line":                  {"the run that this one goes on from was started by hand at 2026-03-01 12:00:01", ""},
		"a number that looks like one":       {"ratio 12026-03-01 12:00:01", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := reduce.TimeIn(tc.text, autumn)
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

// autumn is late enough in its year for all the stamps above.
var autumn = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestAStampWithoutAYearIsNotOfTheFuture(t *testing.T) {
	cases := map[string]struct{ text, now, want string }{
		"of December, read in January":        {"E1230 23:59:59.5 7 x.go:1] x", "2027-01-02T03:00:00Z", "2026-12-30T23:59:59.5Z"},
		"of October, read in spring":          {"[E1011 12:00:01.25 x.cpp:1] x", "2026-03-01T00:00:00Z", "2025-10-11T12:00:01.25Z"},
		"of today":                            {"Mar  1 12:00:01 node kernel: x", "2026-03-01T12:00:02Z", "2026-03-01T12:00:01Z"},
		"of a zone that is ahead":             {"Mar  1 20:00:01 node kernel: x", "2026-03-01T12:00:02Z", "2026-03-01T20:00:01Z"},
		"of new year where it has begun":      {"I0101 03:00:01.0 7 x.go:1] x", "2026-12-31T19:00:01Z", "2027-01-01T03:00:01Z"},
		"of a leap day":                       {"Feb 29 12:00:01 node kernel: x", "2026-03-01T12:00:02Z", "2024-02-29T12:00:01Z"},
		"of next month is of the year before": {"E1225 12:00:01.0 7 x.go:1] x", "2026-11-20T12:00:00Z", "2025-12-25T12:00:01Z"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, tc.now)
			if err != nil {
				t.Fatal(err)
			}
			at, ok := reduce.TimeIn(tc.text, now)
			if got := at.UTC().Format(time.RFC3339Nano); !ok || got != tc.want {
				t.Errorf("%q has the time %s, %v; want %s", tc.text, got, ok, tc.want)
			}
		})
	}
	if at, ok := reduce.TimeIn("E1230 23:59:59.5 7 x.go:1] x", time.Time{}); ok {
		t.Errorf("a stamp without a year has the time %v, and nobody said when now is", at)
	}
}

func FuzzTimeIn(f *testing.F) {
	f.Add("2026-03-01T12:00:01.25+02:00", int64(1772366401))
	f.Add("[Sat Feb 28 12:00:01 2026] x", int64(0))
	f.Add("[E301 12:00:01.2", int64(1772366401))
	f.Add("W0000 00:00:1772366401.25 1 x", int64(0))
	f.Add(`{"ts":1772366401.25}`, int64(0))
	f.Add("26/03/01 12:00:01", int64(1))
	f.Add("[1772366401.25] x", int64(1))
	f.Add("01/Mar/2026:12:00:01 +0100", int64(1))
	f.Fuzz(func(t *testing.T, text string, now int64) {
		if at, ok := reduce.TimeIn(text, time.Unix(now%(1<<33), 0)); ok && at.Year() < 1969 {
			t.Fatalf("%q has the time %v", text, at)
		}
	})
}
