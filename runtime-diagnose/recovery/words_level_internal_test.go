package recovery

import (
	"strings"
	"testing"
)

func TestTheLevelOfALineIsReadAsItsRuntimeWritesIt(t *testing.T) {
	const ray, tf = "[2024-08-25 19:21:02,241 ", "2018-02-08 18:14:25.438352: "
	for name, tc := range map[string]struct {
		text                          string
		mild, informs, severe, logged bool
	}{
		"Ray informs":                         {ray + "I 11 11] (raylet) main.cc:1: words", true, true, false, false},
		"Ray warns":                           {ray + "W 11 11] (raylet) main.cc:1: words", true, false, false, false},
		"Ray calls it an error":               {ray + "E 11 11] (raylet) main.cc:1: words", false, false, true, true},
		"Ray calls it fatal":                  {ray + "C 11 11] main.cc:1: words", false, false, true, false},
		"the driver says whose line it is":    {"(raylet, ip=10.0.0.4) " + ray + "W 11 11] (raylet) main.cc:1: words", true, false, false, false},
		"a class of a long name":              {"(RayTrainWorkerOfSomebodyWhoLikesNames pid=123456, ip=100.100.100.100) " + ray + "W 11 11] main.cc:1: words", true, false, false, false},
		"a level that Ray has not":            {ray + "X 11 11] main.cc:1: words", false, false, false, false},
		"no process behind the level":         {ray + "W] words", false, false, false, false},
		"words before it":                     {"it said: " + ray + "W 11 11] words", false, false, false, false},
		"another time":                        {"[2024/08/25 19:21:02.241 W 11 11] words", false, false, false, false},
		"a line that ends within":             {ray + "W", false, false, false, false},
		"NeMo informs":                        {"[NeMo I 2023-04-19 21:40:27 a:454] words", true, true, false, false},
		"NeMo warns":                          {"[NeMo W 2023-04-19 21:40:27 a:454] words", true, false, false, false},
		"NeMo calls it an error":              {"[NeMo E 2023-04-19 21:40:27 a:454] words", false, false, false, false},
		"TensorFlow calls it an error":        {tf + "E tensorflow/core/a.cc:40] words", false, false, true, true},
		"XLA calls it an error":               {tf + `E C:\src\xla\stream_executor\a.cc:40] words`, false, false, true, true},
		"TensorFlow calls it fatal":           {tf + "F tensorflow/core/a.cc:40] words", false, false, true, false},
		"Horovod warns":                       {"[2020-02-25 11:13:55.899666: W horovod/common/a.cc:105] words", true, false, false, false},
		"Horovod calls it an error":           {"[2020-02-25 11:13:55.899666: E horovod/common/a.cc:105] words", false, false, false, false},
		"the plugin for libfabric, as a test": {"WARN: Function: listen Line: 24: NET/OFI words", false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if mild, informs, severe, logged := Mild(tc.text), Informs(tc.text), Severe(tc.text), OfRuntime(tc.text); mild != tc.mild || informs != tc.informs || severe != tc.severe || logged != tc.logged {
				t.Errorf("mild %t, informs %t, severe %t, of a runtime %t; want %t, %t, %t, %t", mild, informs, severe, logged, tc.mild, tc.informs, tc.severe, tc.logged)
			}
		})
	}
}

// A level is looked for where loggers put it: further on in a line the same word is a part of the message.
func TestALevelIsLookedForAtTheHeadOfALine(t *testing.T) {
	const begin = "2025-12-08 08:44:02,041 [DEBUG] "
	for at, want := range map[int]bool{100: false, 156: false, 157: true, 500: true} {
		text := begin + strings.Repeat("x", at-len(begin)-1) + " INFO"
		if got := Debugs(text); got != want {
			t.Errorf("with another level at byte %d it is for those who debug: %t, want %t", at, got, want)
		}
	}
}
